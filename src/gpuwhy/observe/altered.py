"""Altered: modules and libraries that are there and are not what was installed; which of them cannot work any more.

People patch modules, strip libraries and rewrite their search paths, and all is well. So a file that differs is asked
whether it can still be used: a module must compile, a library must be one that the loader maps and that finds its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpuwhy.model.fact import Absent, Known, Unknown, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.observe.modules import DISPENSABLE
from gpuwhy.observe.scene import Scene

UNREADABLE, BROKEN, HOLE, UNLOADABLE = "module unreadable", "module broken", "full of holes", "not loadable"
_LIBRARY = re.compile(r"[\w.+@-]+")
OTHER_RELEASE = "of another release"
VERSION = re.compile(r"_{0,2}version_{0,2}\s*(?::\s*\w+\s*)?=\s*['\"](\d[\w.+]*)['\"]")
_VERSION_FILES = {
    "torch": "torch/version.py", "jax": "jax/version.py", "jaxlib": "jaxlib/version.py", "numpy": "numpy/version.py",
    "torchvision": "torchvision/version.py", "cupy-cuda11x": "cupy/_version.py", "cupy-cuda12x": "cupy/_version.py",
    "cupy-cuda13x": "cupy/_version.py",
}  # fmt: skip
"""Where packages keep their own version, which is that of their metadata when they are installed."""
_MOST = 40  # modules that are compiled
_DENIED = "permission denied"
_TABLES = 128 << 10  # bytes that the tables of names take which such a tool writes behind a library


class Changed(NamedTuple):
    """One file that is not as installed."""

    how: str  # see Host.altered
    path: str
    owner: str
    installed: int = 0  # bytes that it had, where it has others now

    @property
    def is_module(self) -> bool:
        """Whether it is Python's, not the loader's."""
        return self.path.endswith(".py")


class Found(NamedTuple):
    """What cannot be used any more, and the libraries that were changed and can."""

    damage: tuple[Damage, ...]
    fine: frozenset[str]


def changed(scene: Scene, among: Iterable[Distribution]) -> Found:
    """Every file of some distributions that is not as installed, judged."""
    files = [one for dist in among for one in _of(scene, dist)]
    denied = [one for one in files if one.how in ("denied", "folder")]
    read = [one for one in files if one not in denied]
    bad, fine = _libraries(scene, [one for one in read if not one.is_module])
    modules = [one for one in read if one.is_module]
    return Found((*map(_denied, denied), *_other_release(scene, modules), *uncompiled(scene, modules), *bad), fine)


def _libraries(scene: Scene, files: Iterable[Changed]) -> tuple[list[Damage], frozenset[str]]:
    """Those that the loader would refuse, and those that a tool only rewrote."""
    bad, fine = [], set()
    for one in files:
        wrong = _unloadable(scene, one)
        if wrong:
            bad.append(wrong)
        elif _rewritten(scene, one):
            fine.add(one.path)
    return bad, frozenset(fine)


def _of(scene: Scene, dist: Distribution) -> Iterator[Changed]:
    site, owner = dist.location.rpartition("/")[0], f"{dist.name} {dist.version}"
    for line in value_or(scene.host.altered(f"{dist.location}/RECORD", "all" if scene.options.verify else ""), ()):
        told, _, name = line.partition(" ")
        how, _, size = told.partition(":")
        if not DISPENSABLE.search(name):
            yield Changed(how, f"{site}/{name}", owner, int(size or 0))


def _denied(one: Changed) -> Damage:
    if one.how == "folder":
        return Damage(one.path, one.owner, "module missing", "", "a folder is in its place")
    return Damage(one.path, one.owner, UNREADABLE if one.is_module else "unreadable", "", _DENIED)


def uncompiled(scene: Scene, modules: Sequence[Changed]) -> Iterator[Damage]:
    """Modules that the environment's own Python cannot compile."""
    python = scene.facts.target.interpreter
    if not modules or not isinstance(python, Known) or python.value.gone:
        return
    owners = {one.path: one.owner for one in modules[:_MOST]}
    asked = [f"-{one.path}" if _smaller(scene, one) else one.path for one in modules[:_MOST]]
    for said in value_or(scene.host.python(python.value.path, "compiles", *asked), ()):
        path = str(said.get("path", ""))
        if path in owners:
            yield Damage(path, owners[path], BROKEN, "", str(said.get("told", "")))


