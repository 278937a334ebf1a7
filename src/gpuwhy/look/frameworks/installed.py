"""The installed frameworks: rows of one walker, each with the reader of its own files.

Everything is read from build-info and version modules as text, metadata and binaries.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import (
    Absent,
    Fact,
    Known,
    Source,
    Unknown,
    absent,
    known,
    or_unknown,
    value_or,
)
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Opened
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.files import exists
from gpuwhy.look.frameworks.builds import (
    COMPILES,
    NO_CUDNN,
    Built,
    Installed,
    assigned,
    cuda_by_names,
    cudnn_pin,
    dotted,
    gpu_code,
    needed,
    without_gpu,
)
from gpuwhy.look.frameworks.tensorflow import TENSORFLOW, read_tensorflow
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine


class Kind(NamedTuple):
    """A framework: the packages that install it, its module, and the reader of its build."""

    name: str
    title: str
    packages: str
    module: str
    read: Callable[[Installed], Built]


def installed(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Framework, ...]]:
    """Every framework whose module folder is there, with what it was built for."""
    from gpuwhy.look.frameworks.others import others

    packages = facts.environment.packages.need()
    if packages is None:
        return absent("env", "PATH", "no Python")
    every = tuple(one for one in packages if not one.second)
    windows = value_or(facts.system.os, "") == "windows"
    found: list[Framework] = []
    for kind in KINDS:
        one = _of_kind(machine, kind, every, windows)
        if one and all(other.name != kind.name for other in found):
            found.append(framework(kind.name, kind.title, one.package, one.path, kind.read(one)))
    found += others(machine, every, windows, found)
    return known(tuple(found), "folder", ", ".join(dict.fromkeys(one.site for one in every)))


def _of_kind(
    machine: Machine, kind: Kind, every: tuple[Package, ...], windows: bool
) -> Installed | None:
    """The first package of a kind that has its module folder beside its metadata."""
    for one in every:
        if re.fullmatch(kind.packages, one.name) and exists(machine, f"{one.site}/{kind.module}"):
            return Installed(machine, one, f"{one.site}/{kind.module}", every, windows)
    return None


def framework(name: str, title: str, package: Package, path: str, built: Built) -> Framework:
    """The record of a framework."""
    return Framework(
        name=name,
        title=title,
        package=package.name,
        version=package.version,
        path=built.path or path,
        gpu_build=built.gpu_build,
        built_for_cuda=built.cuda,
        built_for_cudnn=built.cudnn,
        sass=built.sass,
        ptx=built.ptx,
        opens=built.opens,
    )


# ------------------------------------------------------------ PyTorch

_TORCH_CUDA = (
    *("libtorch_cuda.so", "libtorch_cuda_cu.so", "libtorch.so", "libcaffe2_gpu.so"),
    *("torch_cuda.dll", "torch_cuda_cu.dll"),
)
"""The library with the GPU code, newest layout first."""
_TORCH_LATER = ("libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so")  # opened at their first use


def _torch(one: Installed) -> Built:
    """torch/version.py names the CUDA version; the libraries in torch/lib what they need."""
    file = f"{one.path}/version.py"
    text = one.machine.read(file)
    if not isinstance(text, Known):
        return Built(or_unknown(text, f"{one.path}: no version.py"))
    said = assigned(text.value)
    if "cuda" not in said:
        return Built(Unknown(f"{file} does not name `cuda`"))
    if said["cuda"] == "None":
        rocm = said.get("hip", "None")
        detail = "cuda = None" if rocm == "None" else f"hip = {rocm}: a ROCm build"
        return without_gpu(Source("file", file, detail))
    source = Source("file", file, "cuda")
    main, opens = _torch_libraries(one)
    code = gpu_code(one.machine, main)
    cuda = Known(major_minor(said["cuda"]), source)
    return Built(Known(True, source), cuda, cudnn_pin(one.package), *code, opens)


def _torch_libraries(one: Installed) -> tuple[str, Fact[tuple[Opened, ...]]]:
    """The library with the GPU code, and what all of them need: at once, or when first used."""
    folder = f"{one.path}/lib"
    match = r"torch_cuda\w*\.dll$" if one.windows else r"lib(torch|c10|caffe2)\w*\.so$"
    found = one.names(folder, match)
    first = "torch_cuda.dll" if one.windows else _TORCH_CUDA[0]
    main = next(
        (f"{folder}/{n}" for n in _TORCH_CUDA if f"{folder}/{n}" in found), f"{folder}/{first}"
    )
    later = [path for path in found if path.rpartition("/")[2] in _TORCH_LATER]
    rest = [path for path in found if path not in (main, f"{folder}/libc10.so", *later)]
    if one.windows:
        return main, needed(one, [path for path in found if "linalg" not in path])
    return main, needed(one, [main, *rest], later)


# ------------------------------------------------------------ JAX

_JAX_PLUGIN = r"jax-cuda(\d+)-(?:plugin|pjrt)"  # the client alone sees the GPU, without kernels
_JAX_OPENS = {
    "11": "cudart.so.11.0 cublas.so.11 cublasLt.so.11 cufft.so.10 cusolver.so.11 cusparse.so.11"
    " cudnn.so.8",
    "12": "cudart.so.12 cublas.so.12 cublasLt.so.12 cufft.so.11 cusolver.so.11 cusparse.so.12"
    " cudnn.so.9",
    "13": "cudart.so.13 cublas.so.13 cublasLt.so.13 cufft.so.12 cusolver.so.12 cusparse.so.12"
    " cudnn.so.9",
}
_JAX_MAY_OPEN = "cupti.so.{0} nvJitLink.so.{0} nvrtc.so.{0} nccl.so.2"


def _jax(one: Installed) -> Built:
    """A CUDA plugin brings the GPU, or a jaxlib built with CUDA: older ones, and conda's."""
    for package in sorted(one.others, key=lambda other: other.name.endswith("-pjrt")):
        plugin = re.fullmatch(_JAX_PLUGIN, package.name)
        if plugin:
            return _jax_plugin(one, package, plugin[1])
    jaxlib = next((other for other in one.others if other.name == "jaxlib"), None)
    if jaxlib is None:
        return Built(Unknown("jaxlib is not installed"))
    local = re.search(r"\+cuda(\d+)(?:\.cudnn(\d)(\d+))?", jaxlib.version)
    source = Source("package", str(jaxlib.owner))
    if local:
        cudnn: Fact[str] = Unknown(f"{source} does not state it")
        if local[2]:
            cudnn = Known(f"{local[2]}.{local[3]}", source)
        return Built(Known(True, source), Known(dotted(local[1]), source), cudnn)
    listed = one.machine.list(f"{jaxlib.site}/jaxlib/cuda", r".*\.so$")
    if isinstance(listed, Known) and listed.value:
        return Built(Known(True, listed.source))
    detail = "a CPU build, and no jax-cuda plugin is installed"
    return without_gpu(Source("package", source.where, detail))


