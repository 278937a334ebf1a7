"""Libraries on Windows: every copy of the CUDA and cuDNN DLLs on PATH, in System32, toolkits, conda and wheels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.host.base import Host
from gpuwhy.host.windows import DLLS
from gpuwhy.knowledge.libraries import LibraryName, parse
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Flaw, LibraryCopy
from gpuwhy.observe.libraries import Examined
from gpuwhy.observe.owners import Owners
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.toolkits import conda_prefix, site_packages
from gpuwhy.observe.windows.paths import environ, folders, is_whole, path_folders, system_folder, tidy
from gpuwhy.observe.windows.toolkits import program_files

_OFTEN = ("C:/tools/cuda/bin", "C:/cuda/bin", "C:/cudnn/bin")
"""Where guides tell people to unpack cuDNN."""
_DOWNLOADS = ("~/Downloads", "~/Desktop", "~/Documents", "~", "C:", "C:/tools", "C:/Program Files", "D:", "D:/tools")
_ARCHIVES = r"(?i)(cud(a|nn)|zlib)[\w.-]*$"
_MOST_ARCHIVES = 8
_NOT_WINDOWS = r"(?i)(?!windows|program|users$|perflogs|recovery|system volume|\$|documents and|msocache|tools$)"
_MOST_OWN = 24
_BUNDLES = r"(nvidia|torch|onnxruntime|tensorrt_libs|tensorrt_bindings)$"
_INSIDE = {"torch": "/lib", "onnxruntime": "/capi"}


class Place(NamedTuple):
    """A folder that may hold libraries, and why it counts."""

    folder: str
    where: str


def copies(scene: Scene) -> Fact[tuple[LibraryCopy, ...]]:
    """Every copy, in the order in which the places are searched."""
    owners, host = Owners(scene), scene.host
    machine = value_or(scene.facts.surroundings.machine, "")
    out: dict[str, LibraryCopy] = {}
    for place in places(scene):
        for entry in value_or(host.list(place.folder, DLLS), ()):
            name, path = parse(entry.name), f"{place.folder}/{entry.name}"
            if name and path.casefold() not in out:
                out[path.casefold()] = _copy(host, owners, name, path, place.where, machine)
    seen = host.environ()
    unseen = f"not seen: PATH ({seen.reason})" if isinstance(seen, Unknown) else ""
    return Known(tuple(out.values()), Source("folder", "PATH, System32, toolkits, conda and wheels", unseen))


def places(scene: Scene) -> Iterator[Place]:
    """Every folder in which a CUDA library may lie, PATH first."""
    host = scene.host
    yield from (Place(folder, "PATH") for folder in path_folders(host))
    yield Place(system_folder(host), "System32")
    for toolkit in value_or(scene.facts.toolkits.toolkits, ()):
        if toolkit.kind != "wheel":
            yield from (Place(f"{toolkit.path}/{inside}", _where(toolkit.kind)) for inside in ("bin", "bin/x64"))
    yield from _cudnn(scene)
    prefix = tidy(conda_prefix(scene))
    if prefix:
        yield Place(f"{prefix}/Library/bin", "conda")
    for site in site_packages(scene):
        yield from _wheels(host, site)


def _where(kind: str) -> str:
    return "conda" if kind == "conda" else "toolkit"


def _cudnn(scene: Scene) -> Iterator[Place]:
    """cuDNN apart from a toolkit: its variables, its installer's folder, and where guides unpack it."""
    variables = environ(scene.host)
    for name in ("CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT"):
        root = tidy(variables.get(name, ""))
        if is_whole(root):
            yield from (Place(folder, name) for folder in (root, f"{root}/bin"))
    for folder in folders(scene.host, f"{program_files(scene.host)}/NVIDIA/CUDNN", r"v\d")[::-1]:
        yield Place(f"{folder}/bin", "cuDNN installer")
        yield from (Place(one, "cuDNN installer") for one in folders(scene.host, f"{folder}/bin", r"\d+\.\d+$"))
    yield from (Place(folder, "unpacked") for folder in _OFTEN)
    yield from (Place(folder, "unpacked") for folder in _unpacked(scene))


