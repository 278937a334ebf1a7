"""Differing: modules and data of whatever is installed that are not as they were, and libraries that are gone.

A file that was only changed is no fault: it is told where something fails by it, or where it cannot be read any more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence

from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import DATA_BROKEN, EDITED, Damage, Distribution
from gpuwhy.observe.altered import Changed, uncompiled
from gpuwhy.observe.commands import dead_commands
from gpuwhy.observe.dependents import Dependent
from gpuwhy.observe.modules import DISPENSABLE
from gpuwhy.observe.scene import Scene

SECONDS = 15.0
"""For all hashes, which --deep makes while the imports run; what there was no time for is left to --verify."""
_MOST = 40  # files of one distribution


def hash_all(scene: Scene) -> None:
    """Have every answer ready: the host keeps them."""
    for _ in _hashed(scene):
        pass


def beyond_the_stack(scene: Scene, tree: Sequence[Dependent]) -> list[Damage]:
    """What differs anywhere; of what has nothing to do with a GPU, libraries that are gone and dead commands too."""
    files = [one for dist, lines in _hashed(scene) for one in _changed(dist, lines)]
    plain = [one.dist for one in tree if one.plain]
    gone = [one for dist in plain for one in _libraries_gone(scene, dist)]
    return [*gone, *_judged(scene, files), *dead_commands(scene, plain)]


def _hashed(scene: Scene) -> Iterator[tuple[Distribution, tuple[str, ...]]]:
    """Each distribution and its files that are not as installed, while there is time; none where nobody asked."""
    if scene.options.imports != "deep":
        return
    until = time.monotonic() + SECONDS
    for one in value_or(scene.facts.target.distributions, ()):
        if time.monotonic() < until and not one.name.startswith("nvidia-"):
            yield one, value_or(scene.host.altered(f"{one.location}/RECORD", "small"), ())


def _changed(dist: Distribution, lines: Sequence[str]) -> Iterator[Changed]:
    site, owner = dist.location.rpartition("/")[0], f"{dist.name} {dist.version}"
    for line in lines:
        told, _, name = line.partition(" ")
        how, _, size = told.partition(":")
        if not DISPENSABLE.search(name):
            yield Changed(how, f"{site}/{name}", owner, int(size or 0))


def _judged(scene: Scene, files: Sequence[Changed]) -> Iterator[Damage]:
    """Those that cannot be read any more, then those that only differ."""
    broken = {one.path: one for one in uncompiled(scene, [one for one in files if one.is_module])}
    bad = [_bad_data(scene, one) for one in files]
    broken |= {one.path: one for one in bad if one is not None}
    yield from broken.values()
    for one in files:
        if one.path not in broken:
            yield Damage(one.path, one.owner, EDITED, f"{one.installed} bytes" if one.installed else "", one.how)


def _bad_data(scene: Scene, one: Changed) -> Damage | None:
    """Data in a form that can be checked, and that is not in that form any more."""
    text = value_or(scene.host.read(one.path), "") if one.path.endswith(".json") else ""
    try:
        json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        return Damage(one.path, one.owner, DATA_BROKEN, "", f"{type(error).__name__}: {str(error)[:120]}")
    return None


def _libraries_gone(scene: Scene, dist: Distribution) -> Iterator[Damage]:
    """Libraries that RECORD lists and that are not there; where all are gone, so is the package."""
    site = dist.location.rpartition("/")[0]
    lines = value_or(scene.host.lines(f"{dist.location}/RECORD", ".so,"), ())
    for name in (line.rsplit(",", 2)[0] for line in lines[:_MOST]):
        path = f"{site}/{name}"
        inside = not name.startswith(("/", "..", '"')) and not DISPENSABLE.search(name)
        if inside and isinstance(scene.host.stat(path), Absent) and not isinstance(scene.host.link(path), Known):
            yield Damage(path, f"{dist.name} {dist.version}", "missing", "", "no file")