def _jax_plugin(one: Installed, package: Package, major: str) -> Built:
    source = Source("package", str(package.owner))
    by = f"{package.site}/jax_plugins/xla_cuda{major}/xla_cuda_plugin.so"
    code = gpu_code(one.machine, f"{package.site}/jax_cuda{major}_plugin/_prng.so")
    opens: Fact[tuple[Opened, ...]] = Unknown(f"which libraries {source} opens is not known")
    if isinstance(one.machine.stat(by), Absent):
        opens = Unknown(f"{by}, which opens them, is missing: jax-cuda{major}-pjrt brings it")
    elif major in _JAX_OPENS:
        linked = value_or(needed(one, [by]), ())
        names = {f"lib{name}": True for name in _JAX_MAY_OPEN.format(major).split()}
        names |= {f"lib{name}": False for name in _JAX_OPENS[major].split()}
        names |= {opened.name: False for opened in linked}
        ordered = sorted(names.items(), key=lambda pair: pair[1])
        found = tuple(Opened(name, by, optional) for name, optional in ordered)
        opens = known(found, "know", str(source), "the names it opens")
    return Built(Known(True, source), Known(major, source), cudnn_pin(package), *code, opens)


# ------------------------------------------------------------ ONNX Runtime


def _onnxruntime(one: Installed) -> Built:
    """The CUDA provider decides, unless build_and_package_info is a CPU build's own."""
    name = "onnxruntime_providers_cuda.dll" if one.windows else "libonnxruntime_providers_cuda.so"
    provider = f"{one.path}/capi/{name}"
    there = one.machine.stat(provider)
    if isinstance(there, Unknown):
        return Built(there)
    info = f"{one.path}/capi/build_and_package_info.py"
    said = assigned(one.text(info))
    cuda = said.get("cuda_version", "")
    if said.get("package_name") == "onnxruntime" and (isinstance(there, Absent) or not cuda):
        # a provider beside it is what another build left behind
        return without_gpu(Source("file", info, "package_name = 'onnxruntime'"))
    if isinstance(there, Absent) and not one.lists(name):
        return without_gpu(Source("file", provider, "not there"))
    lost = Unknown(f"{provider} is missing")
    built: Fact[str] = known(major_minor(cuda), "file", info) if numbers(cuda) else lost
    cudnn = cudnn_pin(one.package)
    if isinstance(there, Absent):  # a GPU build that has lost the file
        source = Source("file", f"{one.package.location}/RECORD", "lists the CUDA provider")
        return Built(Known(True, source), built, cudnn, lost, lost, lost)
    opens = needed(one, [provider])
    if isinstance(opens, Known) and not opens.value and not one.windows:
        opens = _preloaded(one, provider)
    code = gpu_code(one.machine, provider)
    if one.windows and not isinstance(cudnn, Known):
        cudnn = cudnn_by_names(opens)
    with_cudnn = opens if one.windows else _with_cudnn(one, provider, opens)
    if isinstance(built, Unknown):
        built = cuda_by_names(opens)
    return Built(known(True, "file", provider), built, cudnn, *code, with_cudnn)


