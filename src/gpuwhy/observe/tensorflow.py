"""TensorFlow: its build information in all its generations, and the names its loader puts together.

Up to 1.13 the libraries are NEEDED entries; from 1.14 on it opens them by names joined at run time from the versions it
was built with, so the names stand in no file. One missing name of the list, and it registers no GPU at all. Up to 1.3
there is no build_info, and those entries alone tell what it was built for.
"""

from __future__ import annotations

import re

from gpuwhy.knowledge.releases import compiled_cudnn
from gpuwhy.model.fact import Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Opened
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.observe.built import Built, Installed, assigned, cudnn_pin, gpu_code, needed, pinned, without_gpu

_BUILD_INFO = "python/platform/build_info.py"
_EXTENSION = "python/_pywrap_tensorflow_internal.so"
_OLDEST = "python/_pywrap_tensorflow.so"  # up to 1.0
_MINOR = {"1.15": "10.0", "2.0": "10.0", "2.2": "10.1"}  # build_info says only '10'; PTX ISA 6.3 and 6.4 tell
_FULL = ("10.0", "9.2", "9.1", "9.0", "8.0")  # up to CUDA 10.0 every library carries the toolkit's version
_NAMES = {  # CUDA version from which on: soname versions of cudart, cublas, cufft, curand, cusolver, cusparse
    "13.0": ("13", "13", "12", "10", "12", "12"),
    "12.0": ("12", "12", "11", "10", "11", "12"),
    "11.1": ("11.0", "11", "10", "10", "11", "11"),
    "11.0": ("11.0", "11", "10", "10", "10", "11"),
    "10.2": ("10.2", "10", "10", "10", "10", "10"),
    "10.1": ("10.1", "10", "10", "10", "10", "10"),
}


def read_tensorflow(package: Installed) -> Built:
    """What the build_info module says, and the names that the libraries of this installation open."""
    if not at_least(package.dist.version, "1.4"):
        return _by_needs(package)
    built = read_build(package, _EXTENSION)
    if value_or(built.gpu_build, False):
        return built._replace(opens=_opens(package, built.path, built.cuda, built.cudnn))
    return built


def _by_needs(package: Installed) -> Built:
    """A release without build_info: the CUDA libraries that its extension is linked with."""
    name = _EXTENSION if at_least(package.dist.version, "1.1") else _OLDEST
    extension = f"{package.path}/{name}"
    linked = needed(package.host, [extension])
    if isinstance(linked, Unknown):
        return Built(linked, path=package.path)
    names = {one.name.partition(".so.")[0]: one.name.partition(".so.")[2] for one in linked.need() or ()}
    if "libcudart" not in names:
        return without_gpu(Source("file", extension, "links no CUDA library"))._replace(path=package.path)
    source = Source("file", extension, f"NEEDED libcudart.so.{names['libcudart']}")
    cudnn = _linked_cudnn(package, extension, names)
    code = gpu_code(package.host, extension)
    plain = not at_least(package.dist.version, "1.0")
    opens = linked if name == _EXTENSION else _opened_at_import(linked, extension, names["libcudart"], cudnn, plain)
    return Built(Known(True, source), Known(names["libcudart"], source), cudnn, *code, opens, package.path)


def _linked_cudnn(package: Installed, extension: str, names: dict[str, str]) -> Fact[str]:
    """The number in the machine code of the published wheel, else the major that it is linked with."""
    compiled = _compiled_cudnn(package, False)
    if compiled is not None:
        return compiled
    if "libcudnn" not in names:
        return Unknown(f"{extension} does not name its cuDNN")
    return known(names["libcudnn"], "file", extension, f"NEEDED libcudnn.so.{names['libcudnn']}")


