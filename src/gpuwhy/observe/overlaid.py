"""Overlaid: parts of shared names (google.protobuf) that another folder puts first, and packages of another Python."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from gpuwhy.knowledge.modules import FRAMEWORK_MODULES, NAMESPACES
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Shadow
from gpuwhy.observe.contradictions import refused_by_the_stack
from gpuwhy.observe.hidden import code_parts, owner
from gpuwhy.observe.scene import Scene

_TAG = re.compile(r"Tag: cp3(\d+)-cp3\d+t?-")
_COMPILED = re.compile(r"\.cpython-3(\d+)t?-[\w-]+\.so$")
_FRAMEWORKS = rf"({'|'.join(sorted(FRAMEWORK_MODULES))})$"


def overlaid(scene: Scene, folder: str, via: str, sites: Sequence[str]) -> Iterator[Shadow]:
    """Parts of shared names that a folder before the environment holds, and the environment too."""
    names = {entry.name for entry in value_or(scene.host.list(folder, rf"({'|'.join(sorted(NAMESPACES))})$"), ())}
    for name, wanted in NAMESPACES.items():
        if name not in names:
            continue
        package = _is_package(scene, f"{folder}/{name}")
        for part in code_parts(scene, folder, name, wanted):
            site = next((one for one in sites if part in code_parts(scene, one, name, wanted)), "")
            if site and (package or not any(_is_package(scene, f"{one}/{name}") for one in sites)):
                yield _overlaid(scene, folder, via, site, part)


def _is_package(scene: Scene, folder: str) -> bool:
    """Whether a folder is a package of its own, which wins over folders that only share their name."""
    return isinstance(scene.host.stat(f"{folder}/__init__.py"), Known)


def _overlaid(scene: Scene, folder: str, via: str, site: str, part: str) -> Shadow:
    name = owner(part)
    version, meant = _release(scene, folder, name), _release(scene, site, name)
    refused = refused_by_the_stack(scene, name, version) if version else ""
    path = f"{folder}/{part.replace('.', '/')}"
    return Shadow(part, path, site, via, version=version, meant=meant, wanted_by=refused)


def strangers(scene: Scene, places: Sequence[tuple[str, str]], there: Collection[str], python: str) -> Iterator[Shadow]:
    """Frameworks that the environment does not have, and a folder of Python's path only for another Python."""
    for folder, via in places:
        for entry in value_or(scene.host.list(folder, _FRAMEWORKS), ()):
            other = "" if entry.name in there else _made_for(scene, folder, entry.name)
            if other and other != python:
                version = _release(scene, folder, entry.name)
                yield Shadow(entry.name, f"{folder}/{entry.name}", "", via, version=version, other_python=other)


def of_another_python(scene: Scene, folder: str, python: str) -> bool:
    """Whether a folder holds a framework that only another Python can import."""
    names = (entry.name for entry in value_or(scene.host.list(folder, _FRAMEWORKS), ()))
    return any(_made_for(scene, folder, name) not in ("", python) for name in names)


def _made_for(scene: Scene, folder: str, module: str) -> str:
    """The one Python that a compiled package can be imported by; "" where it has no code of that kind."""
    compiled = value_or(scene.host.list(f"{folder}/{module}", r".*\.cpython-3\d+t?-.*\.so$"), ())
    found = {match[1] for entry in compiled if (match := _COMPILED.search(entry.name))}
    if not found and (info := _info(scene, folder, module)):
        lines = value_or(scene.host.lines(f"{folder}/{info}/WHEEL", "Tag: cp3"), ())
        found = {match[1] for line in lines if (match := _TAG.match(line))}
    return f"3.{found.pop()}" if len(found) == 1 else ""


def _info(scene: Scene, folder: str, name: str) -> str:
    """The folder with the metadata of a distribution of that name, or of its build for the CPU or the GPU."""
    pattern = rf"(?i){name.replace('-', '[-_.]')}(_gpu|_cpu|_cuda\d+x)?-\d.*\.dist-info$"
    return next((entry.name for entry in value_or(scene.host.list(folder, pattern), ())), "")


def _release(scene: Scene, folder: str, name: str) -> str:
    return _info(scene, folder, name).removesuffix(".dist-info").rpartition("-")[2]
