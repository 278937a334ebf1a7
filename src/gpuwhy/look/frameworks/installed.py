"""The installed frameworks: rows of one walker, each with the reader of its own files.

Everything is read from build-info and version modules as text, metadata and binaries. Where neither
PyTorch, TensorFlow nor JAX brings CUDA's libraries into the process, any other package whose
compiled files need them is a framework of its own name.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, absent, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Opened
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.files import exists
from gpuwhy.look.frameworks.builds import (
    COMPILES,
    NO_CUDNN,
    Built,
    Installed,
    Opens,
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
from gpuwhy.look.toolkits import header_version
from gpuwhy.machine.machine import Machine


class Kind(NamedTuple):
    """A framework: the packages that install it, its module, and the reader of its build."""

    name: str
    title: str
    packages: str
    module: str
    read: Callable[[Installed], Built]


def installed(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Framework, ...]]:
    """Every framework whose module folder is beside its metadata, with what it was built for."""
    packages = facts.environment.packages.need()
    if packages is None:
        return absent("env", "PATH", "no Python")
    every = tuple(one for one in packages if not one.second)
    windows = value_or(facts.system.os, "") == "windows"
    found: dict[str, Framework] = {}
    for kind in KINDS:
        named = (one for one in every if re.fullmatch(kind.packages, one.name))
        there = (one for one in named if exists(machine, f"{one.site}/{kind.module}"))
        package = None if kind.name in found else next(there, None)
        if package:
            path = f"{package.site}/{kind.module}"
            one = Installed(machine, package, path, every, windows)
            found[kind.name] = _framework(kind.name, kind.title, one, kind.read(one))
    if not found.keys() & _HOSTS:
        found |= {one.name: one for one in _others(machine, every, windows)}
    sites = ", ".join(dict.fromkeys(one.site for one in every))
    return known(tuple(found.values()), "folder", sites)


def _framework(name: str, title: str, one: Installed, built: Built) -> Framework:
    stated = built._asdict() | {"path": built.path or one.path}
    return Framework(name, title, one.package.name, one.package.version, **stated)


_TORCH_CUDA = (
    *("libtorch_cuda.so", "libtorch_cuda_cu.so", "libtorch.so", "libcaffe2_gpu.so"),
    *("torch_cuda.dll", "torch_cuda_cu.dll"),
)
"""The library with the GPU code, newest layout first."""
_TORCH_LATER = ("libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so")  # opened at their first use


def _torch(one: Installed) -> Built:
    """torch/version.py names the CUDA version; the libraries in torch/lib what they need: at once,
    or when first used.
    """
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
        return without_gpu("file", file, detail)
    folder, first = f"{one.path}/lib", "torch_cuda.dll" if one.windows else _TORCH_CUDA[0]
    match = r"torch_cuda\w*\.dll$" if one.windows else r"lib(torch|c10|caffe2)\w*\.so$"
    found = one.names(folder, match)
    mains = (f"{folder}/{name}" for name in _TORCH_CUDA)
    main = next((path for path in mains if path in found), f"{folder}/{first}")
    if one.windows:
        opens = needed(one, [path for path in found if "linalg" not in path])
    else:
        later = [path for path in found if path.rpartition("/")[2] in _TORCH_LATER]
        rest = [path for path in found if path not in (main, f"{folder}/libc10.so", *later)]
        opens = needed(one, [main, *rest], later)
    gpu, cuda = known(True, "file", file, "cuda"), known(major_minor(said["cuda"]), "file", file)
    return Built(gpu, cuda, cudnn_pin(one.package), *gpu_code(one.machine, main), opens)


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
    owner = str(jaxlib.owner)
    local = re.search(r"\+cuda(\d+)(?:\.cudnn(\d)(\d+))?", jaxlib.version)
    if local:
        unstated = Unknown(f"{owner} does not state it")
        cudnn = known(f"{local[2]}.{local[3]}", "package", owner) if local[2] else unstated
        gpu, cuda = known(True, "package", owner), known(dotted(local[1]), "package", owner)
        return Built(gpu, cuda, cudnn)
    listed = one.machine.list(f"{jaxlib.site}/jaxlib/cuda", r".*\.so$")
    if isinstance(listed, Known) and listed.value:
        return Built(Known(True, listed.source))
    return without_gpu("package", owner, "a CPU build, and no jax-cuda plugin is installed")


def _jax_plugin(one: Installed, package: Package, major: str) -> Built:
    owner = str(package.owner)
    by = f"{package.site}/jax_plugins/xla_cuda{major}/xla_cuda_plugin.so"
    code = gpu_code(one.machine, f"{package.site}/jax_cuda{major}_plugin/_prng.so")
    opens: Opens = Unknown(f"which libraries {owner} opens is not known")
    if isinstance(one.machine.stat(by), Absent):
        opens = Unknown(f"{by}, which opens them, is missing: jax-cuda{major}-pjrt brings it")
    elif major in _JAX_OPENS:
        linked = value_or(needed(one, [by]), ())
        names = {f"lib{name}": True for name in _JAX_MAY_OPEN.format(major).split()}
        names |= {f"lib{name}": False for name in _JAX_OPENS[major].split()}
        names |= {opened.name: False for opened in linked}
        ordered = sorted(names.items(), key=lambda pair: pair[1])
        found = tuple(Opened(name, by, optional) for name, optional in ordered)
        opens = known(found, "know", owner, "the names it opens")
    gpu, cuda = known(True, "package", owner), known(major, "package", owner)
    return Built(gpu, cuda, cudnn_pin(package), *code, opens)


def _onnxruntime(one: Installed) -> Built:
    """The CUDA provider decides, unless build_and_package_info is a CPU build's own."""
    name = "onnxruntime_providers_cuda.dll" if one.windows else "libonnxruntime_providers_cuda.so"
    provider, info = f"{one.path}/capi/{name}", f"{one.path}/capi/build_and_package_info.py"
    there, said = one.machine.stat(provider), assigned(one.text(info))
    if isinstance(there, Unknown):
        return Built(there)
    lost, cuda = isinstance(there, Absent), said.get("cuda_version", "")
    if said.get("package_name") == "onnxruntime" and (lost or not cuda):
        # a provider beside it is what another build left behind
        return without_gpu("file", info, "package_name = 'onnxruntime'")
    if lost and not one.package.files.ending(name):
        return without_gpu("file", provider, "not there")
    missing = Unknown(f"{provider} is missing")
    built: Fact[str] = known(major_minor(cuda), "file", info) if numbers(cuda) else missing
    cudnn = cudnn_pin(one.package)
    if lost:  # a GPU build that has lost the file
        gpu = known(True, "file", f"{one.package.location}/RECORD", "lists the CUDA provider")
        return Built(gpu, built, cudnn, missing, missing, missing)
    opens = _onnxruntime_opens(one, provider)
    for other in value_or(opens, ()) if one.windows and not isinstance(cudnn, Known) else ():
        if found := re.match(r"(?i)cudnn64_(\d+)\.dll", other.name):
            cudnn = known(found[1], "file", other.by, f"imports {other.name}")
    built = cuda_by_names(opens) if isinstance(built, Unknown) else built
    return Built(
        known(True, "file", provider), built, cudnn, *gpu_code(one.machine, provider), opens
    )


