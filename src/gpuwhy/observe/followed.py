"""Followed: what real imports tell of other facts: files that stand in for modules, files that are not as installed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.knowledge.modules import IMPORTED_AS, STANDARD_MODULES
from gpuwhy.model.fact import Fact, Known, Unknown, value_or
from gpuwhy.model.facts import EDITED, WORKING_FOLDER, Conflict, Damage, Distribution, Imported, Shadow
from gpuwhy.observe.differing import beyond_the_stack
from gpuwhy.observe.installed import damage
from gpuwhy.observe.modules import DISPENSABLE, python_files
from gpuwhy.observe.roots import on_top
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.shadows import STANDARD
from gpuwhy.observe.twice import IN_THE_WAY, damage_of, left_over


def shadows_seen(scene: Scene) -> Fact[tuple[Shadow, ...]]:
    """The shadows, with files of the working folder that an import would have met."""
    fact, tried = scene.facts.target.shadows, value_or(scene.facts.target.imports, ())
    known = {one.module for one in value_or(fact, ())}
    met = [one for one in tried if one.blame == "working folder" and one.module not in known]
    if not met or not isinstance(fact, Known):
        return fact
    sites = value_or(scene.facts.target.site_packages, ())
    more = [Shadow(one.module, one.culprit, _instead(scene, one.module, sites), WORKING_FOLDER) for one in met]
    return Known((*fact.value, *more), fact.source)


def _instead(scene: Scene, module: str, sites: Sequence[str]) -> str:
    if module in STANDARD_MODULES:
        return STANDARD
    there = (s for s in sites for end in ("", ".py") if isinstance(scene.host.stat(f"{s}/{module}{end}"), Known))
    return next(there, STANDARD)


def conflicts_seen(scene: Scene) -> Fact[tuple[Conflict, ...]]:
    """The conflicts, with distributions that both own the package in which something that was tried fails."""
    fact = scene.facts.target.conflicts
    failed = {one.top for one in value_or(scene.facts.target.imports, ()) if one.failed}
    if not failed or not isinstance(fact, Known):
        return fact
    known = {one.module for one in fact.value}
    found = [_owned_twice(scene, module) for module in sorted(failed - known)]
    return Known((*fact.value, *(one for one in found if one is not None)), fact.source)


def _owned_twice(scene: Scene, module: str) -> Conflict | None:
    """The distributions of one folder that list the file which the import of a module begins with."""
    first, owners = f"{module}/__init__.py", dict[str, list[Distribution]]()
    for one in value_or(scene.facts.target.distributions, ()):
        lines = value_or(scene.host.lines(f"{one.location}/RECORD", f"{first},"), ())
        if any(line.startswith(f"{first},") for line in lines):
            owners.setdefault(one.location.rpartition("/")[0], []).append(one)
    for site, twins in owners.items():
        names = tuple(f"{one.name} {one.version}" for one in {one.name: one for one in twins}.values())
        if len(names) > 1:
            return Conflict(names, 1, f"{site}/{first}", module, Unknown("not compared"))
    return None


def damage_seen(scene: Scene) -> Fact[tuple[Damage, ...]]:
    """The damage, with files on the way to a failed import that are not as installed; after a crash, libraries too."""
    fact, failed = scene.facts.target.damage, [one for one in value_or(scene.facts.target.imports, ()) if one.failed]
    if not isinstance(fact, Known):
        return fact
    known = {one.path for one in fact.value}
    found = [*_beyond(scene, known), *_twice_named(scene, failed)]
    if failed and _only_edited(found):
        found += list(_on_the_way(scene, failed, known)) or list(_in_packages(scene, failed, known))
    if _only_edited(found) and any(one.ended == "crashed" for one in failed):
        return _all_hashed(scene)
    return Known((*fact.value, *found), fact.source)


def _beyond(scene: Scene, known: set[str]) -> list[Damage]:
    """Of whatever is installed: modules that are gone, and what differs from what was installed."""
    tree = on_top(scene)
    lost = [one for dep in tree for one in python_files(scene, dep.dist)]
    return [one for one in (*lost, *beyond_the_stack(scene, tree)) if one.path not in known]


def _only_edited(found: Sequence[Damage]) -> bool:
    """Whether nothing of it explains a failure by itself."""
    return all(one.what == EDITED for one in found)


def _twice_named(scene: Scene, failed: Sequence[Imported]) -> list[Damage]:
    """Second metadata folders of packages that a failure names."""
    every = value_or(scene.facts.target.distributions, ())
    said = "\n".join(one.why for one in failed)
    named = [one for one in left_over(every) if re.search(rf"(?<![\w./-]){re.escape(one.name)}(?![\w/-])", said)]
    known = {one.path for one in value_or(scene.facts.target.damage, ())}
    return [structs.replace(one, what=IN_THE_WAY) for one in damage_of(scene, every, named) if one.path not in known]


def _on_the_way(scene: Scene, failed: Sequence[Imported], known: set[str]) -> Iterator[Damage]:
    """Files that the failures name and that are not as installed."""
    for path in dict.fromkeys(path for one in failed for path in (one.source, *one.files) if path):
        if path not in known:
            yield from _altered(scene, path)


def _in_packages(scene: Scene, failed: Sequence[Imported], known: set[str]) -> Iterator[Damage]:
    """Files of the smaller packages on the way to a failure that are not as installed."""
    names = {rest.partition("/")[0].removesuffix(".py") for one in failed for rest in _inside(one)} - _LARGE
    for one in value_or(scene.facts.target.distributions, ()):
        if (IMPORTED_AS.get(one.name) or one.name.replace("-", "_")) not in names:
            continue
        site = one.location.rpartition("/")[0]
        for line in value_or(scene.host.altered(f"{one.location}/RECORD", "all"), ()):
            path = f"{site}/{line.partition(' ')[2]}"
            if path not in known and not DISPENSABLE.search(path):
                yield Damage(path, f"{one.name} {one.version}", "other hash", "", "")


def _inside(one: Imported) -> Iterator[str]:
    parts = (path.rpartition("-packages/") for path in (one.source, *one.files))
    yield from (rest for _, found, rest in parts if found)


_LARGE = {"torch", "tensorflow", "jaxlib", "nvidia", "onnxruntime", "cupy", "paddle", "triton"}
"""Packages of which every file is hashed by --verify only."""


def _all_hashed(scene: Scene) -> Fact[tuple[Damage, ...]]:
    """The damage by every hash: what crashes without a word is mostly code that is not what was installed."""
    whole = Scene(scene.host, structs.replace(scene.options, verify=True), scene.note)
    whole.facts = scene.facts
    return damage(whole)


def _altered(scene: Scene, path: str) -> Iterator[Damage]:
    """A file of site-packages whose hash is not the one that its package's list has."""
    site, found, inside = path.rpartition("-packages/")
    if not found:
        return
    for one in _may_own(scene, f"{site}-packages", inside):
        for line in value_or(scene.host.lines(f"{one.location}/RECORD", f"{inside},"), ()):
            name, digest, _ = [*line.rstrip("\r").rsplit(",", 2), "", ""][:3]
            right, now = digest.removeprefix("sha256="), scene.host.sha256(path)
            if name.strip('"') == inside and right and isinstance(now, Known) and now.value != right:
                owner = f"{one.name} {one.version}"
                yield Damage(path, owner, "other hash", f"sha256 {right}", f"sha256 {now.value}")
                return


def _may_own(scene: Scene, site: str, inside: str) -> list[Distribution]:
    """The distributions of a folder, those of the file's own name first."""
    top = inside.partition("/")[0].removesuffix(".py")
    found = [d for d in value_or(scene.facts.target.distributions, ()) if d.location.startswith(f"{site}/")]
    return sorted(found, key=lambda d: (IMPORTED_AS.get(d.name) or d.name.replace("-", "_")) != top)
