"""Own modules: compiled ones that lie in the program's own folders, made for another Python than runs there.

`setup.py build_ext --inplace` leaves foo.cpython-310-….so beside the sources; another Python passes over that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Shadow
from gpuwhy.observe.misfits import TAG, Here, Misfit, misfit_of_name, python_here
from gpuwhy.observe.scene import Scene

MOST_FOLDERS, MOST_FILES = 40, 60
_COMPILED = r"\w+\.cpython-3\d+\w*-[\w-]+\.so$"
_SITE = ("/site-packages", "/dist-packages")
_SOURCES = ("pyx", "c", "cc", "cpp", "cxx", "cu", "rs")
_PLAIN = (".py", ".so", ".abi3.so", ".pyc")
"""How a module ends that any Python takes."""


class _Module(NamedTuple):
    folder: str
    name: str  # foo
    file: str  # foo.cpython-310-x86_64-linux-gnu.so
    wrong: Misfit


def made_for_others(scene: Scene, places: Sequence[tuple[str, str]]) -> Iterator[Shadow]:
    """Modules that the folder's own code imports, and that are there only for another Python or machine."""
    ours = python_here(scene)
    for place, via in places if ours is not None else ():
        if ours is None or place.rstrip("/").endswith(_SITE):
            continue
        for package, folder in _packages(scene, place):
            for one in _unfit(scene, ours, folder):
                user = _imported_by(scene, place, one)
                if user is not None:
                    made = one.wrong.actual.removeprefix("Python ")
                    name = f"{package}{one.name}"
                    yield Shadow(name, f"{folder}/{one.file}", "", via, other_python=made, wanted_by=user)


def _packages(scene: Scene, place: str) -> Iterator[tuple[str, str]]:
    """The folder itself, and the packages in it, with what an import writes before their modules."""
    yield "", place
    for entry in value_or(scene.host.list(place, r"[A-Za-z_]\w*$"), ())[:MOST_FOLDERS]:
        folder = f"{place}/{entry.name}"
        if entry.kind != "file" and isinstance(scene.host.stat(f"{folder}/__init__.py"), Known):
            yield f"{entry.name}.", folder


def _unfit(scene: Scene, ours: Here, folder: str) -> Iterator[_Module]:
    """The modules of a folder of which no file is one that this Python takes."""
    told: dict[str, list[tuple[str, Misfit | None]]] = {}
    for entry in value_or(scene.host.list(folder, _COMPILED), ())[:MOST_FILES]:
        tag = TAG.search(entry.name)
        if tag:
            told.setdefault(entry.name.partition(".")[0], []).append((entry.name, misfit_of_name(ours, tag)))
    for name, files in told.items():
        file, wrong = files[0]
        if wrong is not None and all(one for _, one in files) and not _otherwise(scene, folder, name):
            yield _Module(folder, name, file, wrong)


def _otherwise(scene: Scene, folder: str, name: str) -> bool:
    """Whether the module is there in a form that any Python takes."""
    package = isinstance(scene.host.stat(f"{folder}/{name}/__init__.py"), Known)
    return package or any(isinstance(scene.host.stat(f"{folder}/{name}{end}"), Known) for end in _PLAIN)


def _imported_by(scene: Scene, place: str, one: _Module) -> str | None:
    """The file whose import of it nothing guards; "" where only its source speaks for it; None: nobody asks for it."""
    asked = re.compile(
        rf"\s*(?:from\s+[.\w]+\s+import\b.*\b{one.name}\b|from\s+(?:[.\w]*\.)?{one.name}\s+import\b"
        rf"|import\b.*(?<![\w.]){one.name}\b|import\s+(?:\w+\.)+{one.name}\b)"
    )
    guarded = False
    for folder in dict.fromkeys((one.folder, place)):
        for entry in value_or(scene.host.list(folder, r"\w+\.py$"), ())[:MOST_FILES]:
            for line in value_or(scene.host.lines(f"{folder}/{entry.name}", one.name), ()):
                if asked.match(line):
                    if not line[:1].isspace():
                        return f"{folder}/{entry.name}"
                    guarded = True
    source = any(isinstance(scene.host.stat(f"{one.folder}/{one.name}.{end}"), Known) for end in _SOURCES)
    return "" if source and not guarded else None