def _onnxruntime_opens(one: Installed, provider: str) -> Opens:
    """What the provider is linked with; or, up to 1.15, what _ld_preload.py opens for it.

    Newer providers do not link cuDNN and open it by name, where their own text names it.
    """
    opens = needed(one, [provider])
    if one.windows or not isinstance(opens, Known):
        return opens
    if not opens.value:
        file = f"{one.path}/capi/_ld_preload.py"
        names = dict.fromkeys(re.findall(r"lib(?:cu|nv)\w+\.so[.\d]*", one.text(file)))
        names.pop("libcuda.so.1", None)
        return known(tuple(Opened(name, provider, False) for name in names), "file", file)
    if any("cudnn" in other.name for other in opens.value):
        return opens
    lines = value_or(one.machine.lines(f"{one.path}/__init__.py", '"libcudnn.so.'), ())
    found = dict.fromkeys(re.findall(r'"(libcudnn\.so\.\d+)"', "\n".join(lines)))
    more = (Opened(name, provider, True) for name in found)
    return Known((*opens.value, *more), opens.source)


_CUPY_AT_ONCE = r"(runtime|nvrtc|jitify|cublas)\..*(so|pyd)$"
_CUPY_LATER = r"(nvtx|cufft|curand|cusolver|cusparse|cudnn|nccl|cutensor)\..*(so|pyd)$"
_CUPY_FOLDERS = ("cupy_backends/cuda/api", "cupy_backends/cuda/libs", "cupy/cuda")