def _opened_at_import(
    linked: Fact[tuple[Opened, ...]], extension: str, cuda: str, cudnn: Fact[str], plain: bool
) -> Fact[tuple[Opened, ...]]:
    """Up to 1.0 the CUDA runtime is linked, and the rest opened by name in the import; by 0.12 without a version."""
    if isinstance(cudnn, Unknown):
        return cudnn
    names = [f"lib{one}.so.{cuda}" for one in ("cublas", "cufft", "curand")]
    names.append(f"libcudnn.so.{numbers(cudnn.need() or '0')[0]}")
    opened = [Opened(re.sub(r"\.so\..*", ".so", one) if plain else one, extension, False) for one in names]
    return known((*(linked.need() or ()), *opened), "file", extension, "NEEDED, and the names its loader makes")


def read_build(package: Installed, extension: str) -> Built:
    """What the build_info module of this installation says; never the distribution's name."""
    path, said = _build_info(package)
    if isinstance(said, Unknown):
        return Built(said, path=path)
    info = said.need() or {}
    source = Source("file", f"{path}/{_BUILD_INFO}", "is_cuda_build")
    if info.get("is_cuda_build") not in ("True", "False"):
        return Built(Unknown(f"{path}/{_BUILD_INFO} does not say is_cuda_build"), path=path)
    if info["is_cuda_build"] == "False":
        detail = "is_rocm_build = True" if info.get("is_rocm_build") == "True" else "is_cuda_build = False"
        return without_gpu(Source("file", source.where, detail))._replace(path=path)
    cuda, cudnn = _cuda(package, info, source), _cudnn(package, info, source)
    sass, ptx = _architectures(package, f"{path}/{extension}", info, source)
    return Built(Known(True, source), cuda, cudnn, sass, ptx, path=path)


def _build_info(package: Installed) -> tuple[str, Fact[dict[str, str]]]:
    """The package folder (tensorflow_core in 1.15 to 2.1) and the pairs of its build_info module."""
    for path in (package.path, f"{package.site}/tensorflow_core"):
        text = package.host.read(f"{path}/{_BUILD_INFO}")
        if isinstance(text, Known):
            return path, Known(assigned(text.value), text.source)
        if isinstance(text, Unknown):
            return path, text
    return package.path, Unknown(f"{package.path}: no {_BUILD_INFO}")


def _cuda(package: Installed, info: dict[str, str], source: Source) -> Fact[str]:
    said = info.get("cuda_version") or info.get("cuda_version_number") or ""
    windows = re.fullmatch(r"64_(\d+)(\d)", said)
    said = f"{windows.group(1)}.{windows.group(2)}" if windows else said
    if said == "10":
        release = major_minor(package.dist.version)
        if release not in _MINOR:
            return Unknown(f"{source.where} says CUDA 10 without a minor version")
        return known(_MINOR[release], "know", f"tensorflow {release}", "its PTX was written by that CUDA's compiler")
    if numbers(said):
        return known(major_minor(said), "file", source.where, f"cuda_version {said}")
    pin = pinned(package, r"nvidia-cuda-runtime(?:-cu\d+)?")
    return Known(major_minor(pin.value), pin.source) if isinstance(pin, Known) else pin


def _cudnn(package: Installed, info: dict[str, str], source: Source) -> Fact[str]:
    """What this release is known to compare with, or what METADATA pins, where its major is build_info's; else that."""
    raw = info.get("cudnn_version") or info.get("cudnn_version_number") or ""
    said = raw.removeprefix("64_")
    compiled = _compiled_cudnn(package, raw != said)
    if compiled is not None and numbers(said)[:1] == numbers(compiled.value)[:1]:
        return compiled
    pin = cudnn_pin(package)
    if isinstance(pin, Known) and numbers(said)[:1] in ((), numbers(pin.value)[:1]):
        return pin
    return known(said, "file", source.where, "cudnn_version") if numbers(said) else pin