def _smaller(scene: Scene, one: Changed) -> bool:
    stat = scene.host.stat(one.path)
    return isinstance(stat, Known) and stat.value.size < one.installed


def _other_release(scene: Scene, modules: Sequence[Changed]) -> Iterator[Damage]:
    """Packages with changed modules whose own version is not that of their metadata: another was written over them."""
    for owner, one in {one.owner: one for one in modules}.items():
        name, _, version = owner.partition(" ")
        file = _VERSION_FILES.get(name)
        path = f"{one.path.rpartition('-packages/')[0]}-packages/{file}"
        lines = value_or(scene.host.lines(path, "ersion"), ()) if file else ()
        said = next((match[1] for line in lines if (match := VERSION.match(line))), "")
        if said and said.partition("+")[0] != version.partition("+")[0]:
            yield Damage(path, owner, OTHER_RELEASE, version, said)


def _unloadable(scene: Scene, one: Changed) -> Damage | None:
    """What keeps a changed library from being loaded; a cut one is told where sizes are."""
    read = scene.host.elf(one.path)
    if one.how == "added" or isinstance(read, Absent):
        return None
    if isinstance(read, Unknown):
        told = read.reason.removeprefix(f"{one.path}: ")
        what = {"foreign": "not ELF", "cut": "truncated"}.get(read.kind, UNLOADABLE)
        return None if one.how == "size" else Damage(one.path, one.owner, what, "", told)
    elf = read.value
    wrong = _scrambled(elf.needed) or elf.refused or _for_others(scene, elf.machine, elf.bits)
    if not wrong and one.how == "hole":
        return Damage(one.path, one.owner, HOLE, "", "whole pages of it hold nothing but zeros")
    wrong = wrong or _lost(scene, one, elf.needed, elf.rpath or elf.runpath)
    return Damage(one.path, one.owner, UNLOADABLE, "", wrong) if wrong else None


def _scrambled(needed: Sequence[str]) -> str:
    """The names of what it needs are names; a library may need nothing and have no name itself, as some of CuPy's."""
    return "" if all(map(_LIBRARY.fullmatch, needed)) else "its table of names is gone or scrambled"


def _for_others(scene: Scene, machine: str, bits: int) -> str:
    here = value_or(scene.facts.surroundings.machine, "")
    if not here or (machine == here and not (bits == 32 and here.endswith("64"))):
        return ""
    return f"it is for {machine}, {bits} bits, and this machine is {here}"


def _lost(scene: Scene, one: Changed, needed: Sequence[str], search: str) -> str:
    """A library that its own wheel grafted for it, and that its search path does not lead to any more."""
    here = one.path.rpartition("/")[0]
    folders = [here, *(part.replace("$ORIGIN", here).rstrip("/") for part in search.split(":") if part)]
    for name in needed:
        found = any(isinstance(scene.host.stat(f"{folder}/{name}"), Known) for folder in folders)
        if not found and _grafted(scene, one, name):
            return f"it needs {name}, which its search path ({search or 'none'}) does not lead to"
    return ""


def _grafted(scene: Scene, one: Changed, name: str) -> bool:
    """Whether the wheel brought that library in the folder that repairing tools make: numpy.libs."""
    site, _, inside = one.path.rpartition("-packages/")
    folder = f"{site}-packages/{inside.partition('/')[0]}.libs"
    return bool(site) and isinstance(scene.host.stat(f"{folder}/{name}"), Known)


def _rewritten(scene: Scene, one: Changed) -> bool:
    """Whether a tool rewrote its headers, so that it grew by a segment at its end, or put something behind it."""
    if one.how == "added":
        return True
    elf, stat = scene.host.elf(one.path), scene.host.stat(one.path)
    if not one.installed or not isinstance(elf, Known) or not isinstance(stat, Known):
        return False
    near = min(_TABLES, one.installed // 4)
    return stat.value.size > one.installed and one.installed - near <= elf.value.last <= one.installed + 4096