def _cupy(one: Installed) -> Built:
    """The package's name tells its CUDA, else the libraries that its extensions name."""
    name = one.package.name
    if "rocm" in name:
        return without_gpu("package", name, "a ROCm build")
    first, later = (
        [path for place in _CUPY_FOLDERS for path in one.names(f"{one.site}/{place}", match)]
        for match in (_CUPY_AT_ONCE, _CUPY_LATER)
    )
    opens, named = needed(one, first, later), re.fullmatch(r"cupy-cuda(\d+)x?", name)
    cuda = known(dotted(named[1]), "package", name) if named else cuda_by_names(opens)
    gpu = known(True, "package", str(one.package.owner), "CuPy exists for CUDA only")
    return Built(gpu, cuda, opens=opens)


def _paddle(one: Installed) -> Built:
    file = f"{one.path}/version/__init__.py"
    said = assigned(one.text(file))
    cuda, cudnn = said.get("cuda_version", ""), said.get("cudnn_version", "")
    if cuda == "False":
        return without_gpu("file", file, "cuda_version = False")
    if not numbers(cuda):
        return Built(Unknown(f"{file} does not name a CUDA version"))
    built = known(cudnn, "file", file) if numbers(cudnn) else NO_CUDNN
    return Built(known(True, "file", file), known(cuda, "file", file), built)


def _tensorrt(one: Installed) -> Built:
    """The compiled module names the libraries without which it cannot be imported."""
    name = one.package.name
    names = " ".join(other.name for other in one.others if other.name.startswith("tensorrt"))
    named = re.search(r"-cu(\d+)", names)
    unstated = Unknown("its package name does not state its CUDA")
    cuda = known(named[1], "package", name) if named else unstated
    built = Built(known(True, "package", name), cuda)
    match = r"tensorrt(\..*)?\.(so|pyd)$"
    folders = (f"{one.site}/tensorrt_bindings", f"{one.site}/tensorrt")
    files = [path for folder in folders for path in one.names(folder, match)]
    return built._replace(opens=needed(one, files[:1])) if files else built


def _compiled(match: str, *folders: str, named: str = "") -> Callable[[Installed], Built]:
    """A reader of packages whose one compiled module tells everything: by what it is linked with,
    and by the names in its text that it opens at run time.
    """

    def read(one: Installed) -> Built:
        places = [f"{one.site}/{folder}".rstrip("/") for folder in folders]
        found = [path for place in places for path in one.names(place, match)][:1]
        if not found:
            return Built(Unknown(f"{places[0]}: no compiled module found"))
        opens, file = needed(one, found), found[0]
        texts = one.machine.matching(file, named) if named else absent("file", file)
        by_name = tuple(Opened(name, file, False) for name in value_or(texts, ()))
        if isinstance(opens, Known):
            opens = Known((*opens.value, *by_name), opens.source)
        sass, ptx = gpu_code(one.machine, file)
        if isinstance(sass, Known) or value_or(opens, ()):
            return Built(
                known(True, "file", file), cuda_by_names(opens), NO_CUDNN, sass, ptx, opens
            )
        if named and isinstance(opens, Known) and isinstance(texts, Known):
            return without_gpu("file", file, "it names no CUDA library")
        return Built(Unknown(f"{file}: no GPU code and no CUDA library found"))

    return read


def _bitsandbytes(one: Installed) -> Built:
    """One of its libraries is taken at import, by PyTorch's CUDA."""
    match = r"libbitsandbytes_cuda(\d+)\w*\.(so|dll)$"
    named = (re.search(match, path) for path in one.names(one.path, match))
    builds = sorted({dotted(build[1]) for build in named if build}, key=numbers)
    if not builds:
        return without_gpu("folder", one.path, "no CUDA build")
    several = Unknown(f"it has builds for CUDA {', '.join(builds)} and takes one at import")
    cuda = known(builds[0], "folder", one.path) if len(builds) == 1 else several
    return Built(known(True, "folder", one.path), cuda)


