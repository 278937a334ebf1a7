"""Frameworks on Windows: the same build-info modules as on Linux, and DLLs in place of shared libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuwhy.host.base import Host
from gpuwhy.knowledge.libraries import parse
from gpuwhy.knowledge.releases import find
from gpuwhy.model.fact import Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.model.facts import Framework, Opened
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.observe.built import Built, Installed, assigned, cudnn_pin, gpu_code, without_gpu
from gpuwhy.observe.frameworks import frameworks_of
from gpuwhy.observe.others import by_names, read_ctranslate2, read_numba
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.tensorflow import read_build

PLATFORM = "windows-x86_64"
_EXTENSION = "python/_pywrap_tensorflow_internal.pyd"
_NAMES = {  # CUDA version from which on: numbers in the names of cudart, cublas, cufft, curand, cusolver, cusparse
    "11.1": ("110", "11", "10", "10", "11", "11"),
    "11.0": ("110", "11", "10", "10", "10", "11"),
    "10.2": ("102", "10", "10", "10", "10", "10"),
    "10.1": ("101", "10", "10", "10", "10", "10"),
}


def frameworks(scene: Scene) -> Fact[tuple[Framework, ...]]:
    """Every framework whose module folder is there, with what it was built for."""
    return frameworks_of(scene, READ, needed)


def needed(host: Host, files: Iterable[str], later: Iterable[str] = ()) -> Fact[tuple[Opened, ...]]:
    """The CUDA libraries that some files import, each with the first file that asks for it; `later` need not load."""
    found: dict[str, Opened] = {}
    seen, may_miss = [], set(later)
    for path in (*files, *sorted(may_miss)):
        pe = host.pe(path)
        if isinstance(pe, Unknown):
            return pe
        if isinstance(pe, Known):
            seen.append(path)
            for names, late in ((pe.value.imports, path in may_miss), (pe.value.delayed, True)):
                found.update({n: Opened(n, path, late) for n in names if parse(n) and n not in found})
    return known(tuple(found.values()), "file", ", ".join(seen), "imports") if seen else Unknown("no library to read")


# ---------------------------------------------------------------- TensorFlow


def _tensorflow(package: Installed) -> Built:
    """build_info tells as on Linux; the published wheel's row tells what its machine code compares and opens."""
    built = read_build(package, _EXTENSION)
    if isinstance(built.gpu_build, Unknown):
        return _by_imports(package, built)
    if not isinstance(built.gpu_build, Known) or not built.gpu_build.value:
        return built
    row = find(package.dist.name, package.dist.version, PLATFORM)
    opens = _listed(package, f"{built.path}/{_EXTENSION}", built)
    if row is not None and isinstance(row.sass, tuple) and isinstance(row.ptx, tuple) and row.sass:
        where = Source("know", row.file, f"the GPU code in it; sha256 {row.sha256[:12]}…")
        return built._replace(sass=Known(row.sass, where), ptx=Known(row.ptx, where), opens=opens)
    return built._replace(opens=opens)


def _by_imports(package: Installed, built: Built) -> Built:
    """Releases before build_info (up to 1.3) import CUDA's DLLs; one without any is a CPU build."""
    extension = f"{built.path}/{_EXTENSION}"
    linked = needed(package.host, [extension])
    if not isinstance(linked, Known):
        return built
    if not linked.value:
        return without_gpu(Source("file", extension, "imports no CUDA library"))._replace(path=built.path)
    cudnn = _cudnn_by_names(linked)
    return built._replace(gpu_build=known(True, "file", extension), cuda=by_names(linked), cudnn=cudnn, opens=linked)


def _listed(package: Installed, caller: str, built: Built) -> Fact[tuple[Opened, ...]]:
    """The imported names (up to 1.13), else the names that its loader makes from the versions it was built with."""
    linked = needed(package.host, [caller])
    if isinstance(linked, Known) and linked.value:
        return _with_runtime(package, built, linked)
    for part in (built.cuda, built.cudnn):
        if not isinstance(part, Known):
            return or_unknown(part, "its CUDA or cuDNN version is not known")
    names = names_opened(package.dist.version, value_or(built.cuda, ""), value_or(built.cudnn, ""))
    if not names:
        return Unknown(f"which libraries a build for CUDA {value_or(built.cuda, '')} opens is not known")
    detail = f"the names its loader makes for CUDA {value_or(built.cuda, '')}"
    opened = tuple(Opened(name, caller, False) for name in names)
    return known(opened, "know", f"tensorflow {package.dist.version} on Windows", detail)


def _with_runtime(package: Installed, built: Built, linked: Known[tuple[Opened, ...]]) -> Fact[tuple[Opened, ...]]:
    """1.4 to 1.10 carry the runtime inside; their self_check asks for its DLL all the same, and stops without it."""
    if any(one.name.lower().startswith("cudart") for one in linked.value) or not isinstance(built.cuda, Known):
        return linked
    check = f"{built.path}/python/platform/self_check.py"
    asks = package.host.lines(check, "cudart_dll_name")
    if not isinstance(asks, Known) or not asks.value:
        return linked
    name = f"cudart64_{''.join(map(str, numbers(built.cuda.value)[:2]))}.dll"
    return Known((Opened(name, check, False), *linked.value), linked.source)


