"""toolkits: every CUDA toolkit on disk, the nvcc that PATH finds, and where /usr/local/cuda leads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Distribution, Interpreter, Toolkit
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.observe.scene import Look, Scene

Kind = Literal["system", "distribution", "conda", "wheel"]

ROOT_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR")
"""Variables that name a toolkit's folder."""

_PARTS = r"(version\.(json|txt)|bin|include|lib|lib64|nvvm|targets)$"
_VERSION_JSON = re.compile(r'"cuda"\s*:\s*\{[^}]*?"version"\s*:\s*"(\d+\.\d+)')
_VERSION_TXT = re.compile(r"CUDA Version (\d+\.\d+)")
_DEFINE = re.compile(r"#\s*define\s+CUD(?:A|ART)_VERSION\s+(\d{4,6})\b")
_FOLDER = re.compile(r".*/cuda[-_/]?(\d+\.\d+)")
_CONDA = r"(cuda-(cudart|nvcc|nvcc-tools|runtime|toolkit|version)|cudatoolkit)-\d[^-]*-[^-]*\.json$"
_TRIPLETS = ("x86_64-linux", "sbsa-linux", "aarch64-linux")
_USUAL: tuple[tuple[str, str, Kind], ...] = (
    ("/usr/local", r"cuda(-[\d.]+)?$", "system"),
    ("/opt", r"cuda(-[\d.]+)?$", "system"),
    ("/usr/lib", r"(cuda|nvidia-cuda-toolkit)$", "distribution"),
)
_NO_TOOLKIT = frozenset({"", "/", "/usr", "/usr/local", "~"})


class _Place(NamedTuple):
    path: str
    kind: Kind


def split_path(value: str, separators: str = ":") -> tuple[str, ...]:
    """The elements of a search-path variable, tidied, empty ones left out."""
    return tuple(e.rstrip("/") or "/" for e in re.split(f"[{separators}]", value) if e)


def conda_prefix(scene: Scene) -> str:
    """The conda environment that matters here: the target's own, or the active one; "" when there is none."""
    interpreter = scene.facts.target.interpreter
    if isinstance(interpreter, Known) and _of_conda(scene, interpreter.value):
        return interpreter.value.prefix
    return value_or(scene.host.environ(), {}).get("CONDA_PREFIX", "").rstrip("/")


def _of_conda(scene: Scene, interpreter: Interpreter) -> bool:
    """Whether conda made the target's folder, or put packages into it."""
    if interpreter.kind == "conda":
        return True
    meta = f"{interpreter.prefix}/conda-meta"
    return interpreter.kind == "venv" and bool(value_or(scene.host.list(meta, r".+\.json$"), ()))


def site_packages(scene: Scene) -> tuple[str, ...]:
    """The target's package folders, as far as they are known."""
    return tuple(folder.rstrip("/") for folder in value_or(scene.facts.target.site_packages, ()))


def toolkit_version(host: Host, root: str) -> Fact[str]:
    """Which CUDA the toolkit below `root` is: its version file, its headers, else its folder's name."""
    parts = host.list(root, _PARTS)
    if not isinstance(parts, Known):
        return parts
    names = {entry.name for entry in parts.value}
    for name, pattern in (("version.json", _VERSION_JSON), ("version.txt", _VERSION_TXT)):
        found = _in_file(host, f"{root}/{name}", pattern) if name in names else None
        if found is not None:
            return found
    found = _by_header(host, root, names)
    return _by_name(host, root) if found is None else found


def _in_file(host: Host, path: str, pattern: re.Pattern[str]) -> Known[str] | None:
    match = pattern.search(value_or(host.read(path), ""))
    return known(match[1], "file", path) if match else None


def _by_header(host: Host, root: str, names: set[str]) -> Known[str] | None:
    folders = [f"{root}/include"] if "include" in names else []
    if "targets" in names:
        folders += [f"{root}/targets/{triplet}/include" for triplet in _TRIPLETS]
    for folder in folders:
        found = header_version(host, folder)
        if found is not None:
            return found
    return None


