"""TensorFlow: its build information in all generations, and the names that its loader makes.

Up to 1.13 the libraries are NEEDED entries; from 1.14 on it opens them by names joined at run time
from the versions it was built with, so that the names stand in no file. One missing name of the
list, and it registers no GPU. Releases before 1.4 have no build_info and are not read.
"""

import re

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.facts.frameworks import Opened
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.releases import compiled_cudnn, find
from gpuwhy.look.frameworks.builds import (
    Built,
    Installed,
    Opens,
    assigned,
    cudnn_pin,
    gpu_code,
    needed,
    pinned,
    without_gpu,
)

TENSORFLOW = (
    r"tensorflow(-(gpu|cpu|intel|directml|rocm|cpu-aws|macos|aarch64))?"
    r"|tf-nightly(-(gpu|cpu|intel))?"
)
_BUILD_INFO = "python/platform/build_info.py"
_EXTENSION = "python/_pywrap_tensorflow_internal"
_WINDOWS = "windows-x86_64"
_MINOR = {"1.15": "10.0", "2.0": "10.0", "2.2": "10.1"}
"""build_info says only '10'; the PTX ISA in the binaries (6.3 and 6.4) tells the rest."""
_PARTS = ("cudart", "cublas", "cufft", "curand", "cusolver", "cusparse")
_NAMES = {  # CUDA version from which on: the version in the name of each part
    "13.0": ("13", "13", "12", "10", "12", "12"),
    "12.0": ("12", "12", "11", "10", "11", "12"),
    "11.1": ("11.0", "11", "10", "10", "11", "11"),
    "11.0": ("11.0", "11", "10", "10", "10", "11"),
    "10.2": ("10.2", "10", "10", "10", "10", "10"),
    "10.1": ("10.1", "10", "10", "10", "10", "10"),
}
_FULL = ("10.0", "9.2", "9.1", "9.0", "8.0")
"""Up to CUDA 10.0 the name of each library carries the toolkit's version."""


def read_tensorflow(one: Installed) -> Built:
    """What the build_info module states, and the names that this installation opens.

    On Windows the published wheel's row tells the GPU code of its DLLs.
    """
    extension = f"{_EXTENSION}.{'pyd' if one.windows else 'so'}"
    built = _read_build(one, extension)
    if not value_or(built.gpu_build, False):
        return built
    caller = f"{built.path}/{extension}"
    if not one.windows:
        return built._replace(opens=_opens(one, built, caller))
    opens = needed(one, [caller])
    if not value_or(opens, ()):
        opens = _opened_by_name(one, caller, built.built_for_cuda, built.built_for_cudnn)
    row = find(one.package.name, one.package.version, _WINDOWS)
    if row is not None and isinstance(row.sass, tuple) and isinstance(row.ptx, tuple) and row.sass:
        where = Source("know", row.file, f"the GPU code in it; sha256 {row.sha256[:12]}…")
        built = built._replace(sass=Known(row.sass, where), ptx=Known(row.ptx, where))
    return built._replace(opens=opens)


def _read_build(one: Installed, extension: str) -> Built:
    """What the build_info module of this installation states; never the package's name.

    Its folder is tensorflow_core in 1.15 to 2.1.
    """
    folders = (one.path, f"{one.site}/tensorflow_core")
    found = ((path, one.machine.read(f"{path}/{_BUILD_INFO}")) for path in folders)
    said = next((pair for pair in found if not isinstance(pair[1], Absent)), None)
    path, text = said or (one.path, Unknown(f"{one.path}: no {_BUILD_INFO}"))
    if not isinstance(text, Known):
        return Built(or_unknown(text, f"{path}: no {_BUILD_INFO}"), path=path)
    info = assigned(text.value)
    source = Source("file", f"{path}/{_BUILD_INFO}", "is_cuda_build")
    if info.get("is_cuda_build") not in ("True", "False"):
        return Built(Unknown(f"{path}/{_BUILD_INFO} does not state is_cuda_build"), path=path)
    if info["is_cuda_build"] == "False":
        rocm = info.get("is_rocm_build") == "True"
        detail = "is_rocm_build = True" if rocm else "is_cuda_build = False"
        return without_gpu("file", source.where, detail, path)
    cuda, cudnn = _cuda(one, info, source), _cudnn(one, info, source)
    code = _architectures(one, f"{path}/{extension}", info, source)
    return Built(Known(True, source), cuda, cudnn, *code, path=path)


def _cuda(one: Installed, info: dict[str, str], source: Source) -> Fact[str]:
    said = info.get("cuda_version") or info.get("cuda_version_number") or ""
    windows = re.fullmatch(r"64_(\d+)(\d)", said)
    said = f"{windows[1]}.{windows[2]}" if windows else said
    release = major_minor(one.package.version)
    if said == "10" and release not in _MINOR:
        return Unknown(f"{source.where} states CUDA 10 without a minor version")
    if said == "10":
        detail = "its PTX was written by that CUDA's compiler"
        return known(_MINOR[release], "know", f"tensorflow {release}", detail)
    if numbers(said):
        return known(major_minor(said), "file", source.where, f"cuda_version {said}")
    pin = pinned(one.package, r"nvidia-cuda-runtime(?:-cu\d+)?")
    return Known(major_minor(pin.value), pin.source) if isinstance(pin, Known) else pin


