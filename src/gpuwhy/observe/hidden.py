"""Hidden: parts of a name that several distributions share (cuda.pathfinder, google.protobuf), out of reach.

Python joins such folders only while no folder of its path has a package or a module of that name: one of these wins,
wherever it stands, before the environment or behind it, and the other folders' parts cannot be imported any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.host.base import Entry
from gpuwhy.knowledge.modules import NAMESPACES, PART_OWNERS
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Shadow
from gpuwhy.observe.contradictions import asked_by_the_stack
from gpuwhy.observe.scene import Scene

_NAMES = rf"({'|'.join(sorted(NAMESPACES))})(\.|$)"
_ENDINGS = (".py", ".so")
_JOINS = ("extend_path", "declare_namespace", "__path__")
_BARE = 600  # bytes: an __init__.py that marks a folder of libraries, and at most says whose they are


class Winner(NamedTuple):
    """The package or module of a shared name that Python takes."""

    folder: str
    via: str
    path: str


def hidden(scene: Scene, places: Sequence[tuple[str, str]], sites: Sequence[str]) -> Iterator[Shadow]:
    """What hides parts that the environment's folders hold; `places` are all folders of Python's path, in order."""
    listed = {folder: value_or(scene.host.list(folder, _NAMES), ()) for folder, _ in places}
    for name, wanted in NAMESPACES.items():
        winner = _winner(scene, name, places, listed)
        if winner is None or _joins(scene, winner) or _comes_late(scene, winner, name):
            continue
        lost = [part for site in sites if site != winner.folder for part in _parts(scene, site, name, wanted, winner)]
        if lost:
            yield _shadow(scene, name, winner, lost)


def _winner(
    scene: Scene, name: str, places: Sequence[tuple[str, str]], listed: dict[str, tuple[Entry, ...]]
) -> Winner | None:
    for folder, via in places:
        names = {entry.name for entry in listed[folder]}
        if name in names and isinstance(scene.host.stat(f"{folder}/{name}/__init__.py"), Known):
            return Winner(folder, via, f"{folder}/{name}")
        file = next((one for one in sorted(names) if one.split(".")[0] == name and one.endswith(_ENDINGS)), "")
        if file:
            return Winner("", via or folder, f"{folder}/{file}")
    return None


def _joins(scene: Scene, winner: Winner) -> bool:
    """Whether the package looks for its own parts in the other folders too."""
    return bool(winner.folder and value_or(scene.host.lines(f"{winner.path}/__init__.py", *_JOINS), ()))


def _comes_late(scene: Scene, winner: Winner, name: str) -> bool:
    """Whether a .pth file that is run before the one that brings it imports the name already, without it."""
    site, _, file = winner.via.rpartition("/")
    if not file.endswith(".pth"):
        return False
    for entry in value_or(scene.host.list(site, r".*\.pth$"), ()):
        if entry.name < file:
            own = [
                word
                for line in value_or(scene.host.lines(f"{site}/{entry.name}", "import"), ())
                for word in _words(line)
            ]
            if name in own or any(_imports(scene, f"{site}/{word}.py", name) for word in own):
                return True
    return False


def _words(line: str) -> list[str]:
    """The modules that a line imports, by their first names."""
    return re.findall(r"(?:import|from)\s+(\w+)", line) if line.startswith("import") else []


def _imports(scene: Scene, file: str, name: str) -> bool:
    lines = value_or(scene.host.lines(file, name), ())
    return any(re.match(rf"\s*(import|from)\s+{name}\b|.*import_module\(\W{name}\b", line) for line in lines)


def _parts(scene: Scene, site: str, name: str, wanted: tuple[str, ...], winner: Winner) -> Iterator[tuple[str, str]]:
    """The parts with code of their own that a folder holds and the winner does not, and the folder."""
    for part, entry in code_parts(scene, site, name, wanted).items():
        if not (winner.folder and isinstance(scene.host.stat(f"{winner.path}/{entry}"), Known)):
            yield part, site


def code_parts(scene: Scene, site: str, name: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """The parts with code of their own that a folder holds of a shared name, each with its file or folder."""
    there = value_or(scene.host.list(f"{site}/{name}", "|".join(f"{one}$" for one in wanted)), ())
    out: dict[str, str] = {}
    for entry in there:
        part = entry.name.partition(".")[0]
        if part.isidentifier() and not part.startswith("__") and _has_code(scene, f"{site}/{name}", entry):
            out.setdefault(f"{name}.{part}", entry.name)
    return out


def _has_code(scene: Scene, folder: str, entry: Entry) -> bool:
    """Whether something is imported from it: NVIDIA's wheels of libraries hold an empty __init__.py only."""
    if entry.name.endswith(_ENDINGS):
        return True
    path = f"{folder}/{entry.name}"
    names = [one.name for one in value_or(scene.host.list(path, r".*\.(py|so)$"), ())]
    stat = scene.host.stat(f"{path}/__init__.py")
    large = isinstance(stat, Known) and stat.value.size > _BARE
    return large or any(name != "__init__.py" for name in names)


def _shadow(scene: Scene, name: str, winner: Winner, lost: Sequence[tuple[str, str]]) -> Shadow:
    asked = asked_by_the_stack(scene)
    by = {part: asked.get(owner(part), "") for part, _ in lost}
    parts = sorted(by, key=lambda part: not by[part])
    wanted_by = next((one for one in by.values() if one), "") or ("jax" if name == "jax_plugins" else "")
    return Shadow(name, winner.path, lost[0][1], winner.via, parts=tuple(parts), wanted_by=wanted_by)


def owner(part: str) -> str:
    """The distribution that a part of a shared name is installed by: cuda.pathfinder → cuda-pathfinder."""
    return PART_OWNERS.get(part) or part.replace(".", "-").replace("_", "-")
