"""Editable: projects that were installed from a folder of source, which is not there any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.model.words import normal
from gpuwhy.observe.built import gpu_related
from gpuwhy.observe.scene import Scene

GONE, PROJECT = "source gone", "project gone"  # of the GPU stack; of whatever else
_FILES = r".*\.(pth|egg-link)$|__editable__.*finder\.py$"
_NAMED = re.compile(r"__editable__[._](?P<name>.+?)(?:[-_](?P<version>\d[\w.]*?))?(?:_finder\.py|\.pth)$")
_MAPPED = re.compile(r"['\"](?P<module>[\w.]+)['\"]: *['\"](?P<path>/[^'\"]+)['\"]")
_MOST = 200  # lines of one file


def sources_gone(scene: Scene, installed: tuple[Distribution, ...]) -> Iterator[Damage]:
    """Each project whose source is gone, once; `expected` is the folder, `actual` the module that is lost with it."""
    versions = {normal(one.name): one.version for one in installed}
    seen = set()
    for site in value_or(scene.facts.target.site_packages, ()):
        for entry in value_or(scene.host.list(site, _FILES), ()):
            for name, module, folder in _leads(scene, site, entry.name, versions):
                if name not in seen and isinstance(scene.host.stat(folder), Absent):
                    seen.add(name)
                    owner = f"{name} {versions.get(name, '')}".strip()
                    what = GONE if gpu_related(name) else PROJECT
                    yield Damage(f"{site}/{entry.name}", owner, what, folder, module)


def _leads(scene: Scene, site: str, file: str, versions: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """The project, its module and the folder that each line of such a file leads to."""
    path = f"{site}/{file}"
    named = _NAMED.match(file)
    name = normal(named["name"]) if named else normal(file.rpartition(".")[0].strip("_"))
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


def _nothing_found(scene: Scene) -> bool:
    """Whether there is no framework: then a folder that somebody added to Python's search may have held it."""
    found = scene.facts.target.frameworks
    return isinstance(found, Known) and not found.value
