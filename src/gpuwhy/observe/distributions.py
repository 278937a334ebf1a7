"""Distributions: what is installed in the target, by the metadata folders on its path."""

from __future__ import annotations

import re

from msgspec import structs

from gpuwhy.model.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.model.facts import Distribution
from gpuwhy.model.words import normal
from gpuwhy.observe.built import gpu_related
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.twice import real_first

_GIVEN = re.compile(r'"url"\s*:\s*"file://(/[^"]+?)/?"')
_METADATA_FOLDER = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*(?:-[A-Za-z][\w.]*)*?)-(?P<version>\d[^-]*)(?:-py[\d.]+)?")


def distributions(scene: Scene) -> Fact[tuple[Distribution, ...]]:
    """Each installed distribution by its metadata folder, in the path's order; the installer of GPU-related ones."""
    folders = scene.facts.target.site_packages.need() or ()
    borrowed = {p.rstrip("/") for p in value_or(scene.host.environ(), {}).get("PYTHONPATH", "").split(":")}
    found: list[Distribution] = []
    for folder in folders:
        listed = scene.host.list(folder, r"[^~.].*\.(dist|egg)-info$")
        if isinstance(listed, Unknown):
            return listed
        each = (_distribution(scene, folder, entry.name) for entry in value_or(listed, ()))
        there = real_first(scene, list(filter(None, each)))
        own = {d.name for d in found} if folder in borrowed else set()  # a second one there is a shadow: see shadows.py
        found += [d for d in there if d.name not in own]
    if found and not any(gpu_related(one.name) for one in found):  # what installs here is asked of one of them at least
        found[0] = structs.replace(found[0], installer=_installer(scene, found[0].location))
    return known(tuple(found), "folder", ", ".join(folders))


def requirements(scene: Scene, one: Distribution) -> Fact[tuple[str, ...]]:
    """The lines of a distribution's metadata that say what it asks for."""
    file = "METADATA" if one.location.endswith(".dist-info") else "PKG-INFO"
    return scene.host.lines(f"{one.location}/{file}", "Requires-Dist: ")


def _distribution(scene: Scene, folder: str, entry: str) -> Distribution | None:
    location = f"{folder}/{entry}"
    stem, _, kind = entry.rpartition(".")
    parsed = _METADATA_FOLDER.fullmatch(stem)
    name, version = (parsed["name"], parsed["version"]) if parsed else by_metadata(scene, location, kind)
    if not name:
        return None
    name = normal(name)
    installer = _installer(scene, location) if gpu_related(name) else Unknown("not looked at")
    return Distribution(name, version, location, installer)


def _installer(scene: Scene, location: str) -> Fact[str]:
    said = scene.host.read(f"{location}/INSTALLER")
    return Known(said.value.strip()[:40], said.source) if isinstance(said, Known) else said


def by_metadata(scene: Scene, location: str, kind: str) -> tuple[str, str]:
    """Name and version as the metadata says, for a folder whose name does not tell both."""
    file = f"{location}/{'METADATA' if kind == 'dist-info' else 'PKG-INFO'}"
    lines = value_or(scene.host.lines(file, "Name: ", "Version: "), ())
    name = next((line[6:].strip() for line in lines if line.startswith("Name: ")), "")
    version = next((line[9:].strip() for line in lines if line.startswith("Version: ")), "")
    return (name, version) if re.fullmatch(r"[A-Za-z0-9][\w.-]*", name) and version else ("", "")


def project_folder(scene: Scene, one: Distribution) -> str:
    """The folder that the installer was given for it (PEP 610); "" where it came from elsewhere."""
    said = _GIVEN.search(value_or(scene.host.read(f"{one.location}/direct_url.json"), ""))
    return said[1] if said else ""