def _with_cudnn(
    one: Installed, provider: str, opens: Fact[tuple[Opened, ...]]
) -> Fact[tuple[Opened, ...]]:
    """Newer providers do not link cuDNN and open it by name, where their own text names it."""
    if not isinstance(opens, Known) or not opens.value:
        return opens
    if any("cudnn" in other.name for other in opens.value):
        return opens
    lines = value_or(one.machine.lines(f"{one.path}/__init__.py", '"libcudnn.so.'), ())
    names = dict.fromkeys(re.findall(r'"(libcudnn\.so\.\d+)"', "\n".join(lines)))
    more = (Opened(name, provider, True) for name in names)
    return Known((*opens.value, *more), opens.source)


def _preloaded(one: Installed, provider: str) -> Fact[tuple[Opened, ...]]:
    """Up to 1.15 the NEEDED list is stripped, and _ld_preload.py opens the libraries."""
    file = f"{one.path}/capi/_ld_preload.py"
    text = one.machine.read(file)
    if not isinstance(text, Known):
        return known((), "file", provider, "NEEDED")
    names = dict.fromkeys(re.findall(r"lib(?:cu|nv)\w+\.so[.\d]*", text.value))
    names.pop("libcuda.so.1", None)
    return known(tuple(Opened(name, provider, False) for name in names), "file", file)


def cudnn_by_names(opens: Fact[tuple[Opened, ...]]) -> Fact[str]:
    """The cuDNN major version that a DLL's name tells."""
    for one in value_or(opens, ()):
        found = re.match(r"(?i)cudnn64_(\d+)\.dll", one.name)
        if found:
            return known(found[1], "file", one.by, f"imports {one.name}")
    return Unknown("no library name tells the cuDNN version")


# ------------------------------------------------------------ CuPy

_CUPY_AT_ONCE = r"(runtime|nvrtc|jitify|cublas)\..*(so|pyd)$"
_CUPY_LATER = r"(nvtx|cufft|curand|cusolver|cusparse|cudnn|nccl|cutensor)\..*(so|pyd)$"
_CUPY_FOLDERS = ("cupy_backends/cuda/api", "cupy_backends/cuda/libs", "cupy/cuda")


def _cupy(one: Installed) -> Built:
    """cupy/.data/_wheel.json names the CUDA of the wheel; the extensions name their libraries."""
    file = f"{one.path}/.data/_wheel.json"
    said = one.json(file)
    named = re.fullmatch(r"cupy-cuda(\d+)x?", one.package.name)
    cuda: Fact[str] = Unknown(f"{file} does not state the CUDA version")
    version = numbers(str(said.get("cuda", "")))
    if version:
        cuda = known(".".join(map(str, version[:2])), "file", file)
    elif named:
        cuda = known(dotted(named[1]), "package", one.package.name)
    if "rocm" in one.package.name:
        return without_gpu(Source("package", one.package.name, "a ROCm build"))
    places = [f"{one.site}/{folder}" for folder in _CUPY_FOLDERS]
    first, later = (
        [path for place in places for path in one.names(place, match)]
        for match in (_CUPY_AT_ONCE, _CUPY_LATER)
    )
    cudnn = said.get("cudnn")
    built = cudnn.get("version") if isinstance(cudnn, dict) else None
    gpu = known(True, "package", str(one.package.owner), "CuPy exists for CUDA only")
    stated = known(built, "file", file) if isinstance(built, str) else NO_CUDNN
    return Built(gpu, cuda, stated, opens=needed(one, first, later))


# ------------------------------------------------------------ the others