def names_opened(release: str, cuda: str, cudnn: str) -> tuple[str, ...]:
    """The DLLs that TensorFlow 1.14 to 2.10 opens by name; () for a CUDA that no release was built for."""
    numbered = next((row for floor, row in _NAMES.items() if at_least(cuda, floor)), None)
    if numbered is None:
        digits = "".join(map(str, numbers(cuda)[:2]))
        numbered = (digits,) * 6 if cuda in ("10.0", "9.2", "9.0", "8.0") else None
    if numbered is None or not numbers(cudnn):
        return ()
    cudart, cublas, cufft, curand, cusolver, cusparse = numbered
    light = (f"cublasLt64_{cublas}.dll",) if at_least(release, "2.4") else ()
    return (
        f"cudart64_{cudart}.dll", f"cublas64_{cublas}.dll", *light, f"cufft64_{cufft}.dll", f"curand64_{curand}.dll",
        f"cusolver64_{cusolver}.dll", f"cusparse64_{cusparse}.dll", f"cudnn64_{numbers(cudnn)[0]}.dll",
    )  # fmt: skip


# ---------------------------------------------------------------- PyTorch, ONNX Runtime


def _torch(package: Installed) -> Built:
    """torch/version.py says the CUDA version; torch_cuda.dll in torch/lib what it imports and carries."""
    file = f"{package.path}/version.py"
    text = package.host.read(file)
    if not isinstance(text, Known):
        return Built(or_unknown(text, f"{package.path}: no version.py"))
    said = assigned(text.value)
    if said.get("cuda", "None") == "None":
        return (
            without_gpu(Source("file", file, "cuda = None")) if "cuda" in said else Built(Unknown(f"{file}: no cuda"))
        )
    source, folder = Source("file", file, "cuda"), f"{package.path}/lib"
    listed = value_or(package.host.list(folder, r"torch_cuda\w*\.dll$"), ())
    names = [entry.name for entry in listed if "linalg" not in entry.name]
    opens = needed(package.host, [f"{folder}/{name}" for name in names])
    main = next((name for name in ("torch_cuda.dll", "torch_cuda_cu.dll") if name in names), "torch_cuda.dll")
    sass, ptx = gpu_code(package.host, f"{folder}/{main}")
    return Built(Known(True, source), Known(major_minor(said["cuda"]), source), cudnn_pin(package), sass, ptx, opens)


def _onnxruntime(package: Installed) -> Built:
    provider = f"{package.path}/capi/onnxruntime_providers_cuda.dll"
    there = package.host.stat(provider)
    if not isinstance(there, Known):
        none = without_gpu(Source("file", provider, "not there"))
        return Built(there) if isinstance(there, Unknown) else none
    info = f"{package.path}/capi/build_and_package_info.py"
    said = assigned(value_or(package.host.read(info), "")).get("cuda_version", "")
    opens = needed(package.host, [provider])
    cuda: Fact[str] = known(major_minor(said), "file", info) if numbers(said) else _by_names(opens)
    sass, ptx = gpu_code(package.host, provider)
    pin = cudnn_pin(package)
    cudnn = pin if isinstance(pin, Known) else _cudnn_by_names(opens)
    return Built(known(True, "file", provider), cuda, cudnn, sass, ptx, opens)


def _cudnn_by_names(opens: Fact[tuple[Opened, ...]]) -> Fact[str]:
    for opened in value_or(opens, ()):
        found = re.match(r"(?i)cudnn64_(\d+)\.dll", opened.name)
        if found:
            return known(found[1], "file", opened.by, f"imports {opened.name}")
    return Unknown("no library name tells the cuDNN version")


def _by_names(opens: Fact[tuple[Opened, ...]]) -> Fact[str]:
    for opened in value_or(opens, ()):
        found = re.match(r"(?i)cublas(?:Lt)?64_(\d+)\.dll", opened.name)
        if found:
            return known(found[1], "file", opened.by, f"imports {opened.name}")
    return Unknown("no library name tells the CUDA version")


def _cupy(package: Installed) -> Built:
    named = re.fullmatch(r"cupy-cuda(\d+)x?", package.dist.name)
    source = Source("package", package.dist.name)
    cuda: Fact[str] = Unknown("its package name does not tell its CUDA")
    if named:
        digits = named[1]
        cuda = Known(f"{digits[:2]}.{digits[2:]}".rstrip("."), source)
    opens = needed(package.host, _modules(package, _CUPY_AT_ONCE), _modules(package, _CUPY_LATER))
    return Built(Known(True, source), cuda, opens=opens)


_CUPY_AT_ONCE = r"(runtime|nvrtc|jitify|cublas)\..*pyd$"
_CUPY_LATER = r"(cufft|curand|cusolver|cusparse|cudnn|cutensor)\..*pyd$"


def _modules(package: Installed, pattern: str) -> list[str]:
    places = [f"{package.site}/{one}" for one in ("cupy_backends/cuda/api", "cupy_backends/cuda/libs", "cupy/cuda")]
    return [f"{place}/{e.name}" for place in places for e in value_or(package.host.list(place, pattern), ())]


READ = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "cupy": _cupy,
    "ctranslate2": read_ctranslate2(needed, "ctranslate2", r"ctranslate2\.dll$"),
    "numba": read_numba("nvvm64_40_0.dll"),
}
"""The readers that differ on Windows; the others find no shared library and say so."""
