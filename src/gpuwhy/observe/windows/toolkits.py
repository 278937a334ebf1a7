"""Toolkits on Windows: those of the installer, those that variables and PATH name, conda's and the wheels'."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Toolkit
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.toolkits import conda_package, conda_prefix, site_packages, toolkit_version
from gpuwhy.observe.windows.paths import environ, folders, is_whole, path_folders, tidy

INSTALLED = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"
NAMED = re.compile(r"CUDA_(PATH(_V\d+_\d+)?|HOME|ROOT|TOOLKIT_ROOT_DIR)$")
_BY_NAME = re.compile(r"(?i)(?:.*[/ ])?(?:cuda[-_ /]?)?v?(\d{1,2}\.\d)$")
_BIN = re.compile(r"(?i)(.*)/bin(/x64)?$")
_CONDA = r"(cuda-cudart|cudatoolkit|cuda-nvcc|cuda-version)-\d[^-]*-[^-]*\.json$"


def program_files(host: Host) -> str:
    """The folder of 64-bit programs."""
    return tidy(environ(host).get("PROGRAMFILES", "")) or "C:/Program Files"


def roots(scene: Scene) -> Iterator[str]:
    """Every folder that may be a toolkit, the installer's newest first."""
    yield from folders(scene.host, f"{program_files(scene.host)}/{INSTALLED.partition('/')[2].partition('/')[2]}",
                       r"v\d+\.\d+$")[::-1]  # fmt: skip
    for name, value in environ(scene.host).items():
        if NAMED.match(name) and is_whole(tidy(value)):
            yield tidy(value)
    for folder in path_folders(scene.host):
        found = _BIN.match(folder)
        if found and re.search(r"(?i)cuda", found[1]):
            yield found[1]


def toolkits(scene: Scene) -> Fact[tuple[Toolkit, ...]]:
    """Every CUDA toolkit, or part of one, each once."""
    found: dict[str, Toolkit] = {}
    for root in roots(scene):
        one = _toolkit(scene.host, root) if root.casefold() not in found else None
        if one:
            found[root.casefold()] = one
    for one in (*_conda(scene), *_wheels(scene)):
        found.setdefault(one.path.casefold(), one)
    seen = scene.host.environ()
    unseen = f"not seen: {seen.reason}" if isinstance(seen, Unknown) else ""
    return Known(tuple(found.values()), Source("folder", f"{INSTALLED}, CUDA_PATH…, PATH, conda and wheels", unseen))


def _toolkit(host: Host, root: str) -> Toolkit | None:
    nvcc = nvcc_of(host, root)
    listed = host.list(f"{root}/bin", r"(?i)cudart64_\w+\.dll$")
    if not isinstance(nvcc, Known) and not (isinstance(listed, Known) and listed.value):
        return None
    return Toolkit(root, "system", version_of(host, root), nvcc)


def version_of(host: Host, root: str) -> Fact[str]:
    """By its version file or headers, else by its folder's name."""
    version = toolkit_version(host, root)
    if isinstance(version, Known):
        return version
    named = _BY_NAME.match(root)
    return known(named[1], "folder", root, "by its name only") if named else version


def nvcc_of(host: Host, root: str) -> Fact[str]:
    """The compiler below a toolkit's folder."""
    path = f"{root}/bin/nvcc.exe"
    found = host.stat(path)
    return known(path, "file", path) if isinstance(found, Known) else found


def nvcc_on_path(scene: Scene) -> Fact[str]:
    """The nvcc that a command prompt would start."""
    seen = scene.host.environ()
    if not isinstance(seen, Known):
        return seen
    for folder in path_folders(scene.host):
        path = f"{folder}/nvcc.exe"
        if re.search(r"(?i)cuda|conda", folder) and isinstance(scene.host.stat(path), Known):
            return known(path, "env", "PATH")
    return Absent(Source("env", "PATH", "no folder of it holds nvcc.exe"))


def _conda(scene: Scene) -> Iterator[Toolkit]:
    prefix = tidy(conda_prefix(scene))
    if not prefix:
        return
    packages = scene.host.list(f"{prefix}/conda-meta", _CONDA)
    named = dict(conda_package(entry.name) for entry in value_or(packages, ()))
    for name in ("cuda-cudart", "cudatoolkit", "cuda-nvcc", "cuda-version"):
        if name in named:
            version = known(".".join(named[name].split(".")[:2]), "package", f"{name} {named[name]}", "conda")
            yield Toolkit(f"{prefix}/Library", "conda", version, nvcc_of(scene.host, f"{prefix}/Library"))
            return


def _wheels(scene: Scene) -> Iterator[Toolkit]:
    installed = value_or(scene.facts.target.distributions, ())
    for site in site_packages(scene):
        for root in folders(scene.host, f"{site}/nvidia", r"(cu\d\d|cuda_runtime)$"):
            owners = [d for d in installed if d.name.startswith("nvidia-cuda-runtime")]
            version: Fact[str] = Unknown(f"{root}: no package tells its CUDA")
            if len(owners) == 1:
                number = ".".join(owners[0].version.split(".")[:2])
                version = known(number, "package", f"{owners[0].name} {owners[0].version}", "pip")
            yield Toolkit(root, "wheel", version, nvcc_of(scene.host, root))
