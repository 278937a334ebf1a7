"""Every CUDA toolkit on disk."""

import re
from collections.abc import Iterator
from typing import Literal

from gpuwhy.facts.fact import Fact, Known, Source, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Toolkit
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.files import environ, lines, names, real, text
from gpuwhy.machine.machine import Machine

Kind = Literal["system", "distribution", "conda", "wheel"]

ROOT_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR")
"""Variables that name a toolkit's folder."""

_PARTS = r"(version\.(json|txt)|bin|include|lib|lib64|nvvm|targets)$"
_VERSION_FILES = (
    ("version.json", r'"cuda"\s*:\s*\{[^}]*?"version"\s*:\s*"(\d+\.\d+)'),
    ("version.txt", r"CUDA Version (\d+\.\d+)"),
)
_CONDA = (
    *("cuda-cudart", "cudatoolkit", "cuda-nvcc", "cuda-nvcc-tools"),
    *("cuda-toolkit", "cuda-runtime", "cuda-version"),
)
_TRIPLETS = ("x86_64-linux", "sbsa-linux", "aarch64-linux")
_USUAL: tuple[tuple[str, str, Kind], ...] = (
    ("/usr/local", r"cuda(-[\d.]+)?$", "system"),
    ("/opt", r"cuda(-[\d.]+)?$", "system"),
    ("/usr/lib", r"(cuda|nvidia-cuda-toolkit)$", "distribution"),
)
_NO_TOOLKIT = ("", "/", "/usr", "/usr/local")


def toolkits(machine: Machine, facts: Facts) -> Fact[tuple[Toolkit, ...]]:
    """Every CUDA toolkit, or part of one, each once however many names lead to it."""
    found: dict[str, Toolkit] = {}
    for path, kind in _roots(machine, facts):
        root = value_or(machine.real(path), "")
        if not root or root in (*_NO_TOOLKIT, machine.home) or root in found:
            continue
        version, nvcc = toolkit_version(machine, root), machine.stat(f"{root}/bin/nvcc")
        if kind == "distribution" and not isinstance(version, Known):
            version = header_version(machine, "/usr/include", version)
        seen = isinstance(version, Known) or isinstance(nvcc, Known)
        if seen and names(machine, path, _PARTS):
            found[root] = Toolkit(root, kind, version)
    prefix = conda_prefix(machine, facts)
    packages = conda_packages(machine, prefix, rf"({'|'.join(_CONDA)})-\d[^-]*-[^-]*\.json$")
    if packages or (prefix and isinstance(machine.stat(f"{prefix}/bin/nvcc"), Known)):
        cuda = conda_cuda(packages)
        version = toolkit_version(machine, prefix) if cuda is None else cuda
        found.setdefault(real(machine, prefix), Toolkit(prefix, "conda", version))
    for one in wheels(machine, facts):
        found.setdefault(real(machine, one.path), one)
    answers = (*(machine.list(folder, match) for folder, match, _ in _USUAL), machine.environ())
    unread = [one for one in (*answers, facts.environment.sites) if isinstance(one, Unknown)]
    if unread and not found:
        return Unknown(unread[0].reason)
    where = "/usr/local, /usr/lib, /opt, the environment's variables, conda and wheels"
    detail = f"not seen: {unread[0].reason}" if unread else ""
    return Known(tuple(found.values()), Source("folder", where, detail))


def _roots(machine: Machine, facts: Facts) -> Iterator[tuple[str, Kind]]:
    """The usual folders, a versioned name before the link that leads to it, the newest first; then
    those that variables, PATH and LD_LIBRARY_PATH name.
    """
    for folder, pattern, kind in _USUAL:
        found = names(machine, folder, pattern)
        for name in sorted(found, key=lambda n: (n == "cuda", [-one for one in numbers(n[5:])])):
            yield f"{folder}/{name}", kind
    variables = environ(machine)
    roots = [variables.get(name, "").rstrip("/") for name in ROOT_VARIABLES]
    for folder in split_path(variables.get("PATH", "")):
        stat = machine.stat(f"{folder}/nvcc") if folder.startswith("/") else None
        if isinstance(stat, Known) and stat.value.kind == "file" and "x" in stat.value.mode:
            roots.append(real(machine, f"{folder}/nvcc").rpartition("/bin/")[0])
            break  # a shell starts this one
    inside = r"bin|lib64|lib|targets/[^/]+/lib|extras/CUPTI/lib64"
    match = rf"(?i)(.*/[^/]*cuda[^/]*(?:/\d+(?:\.\d+)+)?)/({inside})$"
    for folder in split_path(variables.get("LD_LIBRARY_PATH", ""), ":;"):
        roots += [found[1] for found in [re.match(match, folder)] if found]
    spared = (conda_prefix(machine, facts), *_NO_TOOLKIT)
    for root in dict.fromkeys(roots):
        if root.startswith("/") and root not in spared and "/site-packages/" not in root:
            yield root, "system"