def _compiled_cudnn(package: Installed, windows: bool) -> Known[str] | None:
    """The number in the machine code of the published wheel; nothing for other builds of the same version."""
    uname, installer = package.host.uname(), package.dist.installer
    if value_or(installer, "") in ("", "conda"):
        return None
    here = f"{uname.value.system.lower()}-{uname.value.machine}" if isinstance(uname, Known) else ""
    platform = "windows-x86_64" if windows and not here else here.replace("-AMD64", "-x86_64")
    if platform.startswith("windows") != windows:
        return None
    found = compiled_cudnn(package.dist.name, package.dist.version, platform)
    return Known(*found) if found else None


def _architectures(
    package: Installed, library: str, info: dict[str, str], source: Source
) -> tuple[Fact[tuple[str, ...]], Fact[tuple[str, ...]]]:
    """From cuda_compute_capabilities, where 'compute_80' and '8.0' stand for SASS and PTX; else from the binary."""
    listed = re.findall(r"""['"](?:(sm|compute)_)?(\d+)\.?(\d*[af]?)['"]""", info.get("cuda_compute_capabilities", ""))
    if not listed:
        return gpu_code(package.host, library)
    names = [(kind, major + minor) for kind, major, minor in listed]
    where = Source("file", source.where, "cuda_compute_capabilities")
    sass = dict.fromkeys(f"sm_{arch}" for _, arch in names)
    ptx = dict.fromkeys(f"compute_{arch}" for kind, arch in names if kind != "sm")
    return Known(tuple(sass), where), Known(tuple(ptx), where)


def _opens(package: Installed, path: str, cuda: Fact[str], cudnn: Fact[str]) -> Fact[tuple[Opened, ...]]:
    """NEEDED of the framework library where it has CUDA entries (up to 1.13), else the names it opens at run time."""
    listed = value_or(package.host.list(path, r"libtensorflow_framework\.so(\.\d+)?$"), ())
    extension = f"{path}/{_EXTENSION}"
    framework = f"{path}/{listed[-1].name}" if listed else extension
    linked = needed(package.host, [framework], [extension])
    if isinstance(linked, Unknown):
        return linked
    if linked.need():  # the import loads both files, and fails without any of these
        every = tuple(Opened(one.name, one.by, False) for one in linked.need() or ())
        return known(every, "file", f"{framework}, {extension}", "NEEDED")
    for built in (cuda, cudnn):
        if isinstance(built, Unknown):
            return built
    own = at_least(package.dist.version, "2.4") and not at_least(package.dist.version, "2.11")
    caller = extension if own else framework  # 2.4 to 2.10: its own copy of the opening code goes first
    return _opened_by_name(package, caller, cuda.need() or "", cudnn.need() or "")


def _opened_by_name(package: Installed, caller: str, cuda: str, cudnn: str) -> Fact[tuple[Opened, ...]]:
    release = package.dist.version
    versions = next((v for floor, v in _NAMES.items() if at_least(cuda, floor)), (cuda,) * 6)
    if versions == (cuda,) * 6 and cuda not in _FULL:
        return Unknown(f"which libraries a build for CUDA {cuda} opens is not known")
    cudart, cublas, cufft, curand, cusolver, cusparse = versions
    names = [f"libcudart.so.{cudart}", f"libcublas.so.{cublas}"]
    names += [f"libcublasLt.so.{cublas}"] if at_least(release, "2.4") else []
    names += [f"libcufft.so.{cufft}"]
    names += [f"libcurand.so.{curand}"] if not at_least(release, "2.14") else []
    names += [f"libcusolver.so.{cusolver}", f"libcusparse.so.{cusparse}", f"libcudnn.so.{numbers(cudnn)[0]}"]
    found = [Opened(name, caller, False) for name in names]
    if at_least(release, "2.21") and isinstance(pinned(package, r"nvidia-nccl-cu\d+"), Known):  # before: built in
        found.append(Opened("libnccl.so.2", caller, True))
    return known(tuple(found), "know", f"tensorflow {release}", f"the names its loader makes for CUDA {cuda}")
