"""Roots: what else is installed and is worth an import: what nothing asks for, and what has compiled files.

No package is known by name here: somebody installed a root for its own sake, and a compiled one breaks in more ways
than a module does.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Distribution
from gpuwhy.observe.dependents import Asks, Dependent, asks_of, modules_of, on_frameworks
from gpuwhy.observe.scene import Scene

MOST = 80
"""Distributions that are tried besides."""
MOST_ENTRIES = 3
INSTALLERS = frozenset({"pip", "setuptools", "wheel", "uv", "distribute", "conda", "pkg-resources"})
"""What installs the others: no program stands on it."""
_LIBRARIES = re.compile(r"nvidia-(?!ml-py).+")
"""Wheels of libraries: the loader's own look is at those."""
_COMMANDS = ("console_scripts", "gui_scripts")
_TARGET = re.compile(r"([A-Za-z_][\w.]*)(?::([A-Za-z_][\w.]*))?")


def on_top(scene: Scene) -> list[Dependent]:
    """What is installed on top of the frameworks that are there, then whatever else is worth an import."""
    first = on_frameworks(scene)
    return [*first, *others(scene, first)]


def others(scene: Scene, known: Sequence[Dependent]) -> list[Dependent]:
    """Roots, and what has compiled files: with what they plug into other packages, and what their commands import."""
    found: tuple[Distribution, ...] = value_or(scene.facts.target.distributions, ())
    installed = {one.name: one for one in reversed(found)}
    asks = {name: asks_of(scene, one) for name, one in installed.items()}
    seen = {one.dist.name for one in known} | {f.distribution for f in value_or(scene.facts.target.frameworks, ())}
    names = [n for n in installed if n not in seen | INSTALLERS and not _LIBRARIES.fullmatch(n)]
    best = _worthy(scene, names, asks, installed)
    tops = {module.partition(".")[0] for one in known for module in one.modules} | _frameworks(scene)
    return [_made(scene, installed[name], asks[name], tops) for name in best[:MOST]]


def _frameworks(scene: Scene) -> set[str]:
    return {one.path.rpartition("/")[2] for one in value_or(scene.facts.target.frameworks, ())}


def _worthy(
    scene: Scene, names: Sequence[str], asks: Mapping[str, Asks], installed: Mapping[str, Distribution]
) -> list[str]:
    """The smallest first: time is short, and a large one takes as much of it as many others."""
    asked = {other for name, one in asks.items() for other in one.always if other != name}
    found = [name for name in names if name not in asked or _has_libraries(scene, installed[name])]
    return sorted(found, key=lambda name: _size(scene, installed[name]))


def _size(scene: Scene, one: Distribution) -> int:
    """How many files it has, by the length of their list."""
    stat = scene.host.stat(f"{one.location}/RECORD")
    return stat.value.size if isinstance(stat, Known) else 0


def _has_libraries(scene: Scene, one: Distribution) -> bool:
    return bool(value_or(scene.host.lines(f"{one.location}/RECORD", ".so,"), ()))


def _made(scene: Scene, one: Distribution, asks: Asks, tops: Collection[str]) -> Dependent:
    own = tuple(modules_of(scene, one))
    return Dependent(one, "", (*own, *entries(scene, one, {*tops}.difference(own))), asks, plain=True)


def entries(scene: Scene, one: Distribution, tops: Collection[str]) -> tuple[str, ...]:
    """What it plugs into another package that is there ("jax_plugins"), and what its commands import: tried later."""
    text = value_or(scene.host.read(f"{one.location}/entry_points.txt"), "")
    found = [t for group, t in _targets(text) if group in _COMMANDS or re.split(r"[._-]", group)[0] in tops]
    return tuple(f"~{target}" for target in dict.fromkeys(found[:MOST_ENTRIES]))


def _targets(text: str) -> Iterator[tuple[str, str]]:
    """Group and 'module:name' of each; what belongs to an extra is left out."""
    read = configparser.ConfigParser(delimiters=("=",), strict=False, interpolation=None)
    try:
        read.read_string(text)
    except configparser.Error:
        return
    for group in read.sections():
        for _, value in read.items(group):
            found = _TARGET.fullmatch(value.strip())
            if found:
                yield group, found[0]