def header_version(host: Host, folder: str) -> Known[str] | None:
    """CUDA's version as cuda_runtime_api.h or cuda.h in `folder` defines it."""
    for header, macro in (("cuda_runtime_api.h", "CUDART_VERSION"), ("cuda.h", "CUDA_VERSION")):
        path = f"{folder}/{header}"
        lines: tuple[str, ...] = value_or(host.lines(path, macro), ())
        for match in filter(None, map(_DEFINE.search, lines)):
            code = int(match[1])
            return known(f"{code // 1000}.{code % 1000 // 10}", "file", path, macro)
    return None


def _by_name(host: Host, root: str) -> Fact[str]:
    real = value_or(host.real(root), root)
    match = _FOLDER.match(real)
    if match:
        return known(match[1], "folder", real, "by its name only")
    return Unknown(f"{root} has no version file and no CUDA headers", f"{root}/bin/nvcc --version")


def nvcc_of(host: Host, root: str) -> Fact[str]:
    """The compiler below a toolkit's folder."""
    path = f"{root}/bin/nvcc"
    found = host.stat(path)
    return found if isinstance(found, (Unknown, Absent)) else known(path, "file", path)


def nvcc_on_path(scene: Scene) -> Fact[str]:
    """The nvcc that a shell would start."""
    environ = scene.host.environ()
    if not isinstance(environ, Known):
        return environ
    for folder in split_path(environ.value.get("PATH", "")):
        path = f"{folder}/nvcc"
        found = scene.host.stat(path) if folder.startswith(("/", "~")) else None
        if isinstance(found, Known) and found.value.kind == "file" and "x" in found.value.mode:
            real = value_or(scene.host.real(path), path)
            return known(path, "env", "PATH", f"leads to {real}" if real != path else "")
    return Absent(Source("env", "PATH", "no folder of it holds nvcc"))


def usr_local_cuda(scene: Scene) -> Fact[str]:
    """Where /usr/local/cuda leads, alternatives followed."""
    path = "/usr/local/cuda"
    real, link = scene.host.real(path), scene.host.link(path)
    if isinstance(real, Unknown) or not isinstance(link, Known):
        return real
    if isinstance(real, Absent):
        return Absent(Source("file", path, f"dangling link to {link.value}"))
    return known(real.value, "file", path, f"through {link.value}" if link.value.startswith("/etc/") else "")


def toolkits(scene: Scene) -> Fact[tuple[Toolkit, ...]]:
    """Every CUDA toolkit, or part of one, each once however many names lead to it."""
    found: dict[str, Toolkit] = {}
    for place in (*_system(scene), *_named(scene)):
        _add(scene.host, found, place)
    for toolkit in (*_conda(scene), *_wheels(scene)):
        found.setdefault(value_or(scene.host.real(toolkit.path), toolkit.path), toolkit)
    unseen = _unseen(scene)
    if unseen and not found:
        return Unknown(unseen)
    where = "/usr/local, /usr/lib, /opt, the environment's variables, conda and wheels"
    return Known(tuple(found.values()), Source("folder", where, unseen and f"not seen: {unseen}"))


def _unseen(scene: Scene) -> str:
    """Why the list may lack something; "" when every place answered."""
    answers: list[Fact[Any]] = [scene.host.list(folder, pattern) for folder, pattern, _ in _USUAL]
    answers += [scene.host.environ(), scene.facts.target.site_packages]
    return next((answer.reason for answer in answers if isinstance(answer, Unknown)), "")


def _add(host: Host, found: dict[str, Toolkit], place: _Place) -> None:
    real = value_or(host.real(place.path), "")
    if not real or real in _NO_TOOLKIT or real in found:
        return
    parts = value_or(host.list(place.path, _PARTS), ())
    version = toolkit_version(host, real)
    nvcc = nvcc_of(host, real)
    if place.kind == "distribution" and not isinstance(version, Known):
        header = header_version(host, "/usr/include")
        version = version if header is None else header
    if parts and (isinstance(version, Known) or isinstance(nvcc, Known)):
        found[real] = Toolkit(real, place.kind, version, nvcc)


def _system(scene: Scene) -> Iterator[_Place]:
    """The usual folders; a versioned name before the link that leads to it."""
    for folder, pattern, kind in _USUAL:
        names = [entry.name for entry in value_or(scene.host.list(folder, pattern), ())]
        for name in sorted(names, key=lambda n: (n == "cuda", [-number for number in numbers(n[5:])])):
            yield _Place(f"{folder}/{name}", kind)


