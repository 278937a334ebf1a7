"""Editable: projects that were installed from a folder of source, which is not there any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.pairs import NEIGHBOURS
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.model.words import normal
from gpuwhy.observe.built import gpu_related
from gpuwhy.observe.distributions import project_folder, requirements
from gpuwhy.observe.scene import Scene

GONE, BUILT_ON, PROJECT = "source gone", "source of what needs it gone", "project gone"
"""Of the GPU stack, or what it asks for; of what asks for a part of it; of whatever else."""
_FILES = r".*\.(pth|egg-link)$|__editable__.*finder\.py$"
_NAMED = re.compile(r"__editable__[._](?P<name>.+?)(?:[-_](?P<version>\d[\w.]*?))?(?:_finder\.py|\.pth)$")
_MAPPED = re.compile(r"['\"](?P<module>[\w.]+)['\"]: *['\"](?P<path>/[^'\"]+)['\"]")
_ASKED = re.compile(r"Requires-Dist: *([\w.-]+)(?!.*\bextra *==)")
_MOST = 200  # lines of one file


def sources_gone(scene: Scene, installed: tuple[Distribution, ...]) -> Iterator[Damage]:
    """Each project whose source is gone, once; `expected` is the folder, `actual` the module that is lost with it."""
    versions = {normal(one.name): one.version for one in installed}
    asking = {normal(one.name): one for one in installed}
    seen = set()
    for site in value_or(scene.facts.target.site_packages, ()):
        for entry in value_or(scene.host.list(site, _FILES), ()):
            for name, module, folder in _leads(scene, site, entry.name, versions):
                if name not in seen and isinstance(scene.host.stat(folder), Absent):
                    seen.add(name)
                    owner = f"{name} {versions.get(name, '')}".strip()
                    project = _project_of(scene, asking.get(name), folder)
                    yield Damage(f"{site}/{entry.name}", owner, _what(scene, name, asking), project, module)


def _project_of(scene: Scene, one: Distribution | None, folder: str) -> str:
    """The folder that pip was given, where it is gone as well as what lies below it: that is what comes back."""
    given = project_folder(scene, one) if one else ""
    below = bool(given) and folder.startswith(f"{given}/")
    return given if below and isinstance(scene.host.stat(given), Absent) else folder


def _what(scene: Scene, name: str, installed: dict[str, Distribution]) -> str:
    if gpu_related(name) or name in _asked_by_the_stack(scene, installed):
        return GONE
    if name not in installed and NEIGHBOURS.fullmatch(name):
        return BUILT_ON
    return BUILT_ON if any(map(gpu_related, _asks_for(scene, installed.get(name)))) else PROJECT


def _asked_by_the_stack(scene: Scene, installed: dict[str, Distribution]) -> set[str]:
    """What the packages of the GPU stack need, and what those need: published as they are."""
    seen: set[str] = set()
    ahead = [name for name in installed if gpu_related(name)]
    while ahead:
        new = [name for name in _asks_for(scene, installed.get(ahead.pop())) if name not in seen]
        seen.update(new)
        ahead += new
    return seen


def _asks_for(scene: Scene, project: Distribution | None) -> list[str]:
    asks = value_or(requirements(scene, project), ()) if project else ()
    return [normal(found[1]) for found in map(_ASKED.match, asks) if found]


def _leads(scene: Scene, site: str, file: str, versions: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """The project, its module and the folder that each line of such a file leads to."""
    path = f"{site}/{file}"
    named = _NAMED.match(file)
    name = normal(named["name"]) if named else _project(normal(file.rpartition(".")[0].strip("_")), versions)
    if file.endswith("finder.py"):
        for line in value_or(scene.host.lines(path, "MAPPING"), ())[:_MOST]:
            for match in _MAPPED.finditer(line):
                yield name, match["module"], match["path"]
        return
    for line in value_or(scene.host.lines(path, "/"), ())[:_MOST]:
        folder = line.strip().rstrip("/")
        if not folder.startswith(("/", "~")):
            continue
        if file == "easy-install.pth":
            yield normal(folder.rpartition("/")[2]), folder.rpartition("/")[2], folder
        elif named or file.endswith(".egg-link") or name in versions or _nothing_found(scene):
            yield name, name.replace("-", "_"), folder


def _project(stem: str, versions: dict[str, str]) -> str:
    """The installed project that a file is named after, whatever its build tool put before the name."""
    return max((name for name in versions if stem.endswith(f"-{name}")), key=len, default=stem)


def _nothing_found(scene: Scene) -> bool:
    """Whether there is no framework: then a folder that somebody added to Python's search may have held it."""
    found = scene.facts.target.frameworks
    return isinstance(found, Known) and not found.value
