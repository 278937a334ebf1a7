"""Provided: modules that lie in another place of Python's path than their metadata: an archive, a folder of a .pth."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from gpuwhy.knowledge.modules import IMPORTED_AS
from gpuwhy.model.fact import Absent, value_or
from gpuwhy.observe.scene import Scene

_STATEMENT = re.compile(r"#|import\s")
_MOST = 50  # lines of one file


def added(scene: Scene, site: str) -> Iterator[tuple[str, str]]:
    """The folders and archives that plain lines of .pth files put behind the environment, and the files."""
    for entry in value_or(scene.host.list(site, r".*\.pth$"), ()):
        for line in value_or(scene.host.lines(f"{site}/{entry.name}", "/", ".", "_"), ())[:_MOST]:
            path = line.strip().rstrip("/")
            if path and not _STATEMENT.match(path):
                whole = path if path.startswith(("/", "~")) else posixpath.normpath(f"{site}/{path}")
                yield whole, f"{site}/{entry.name}"


def elsewhere(scene: Scene, site: str, files: Iterable[str]) -> set[str]:
    """Of some files that a folder of packages lacks, those whose whole module another place of the path has."""
    tops = {name: name.partition("/")[0] for name in files}
    gone = {top for top in tops.values() if isinstance(scene.host.stat(f"{site}/{top}"), Absent)}
    if not gone:
        return set()
    places = _places(scene, site)
    there = {top for top in gone for place in places if _holds(scene, place, top)}
    return {name for name, top in tops.items() if top in there}


def on_the_path(scene: Scene, name: str) -> bool:
    """Whether a distribution that is not installed is there all the same, as a module without metadata."""
    module = IMPORTED_AS.get(name) or name.replace("-", "_")
    sites = value_or(scene.facts.target.site_packages, ())
    return any(_holds(scene, place, module) for site in sites for place in _places(scene, site))


def _places(scene: Scene, site: str) -> list[str]:
    """What is searched besides a folder of packages."""
    path = value_or(scene.host.environ(), {}).get("PYTHONPATH", "").split(":")
    return [*(folder for folder, _ in added(scene, site)), *(p for p in path if p.startswith(("/", "~")))]


def _holds(scene: Scene, place: str, top: str) -> bool:
    return bool(value_or(scene.host.list(place, rf"{re.escape(top)}(\.py)?$"), ()))