def _paddle(one: Installed) -> Built:
    file = f"{one.path}/version/__init__.py"
    said = assigned(one.text(file))
    cuda, cudnn = said.get("cuda_version", ""), said.get("cudnn_version", "")
    if cuda == "False":
        return without_gpu(Source("file", file, "cuda_version = False"))
    if not numbers(cuda):
        return Built(Unknown(f"{file} does not name a CUDA version"))
    source = Source("file", file)
    built = Known(cudnn, source) if numbers(cudnn) else NO_CUDNN
    return Built(Known(True, source), Known(cuda, source), built)


def _mxnet(one: Installed) -> Built:
    library = f"{one.path}/libmxnet.so"
    named = re.fullmatch(r"mxnet-cu(\d+)(mkl)?", one.package.name)
    source = Source("package", one.package.name)
    if not named:
        detail = "the builds with CUDA are named mxnet-cu…"
        return without_gpu(Source("package", one.package.name, detail))
    code = gpu_code(one.machine, library)
    opens = needed(one, [library])
    return Built(Known(True, source), Known(dotted(named[1]), source), NO_CUDNN, *code, opens)


def _tensorrt(one: Installed) -> Built:
    """The compiled module names the libraries without which it cannot be imported."""
    source = Source("package", one.package.name)
    names = " ".join(other.name for other in one.others if other.name.startswith("tensorrt"))
    named = re.search(r"-cu(\d+)", names)
    cuda: Fact[str] = Unknown("its package name does not state its CUDA")
    if named:
        cuda = Known(named[1], source)
    folders = (f"{one.site}/tensorrt_bindings", f"{one.site}/tensorrt")
    match = r"tensorrt(\..*)?\.(so|pyd)$"
    files = [path for folder in folders for path in one.names(folder, match)]
    if not files:
        return Built(Known(True, source), cuda)
    return Built(Known(True, source), cuda, opens=needed(one, files[:1]))


def _compiled(folder: str, match: str) -> Callable[[Installed], Built]:
    """A reader for frameworks that are one compiled module: what it needs and carries tells."""

    def read(one: Installed) -> Built:
        place = f"{one.site}/{folder}".rstrip("/")
        found = one.names(place, match)
        if not found:
            return Built(Unknown(f"{place}: no compiled module found"))
        sass, ptx = gpu_code(one.machine, found[0])
        opens = needed(one, found[:1])
        if isinstance(sass, Known) or value_or(opens, ()):
            gpu = known(True, "file", found[0])
            return Built(gpu, cuda_by_names(opens), NO_CUDNN, sass, ptx, opens)
        return Built(Unknown(f"{found[0]}: no GPU code and no CUDA library found"))

    return read


def _bitsandbytes(one: Installed) -> Built:
    match = r"libbitsandbytes_cuda(\d+)\w*\.(so|dll)$"
    listed = one.machine.list(one.path, match)
    found = [re.match(match, entry.name) for entry in value_or(listed, ())]
    builds = [dotted(one[1]) for one in found if one]
    if isinstance(listed, Unknown):
        return Built(listed)
    if not builds:
        return without_gpu(Source("folder", one.path, "no CUDA build"))
    several = ", ".join(dict.fromkeys(builds))
    cuda: Fact[str] = Unknown(f"it has builds for CUDA {several} and takes one at import")
    if len(builds) == 1:
        cuda = known(builds[0], "folder", one.path)
    return Built(Known(True, listed.source), cuda)


def _xformers(one: Installed) -> Built:
    file = f"{one.path}/cpp_lib.json"
    version = one.json(file).get("version")
    cuda = version.get("cuda") if isinstance(version, dict) else None
    if not isinstance(cuda, int):
        return Built(Unknown(f"{file} does not name a CUDA version"))
    built = _compiled("xformers", r"_C\w*\.(.*\.)?so$")(one)
    stated = known(f"{cuda // 100}.{cuda % 100}", "file", file)
    return built._replace(gpu_build=known(True, "file", file), cuda=stated)


def _triton(one: Installed) -> Built:
    """Triton compiles at run time with the ptxas it brings; it opens nothing but the driver."""
    file = f"{one.path}/backends/nvidia/include/cuda.h"
    lines = value_or(one.machine.lines(file, "#define CUDA_VERSION"), ())
    number = re.search(r"CUDA_VERSION\s+(\d+)", " ".join(lines))
    cuda: Fact[str] = Unknown("its bundled compiler does not state its version without being run")
    if number:
        cuda = known(f"{int(number[1]) // 1000}.{int(number[1]) % 1000 // 10}", "file", file)
    source = Source("folder", f"{one.path}/backends/nvidia")
    return Built(Known(True, source), cuda, Absent(source), COMPILES, COMPILES, Known((), source))