def _triton(one: Installed) -> Built:
    """Triton compiles at run time with the ptxas it brings; it opens nothing but the driver."""
    folder, none_said = f"{one.path}/backends/nvidia", "its bundled compiler does not state it"
    cuda = header_version(one.machine, f"{folder}/include", Unknown(none_said))
    opens: Opens = known((), "folder", folder)
    gpu, none = known(True, "folder", folder), absent("folder", folder)
    return Built(gpu, cuda, none, COMPILES, COMPILES, opens)


def _numba(one: Installed) -> Built:
    """It compiles with NVVM, which it does not bring; as a part of others it uses the CPU alone."""
    none = absent("package", one.package.name, COMPILES.reason)
    return Built(COMPILES, none, none, COMPILES, COMPILES)


_flash_attn = _compiled(r"flash_attn_\w*cuda.*\.so$", "")
_xformers = _compiled(r"_C\w*\.(.*\.)?so$", "xformers")
_vllm = _compiled(r"_C\..*so$", "vllm")
_ctranslate2 = _compiled(  # brings cuDNN's shim, and opens cuBLAS by name
    r"(lib)?ctranslate2.*\.(dll|so.*)$",
    *("ctranslate2.libs", "ctranslate2"),
    named=r"(?:libcublas\.so\.\d+|cublas64_\d+\.dll)\b",
)
_ORT = r"(onnxruntime|ort-nightly)(-.+)?"
KINDS = (
    Kind("tensorflow", "TensorFlow", TENSORFLOW, "tensorflow", read_tensorflow),
    Kind("torch", "PyTorch", "torch", "torch", _torch),
    Kind("jax", "JAX", "jax", "jax", _jax),
    Kind("onnxruntime", "ONNX Runtime", _ORT, "onnxruntime", _onnxruntime),
    Kind("cupy", "CuPy", r"cupy(-.+)?", "cupy", _cupy),
    Kind("paddle", "PaddlePaddle", r"paddlepaddle(-.+)?", "paddle", _paddle),
    Kind("tensorrt", "TensorRT", r"(nvidia-)?tensorrt(-cu\d+)?", "tensorrt", _tensorrt),
    Kind("tensorrt", "TensorRT", r"tensorrt(-cu\d+)?-bindings", "tensorrt_bindings", _tensorrt),
    Kind("ctranslate2", "CTranslate2", "ctranslate2", "ctranslate2", _ctranslate2),
    Kind("bitsandbytes", "bitsandbytes", "bitsandbytes", "bitsandbytes", _bitsandbytes),
    Kind("flash_attn", "flash-attn", r"flash-attn(-.+)?", "flash_attn", _flash_attn),
    Kind("xformers", "xFormers", "xformers", "xformers", _xformers),
    Kind("vllm", "vLLM", "vllm", "vllm", _vllm),
    Kind("triton", "Triton", r"triton|pytorch-triton", "triton", _triton),
    Kind("numba", "Numba", "numba", "numba", _numba),
)


_HOSTS = frozenset({"torch", "jax", "tensorflow", "paddle"})
_OTHERS = (
    r"(?!nvidia-|cuda-|numba-|tensor|cupy|mxnet|onnx|ort-|paddle|torch|jax)"
    r"(?:.+-)?(?:gpu|cuda|cu\d{2,3}|cuda\d{2,3}x?)(?:-.+)?|faiss|llama-cpp-python|lightgbm|pycuda"
    r"|k2|dgl|stable-diffusion-cpp-python|pywhispercpp|open3d|exllamav2|spacy-transformers"
)
_COMPILED = r"(?!/|\.\.).*\.(so(\.[\d.]+)?|pyd|dll)$"
_MOST = 24  # compiled files that are read of one package


def _others(machine: Machine, every: tuple[Package, ...], windows: bool) -> Iterator[Framework]:
    """Packages that need CUDA's libraries, by their compiled files."""
    for package in (one for one in every if re.fullmatch(_OTHERS, one.name)):
        one = Installed(machine, package, package.site, every, windows)
        rows = [row.path for row in package.files.ending(".so", ".pyd", ".dll")]
        inside = (f"{package.site}/{path}" for path in rows if re.match(_COMPILED, path))
        opens = needed(one, islice(inside, _MOST))
        for first in value_or(opens, ())[:1]:
            gpu = known(True, "file", first.by, f"needs {first.name}")
            path = first.by.rpartition("/")[0]
            built = Built(gpu, cuda_by_names(opens), opens=opens, path=path)
            yield _framework(package.name, package.name, one, built)