def _cudnn(one: Installed, info: dict[str, str], source: Source) -> Fact[str]:
    """What the published wheel's machine code compares with, or what metadata pins, where its major
    is build_info's; nothing is published of other builds of a version.
    """
    raw = info.get("cudnn_version") or info.get("cudnn_version_number") or ""
    said, windows = raw.removeprefix("64_"), raw.startswith("64_")
    uname = one.machine.uname()
    here = _WINDOWS if windows else ""
    if isinstance(uname, Known):
        here = f"{uname.value.system.lower()}-{uname.value.machine}".replace("-AMD64", "-x86_64")
    row = None
    if one.package.installer not in ("", "conda") and here.startswith("windows") == windows:
        row = compiled_cudnn(one.package.name, one.package.version, here)
    if row and numbers(said)[:1] == numbers(row[0])[:1]:
        return known(row[0], "know", row[1].where, row[1].detail)
    pin = cudnn_pin(one.package)
    if isinstance(pin, Known) and numbers(said)[:1] in ((), numbers(pin.value)[:1]):
        return pin
    return known(said, "file", source.where, "cudnn_version") if numbers(said) else pin


def _architectures(
    one: Installed, library: str, info: dict[str, str], source: Source
) -> tuple[Fact[tuple[str, ...]], Fact[tuple[str, ...]]]:
    """By cuda_compute_capabilities, where compute_80 and 8.0 stand for both; else the binary."""
    text = info.get("cuda_compute_capabilities", "")
    listed = re.findall(r"""['"](?:(sm|compute)_)?(\d+)\.?(\d*[af]?)['"]""", text)
    if not listed:
        return gpu_code(one.machine, library)
    names = [(kind, major + minor) for kind, major, minor in listed]
    where = Source("file", source.where, "cuda_compute_capabilities")
    sass = dict.fromkeys(f"sm_{arch}" for _, arch in names)
    ptx = dict.fromkeys(f"compute_{arch}" for kind, arch in names if kind != "sm")
    return Known(tuple(sass), where), Known(tuple(ptx), where)


def _opens(one: Installed, built: Built, extension: str) -> Opens:
    """NEEDED where it has CUDA entries (up to 1.13), else the names opened at run time."""
    found = one.names(built.path, r"libtensorflow_framework\.so(\.\d+)?$")
    framework = found[-1] if found else extension
    linked = needed(one, [framework], [extension])
    if not isinstance(linked, Known):
        return linked
    if linked.value:  # the import loads both files, and fails without any of these
        every = tuple(Opened(opened.name, opened.by, False) for opened in linked.value)
        return known(every, "file", f"{framework}, {extension}", "NEEDED")
    release = one.package.version
    own = at_least(release, "2.4") and not at_least(release, "2.11")
    caller = extension if own else framework  # 2.4 to 2.10: its own copy of the code goes first
    return _opened_by_name(one, caller, built.built_for_cuda, built.built_for_cudnn)


def _opened_by_name(one: Installed, caller: str, built: Fact[str], cudnn: Fact[str]) -> Opens:
    for fact in (built, cudnn):
        if isinstance(fact, Unknown):
            return fact
    release, cuda = one.package.version, value_or(built, "")
    names = names_opened(release, cuda, value_or(cudnn, ""), one.windows)
    if not names:
        return Unknown(f"which libraries a build for CUDA {cuda} opens is not known")
    found = [Opened(name, caller, False) for name in names]
    nccl = isinstance(pinned(one.package, r"nvidia-nccl-cu\d+"), Known)
    if at_least(release, "2.21") and nccl:  # before: built in
        found.append(Opened("libnccl.so.2", caller, True))
    where = f"tensorflow {release}{' on Windows' if one.windows else ''}"
    return known(tuple(found), "know", where, f"the names its loader makes for CUDA {cuda}")


def names_opened(release: str, cuda: str, cudnn: str, windows: bool) -> tuple[str, ...]:
    """The libraries that TensorFlow from 1.14 on opens by name; () where that is not known."""
    rows = (row for floor, row in _NAMES.items() if at_least(cuda, floor))
    row: tuple[str, ...] | None = next(rows, None)
    if row is None and cuda in _FULL:
        row = (cuda,) * len(_PARTS)
    if row is None or not numbers(cudnn):
        return ()
    versions = dict(zip(_PARTS, row, strict=True))
    names = ["cudart", "cublas"]
    names += ["cublasLt"] if at_least(release, "2.4") else []
    names += ["cufft"]
    names += [] if at_least(release, "2.14") and not windows else ["curand"]
    names += ["cusolver", "cusparse"]
    pairs = [(name, versions[name.removesuffix("Lt")]) for name in names]
    pairs.append(("cudnn", str(numbers(cudnn)[0])))
    if windows:
        return tuple(f"{name}64_{version.replace('.', '')}.dll" for name, version in pairs)
    return tuple(f"lib{name}.so.{version}" for name, version in pairs)