def _unpacked(scene: Scene) -> Iterator[str]:
    """Where archives end up that nobody moved on: downloads, a drive's top, a folder inside the toolkit's own."""
    host = scene.host
    toolkits = [one.path for one in value_or(scene.facts.toolkits.toolkits, ()) if one.kind == "system"]
    for parent in (*_DOWNLOADS, *_of_users(host), *toolkits, *_own_folders(host)):
        for folder in folders(host, parent, _ARCHIVES)[:_MOST_ARCHIVES]:
            inside = [folder, *folders(host, folder, _ARCHIVES)[:_MOST_ARCHIVES]]
            yield from (f"{one}{end}" for one in inside for end in ("", "/bin", "/bin/x64", "/cuda/bin"))
    for root in toolkits:
        yield from (f"{root}{end}" for end in ("", "/lib/x64", "/include"))


def _own_folders(host: Host) -> list[str]:
    """The folders at the top of a drive that are none of Windows': people keep their libraries there."""
    return [one for drive in ("C:", "D:") for one in folders(host, drive, _NOT_WINDOWS)[:_MOST_OWN]]


def _of_users(host: Host) -> Iterator[str]:
    """The same folders of everybody, on a disk that nobody is at."""
    everybody = folders(host, "C:/Users", r"(?!Public$|Default|All Users)") if not environ(host) else []
    yield from (f"{user}{below}" for user in everybody for below in ("/Downloads", "/Desktop", "/Documents", ""))


def _wheels(host: Host, site: str) -> Iterator[Place]:
    for entry in value_or(host.list(site, _BUNDLES), ()):
        if entry.name != "nvidia":
            yield Place(f"{site}/{entry.name}{_INSIDE.get(entry.name, '')}", "wheel")
            continue
        for part in value_or(host.list(f"{site}/nvidia", r"[a-z]\w*$"), ()):
            if part.kind != "file":
                yield from (Place(f"{site}/nvidia/{part.name}/{b}", "wheel") for b in ("bin", "bin/x86_64"))


def _copy(host: Host, owners: Owners, name: LibraryName, path: str, where: str, machine: str) -> LibraryCopy:
    size, health, fault = examine(host, path, machine)
    version = host.cuda_version(path)
    owner = owners.owner(name, path, path, size)
    if not isinstance(version, Known) and owner.version:
        version = known(owner.version, "package", value_or(owner.fact, ""))
    if isinstance(version, Absent):
        version = Unknown(f"{path}: nothing in it tells its version")
    return LibraryCopy(
        name.family.name, path.rpartition("/")[2], path, path, where, version, size, owner.fact, health, fault
    )


def examine(host: Host, path: str, machine: str) -> Examined:
    """Look at one DLL as Windows would."""
    stat = host.stat(path)
    if isinstance(stat, Unknown):
        return Examined(stat, known(f"unreadable: {stat.reason}", "file", path), "unreadable")
    if isinstance(stat, Absent):
        return Examined(stat, known("missing", "file", path), "missing")
    health, fault = _health(host, path, stat.value.size, machine)
    return Examined(known(stat.value.size, "file", path), known(health, "file", path), fault)


def _health(host: Host, path: str, size: int, machine: str) -> tuple[str, Flaw]:
    if size == 0:
        return "empty", "empty"
    pe = host.pe(path)
    if not isinstance(pe, Known):
        why = re.sub(r"^.*?: ", "", pe.reason) if isinstance(pe, Unknown) else "gone while looking"
        named = isinstance(pe, Unknown) and pe.kind == "foreign"
        return why if named else f"not PE: {why}", "foreign"
    if pe.value.extent > size:
        return f"truncated: needs {pe.value.extent} bytes, has {size}", "truncated"
    if machine and pe.value.machine != machine:
        return f"wrong architecture: {pe.value.machine}, this machine is {machine}", "machine"
    return "ok", ""