def _ctranslate2(one: Installed) -> Built:
    """It brings cuDNN's shim and opens cuBLAS by a name that stands in its library."""
    place = f"{one.site}/{'ctranslate2' if one.windows else 'ctranslate2.libs'}"
    found = one.names(place, r"(lib)?ctranslate2.*\.(dll|so.*)$")
    if not found:
        return Built(Unknown(f"{place}: no compiled library found"))
    linked = needed(one, found[:1])
    name = "cublas64_{}.dll" if one.windows else "libcublas.so.{}"
    named = one.machine.holds(found[0], name.format(12), name.format(13))
    if not value_or(named, ()):  # a newer name, or behind what is searched for plain ones
        named = one.machine.matching(found[0], r"(?:libcublas\.so\.\d+|cublas64_\d+\.dll)\b")
    if not isinstance(linked, Known) or not isinstance(named, Known):
        return Built(Unknown(f"{found[0]} could not be read"))
    if not linked.value and not named.value:
        return without_gpu(Source("file", found[0], "it names no CUDA library"))
    by_name = tuple(Opened(name, found[0], False) for name in named.value)
    opens = Known((*linked.value, *by_name), linked.source)
    code = gpu_code(one.machine, found[0])
    return Built(known(True, "file", found[0]), cuda_by_names(opens), NO_CUDNN, *code, opens)


_NUMBA_ALONE = 60  # packages beyond which nobody installed Numba for its own sake
_BRINGS_GPU = r"torch|tensorflow|jax|onnxruntime|cupy|cuml|cudf"


def _numba(one: Installed) -> Built:
    """It compiles with NVVM, which it does not bring. As a part of others it uses the CPU alone:
    NVVM counts as needed where nothing else asks for Numba and no framework is installed.
    """
    none = absent("package", one.package.name, "it compiles for the GPU at run time")
    rest = [p for p in one.others if p.name not in ("numba", "numba-cuda", "llvmlite")]
    wanted = any(
        line.lower().startswith("numba") for p in rest for line in value_or(p.requires, ())
    )
    framework_there = any(re.match(_BRINGS_GPU, p.name) for p in rest)
    if len(rest) > _NUMBA_ALONE or wanted or framework_there:
        return Built(COMPILES, none, none, COMPILES, COMPILES)
    name = "nvvm64_40_0.dll" if one.windows else "libnvvm.so"
    asks = (Opened(name, f"{one.path}/cuda/cudadrv/nvvm.py", False),)
    source = Source("know", "numba.cuda", "opens NVVM by its own search")
    opens: Fact[tuple[Opened, ...]] = Known(asks, source)
    meant = known(True, "package", one.package.name, "no other package asks for it")
    return Built(meant, none, none, COMPILES, COMPILES, opens)


KINDS = (
    Kind("tensorflow", "TensorFlow", TENSORFLOW, "tensorflow", read_tensorflow),
    Kind("torch", "PyTorch", "torch", "torch", _torch),
    Kind("jax", "JAX", "jax", "jax", _jax),
    Kind(
        "onnxruntime",
        "ONNX Runtime",
        r"(onnxruntime|ort-nightly)(-.+)?",
        "onnxruntime",
        _onnxruntime,
    ),
    Kind("cupy", "CuPy", r"cupy(-.+)?", "cupy", _cupy),
    Kind("paddle", "PaddlePaddle", r"paddlepaddle(-.+)?", "paddle", _paddle),
    Kind("mxnet", "MXNet", r"mxnet(-.+)?", "mxnet", _mxnet),
    Kind("tensorrt", "TensorRT", r"(nvidia-)?tensorrt(-cu\d+)?", "tensorrt", _tensorrt),
    Kind("tensorrt", "TensorRT", r"tensorrt(-cu\d+)?-bindings", "tensorrt_bindings", _tensorrt),
    Kind("ctranslate2", "CTranslate2", "ctranslate2", "ctranslate2", _ctranslate2),
    Kind("bitsandbytes", "bitsandbytes", "bitsandbytes", "bitsandbytes", _bitsandbytes),
    Kind(
        "flash_attn",
        "flash-attn",
        r"flash-attn(-.+)?",
        "flash_attn",
        _compiled("", r"flash_attn_\w*cuda.*\.so$"),
    ),
    Kind("xformers", "xFormers", "xformers", "xformers", _xformers),
    Kind("vllm", "vLLM", "vllm", "vllm", _compiled("vllm", r"_C\..*so$")),
    Kind("triton", "Triton", r"triton|pytorch-triton", "triton", _triton),
    Kind("numba", "Numba", "numba", "numba", _numba),
)