def split_path(value: str, separators: str = ":") -> tuple[str, ...]:
    """The elements of a search-path variable, tidied, empty ones left out."""
    return tuple(one.rstrip("/") or "/" for one in re.split(f"[{separators}]", value) if one)


def conda_prefix(machine: Machine, facts: Facts) -> str:
    """The conda environment that counts: the target's own, else the active one; "" for none."""
    python = value_or(facts.environment.python, None)
    kind, prefix = (python.kind, python.prefix) if python else ("", "")
    if kind == "conda" or (kind == "venv" and names(machine, f"{prefix}/conda-meta", r".+\.json$")):
        return prefix
    return environ(machine).get("CONDA_PREFIX", "").rstrip("/")


def toolkit_version(machine: Machine, root: str) -> Fact[str]:
    """Which CUDA the toolkit is: by its version file, its headers, else its folder's name."""
    parts = machine.list(root, _PARTS)
    if not isinstance(parts, Known):
        return parts
    inside = {entry.name for entry in parts.value}
    for name, pattern in _VERSION_FILES:
        said = text(machine, f"{root}/{name}") if name in inside else ""
        if match := re.search(pattern, said):
            return known(match[1], "file", f"{root}/{name}")
    found: Fact[str] = Unknown(
        f"{root} has no version file and no CUDA headers", f"{root}/bin/nvcc --version"
    )
    path = real(machine, root)
    if match := re.match(r".*/cuda[-_/]?(\d+\.\d+)", path):
        found = known(match[1], "folder", path, "by its name only")
    folders = [f"{root}/targets/{one}/include" for one in _TRIPLETS[::-1] if "targets" in inside]
    for folder in (*folders, *([f"{root}/include"] if "include" in inside else [])):
        found = header_version(machine, folder, found)
    return found


def header_version(machine: Machine, folder: str, otherwise: Fact[str]) -> Fact[str]:
    """CUDA's version as cuda_runtime_api.h or cuda.h defines it."""
    for header, macro in (("cuda_runtime_api.h", "CUDART_VERSION"), ("cuda.h", "CUDA_VERSION")):
        for line in lines(machine, f"{folder}/{header}", macro):
            if match := re.search(r"#\s*define\s+CUD(?:A|ART)_VERSION\s+(\d{4,6})\b", line):
                code = int(match[1])
                version = f"{code // 1000}.{code % 1000 // 10}"
                return known(version, "file", f"{folder}/{header}")
    return otherwise


def conda_cuda(packages: dict[str, str]) -> Known[str] | None:
    """The CUDA of a conda environment by its packages."""
    for name in _CONDA:
        if name in packages:
            source = Source("package", f"{name} {packages[name]}", "conda")
            return Known(major_minor(packages[name]), source)
    return None


def conda_packages(machine: Machine, prefix: str, match: str) -> dict[str, str]:
    """Conda packages by the names of their files: cuda-cudart-12.4.127-0.json."""
    listed = names(machine, f"{prefix}/conda-meta", match) if prefix else ()
    parts = (name.removesuffix(".json").rsplit("-", 2) for name in listed)
    return {one[0]: one[1] for one in parts if len(one) == 3}


def wheels(machine: Machine, facts: Facts) -> Iterator[Toolkit]:
    """By the one package that brings it; by its headers where none or several do."""
    packages = value_or(facts.environment.packages, ())
    for site in value_or(facts.environment.sites, ()):
        for name in names(machine, f"{site.path}/nvidia", r"(cu\d\d|cuda_nvcc|cuda_runtime)$"):
            root = f"{site.path}/nvidia/{name}"
            base = f"nvidia-{name.replace('_', '-')}-cu"
            base = r"nvidia-cuda-runtime$" if name.startswith("cu1") else base
            owners = [one for one in packages if re.match(base, one.name)]
            version: Fact[str] = Unknown(f"{root}: no headers, and not one package names it")
            if len(owners) == 1:
                number = major_minor(owners[0].version)
                version = known(number, "package", str(owners[0].owner), "pip")
            else:
                version = header_version(machine, f"{root}/include", version)
            yield Toolkit(root, "wheel", version)