def _named(scene: Scene) -> Iterator[_Place]:
    """The folders that variables, PATH and LD_LIBRARY_PATH name."""
    environ = value_or(scene.host.environ(), {})
    roots = [environ.get(name, "").rstrip("/") for name in ROOT_VARIABLES]
    on_path = nvcc_on_path(scene)
    if isinstance(on_path, Known):
        roots.append(value_or(scene.host.real(on_path.value), "").rpartition("/bin/")[0])
    for element in split_path(environ.get("LD_LIBRARY_PATH", ""), ":;"):
        roots.append(toolkit_root(element))
    prefix = conda_prefix(scene)
    for root in dict.fromkeys(roots):
        if root.startswith(("/", "~/")) and root not in (prefix, *_NO_TOOLKIT) and "/site-packages/" not in root:
            yield _Place(root, "system")


def toolkit_root(folder: str) -> str:
    """The toolkit that a bin or library folder belongs to by its name: /opt/cuda-12.4/lib64 → /opt/cuda-12.4, or ""."""
    match = re.match(
        r"(.*/[^/]*cuda[^/]*(?:/\d+(?:\.\d+)+)?)/(bin|lib64|lib|targets/[^/]+/lib|extras/CUPTI/lib64)$", folder, re.I
    )
    return match[1] if match else ""


def _conda(scene: Scene) -> Iterator[Toolkit]:
    prefix = conda_prefix(scene)
    if not prefix:
        return
    packages = scene.host.list(f"{prefix}/conda-meta", _CONDA)
    named = dict(conda_package(entry.name) for entry in value_or(packages, ()))
    nvcc = nvcc_of(scene.host, prefix)
    if not named and not isinstance(nvcc, Known):
        return
    for name in (
        "cuda-cudart",
        "cudatoolkit",
        "cuda-nvcc",
        "cuda-nvcc-tools",
        "cuda-toolkit",
        "cuda-runtime",
        "cuda-version",
    ):
        if name in named:
            version: Fact[str] = known(major_minor(named[name]), "package", f"{name} {named[name]}", "conda")
            break
    else:
        version = toolkit_version(scene.host, prefix)
    yield Toolkit(prefix, "conda", version, nvcc)


def conda_package(file: str) -> tuple[str, str]:
    """Name and version of a conda-meta file: cuda-cudart-12.4.127-0.json → cuda-cudart, 12.4.127."""
    parts = file.removesuffix(".json").rsplit("-", 2)
    return (parts[0], parts[1]) if len(parts) == 3 else (file, "")


def _wheels(scene: Scene) -> Iterator[Toolkit]:
    distributions = value_or(scene.facts.target.distributions, ())
    for site in site_packages(scene):
        for entry in value_or(scene.host.list(f"{site}/nvidia", r"(cu\d\d|cuda_nvcc|cuda_runtime)$"), ()):
            root = f"{site}/nvidia/{entry.name}"
            yield Toolkit(root, "wheel", _wheel_version(scene.host, root, distributions), nvcc_of(scene.host, root))


def _wheel_version(host: Host, root: str, distributions: tuple[Distribution, ...]) -> Fact[str]:
    """By the one distribution that brings it; by its headers where none or several do."""
    part = root.rpartition("/")[2]
    base = "nvidia-cuda-runtime" if part.startswith("cu1") else f"nvidia-{part.replace('_', '-')}-cu"
    owners = [d for d in distributions if d.name.startswith(base) and (base.endswith("-cu") or d.name == base)]
    if len(owners) == 1:
        return known(major_minor(owners[0].version), "package", f"{owners[0].name} {owners[0].version}", "pip")
    header = header_version(host, f"{root}/include")
    if header is not None:
        return header
    claim = " and ".join(f"{d.name} {d.version}" for d in owners)
    return Unknown(f"{root} has no CUDA headers, and {f'{claim} both bring it' if claim else 'no package tells'}")


LOOKS: tuple[Look, ...] = (
    Look("toolkits", "toolkits", toolkits),
    Look("toolkits", "nvcc_on_path", nvcc_on_path),
    Look("toolkits", "usr_local_cuda", usr_local_cuda),
)
