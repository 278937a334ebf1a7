"""Frameworks: what is installed of them, what each was built for, and which CUDA libraries it asks the loader for.

Everything is read from the framework's own files: build-info and version modules as text, metadata, binaries.
TensorFlow has a file of its own (tensorflow.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.model.facts import Distribution, Framework, Opened
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.observe.built import (
    NO_CUDNN,
    TENSORFLOW,
    Built,
    Installed,
    assigned,
    cudnn_pin,
    dotted,
    gpu_code,
    needed,
    without_gpu,
)
from gpuwhy.observe.others import Needed, others, read_ctranslate2, read_numba
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.tensorflow import read_tensorflow
from gpuwhy.observe.tensorrt import BINDINGS, TENSORRT, read_tensorrt


class Kind(NamedTuple):
    """A framework that we know: the names it is installed under, the module it is imported as, and its reader."""

    name: str
    title: str
    installs: re.Pattern[str]
    module: str
    read: Callable[[Installed], Built]


# ---------------------------------------------------------------- PyTorch


def _torch(package: Installed) -> Built:
    """torch/version.py says the CUDA version; the libraries in torch/lib say what they need and carry."""
    file = f"{package.path}/version.py"
    text = package.host.read(file)
    if not isinstance(text, Known):
        return Built(or_unknown(text, f"{package.path}: no version.py"))
    said = assigned(text.value)
    if "cuda" not in said:
        return Built(Unknown(f"{file} does not name `cuda`"))
    if said["cuda"] == "None":
        rocm = said.get("hip", "None")
        return without_gpu(Source("file", file, "cuda = None" if rocm == "None" else f"hip = {rocm}: a ROCm build"))
    source = Source("file", file, "cuda")
    main, opens = _torch_libraries(package)
    sass, ptx = gpu_code(package.host, main)
    return Built(Known(True, source), Known(major_minor(said["cuda"]), source), cudnn_pin(package), sass, ptx, opens)


def _torch_libraries(package: Installed) -> tuple[str, Fact[tuple[Opened, ...]]]:
    """The library with the GPU code, and what all of them need: at once, or when first used."""
    folder = f"{package.path}/lib"
    names = [entry.name for entry in value_or(package.host.list(folder, r"lib(torch|c10|caffe2)\w*\.so$"), ())]
    main = next((name for name in _TORCH_CUDA if name in names), _TORCH_CUDA[0])
    lazy = [name for name in names if name in _TORCH_LAZY]
    eager = [main, *(name for name in names if name not in (main, "libc10.so", *lazy))]
    return f"{folder}/{main}", needed(
        package.host, [f"{folder}/{name}" for name in eager], [f"{folder}/{name}" for name in lazy]
    )


_TORCH_CUDA = ("libtorch_cuda.so", "libtorch_cuda_cu.so", "libtorch.so", "libcaffe2_gpu.so")  # newest layout first
_TORCH_LAZY = ("libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so")  # opened at their first use


# ---------------------------------------------------------------- JAX

_JAX_PLUGIN = re.compile(r"jax-cuda(\d+)-(?:plugin|pjrt)")  # by the client alone it sees the GPU, without kernels
_JAX_OPENS = {
    "11": "cudart.so.11.0 cublas.so.11 cublasLt.so.11 cufft.so.10 cusolver.so.11 cusparse.so.11 cudnn.so.8",
    "12": "cudart.so.12 cublas.so.12 cublasLt.so.12 cufft.so.11 cusolver.so.11 cusparse.so.12 cudnn.so.9",
    "13": "cudart.so.13 cublas.so.13 cublasLt.so.13 cufft.so.12 cusolver.so.12 cusparse.so.12 cudnn.so.9",
}
_JAX_MAY_OPEN = "cupti.so.{0} nvJitLink.so.{0} nvrtc.so.{0} nccl.so.2"


def _jax(package: Installed) -> Built:
    """JAX itself is CPU only; a CUDA plugin, or a jaxlib built with CUDA (older ones, conda's) brings the GPU."""
    for dist in sorted(package.others, key=lambda one: one.name.endswith("-pjrt")):
        plugin = _JAX_PLUGIN.fullmatch(dist.name)
        if plugin:
            return _jax_plugin(package, dist, plugin.group(1))
    jaxlib = next((d for d in package.others if d.name == "jaxlib"), None)
    if jaxlib is None:
        return Built(Unknown("jaxlib is not installed"))
    local = re.search(r"\+cuda(\d+)(?:\.cudnn(\d)(\d+))?", jaxlib.version)
    source = Source("package", f"jaxlib {jaxlib.version}")
    if local:
        cudnn: Fact[str] = Known(f"{local[2]}.{local[3]}", source) if local[2] else Unknown(f"{source} does not tell")
        return Built(Known(True, source), Known(dotted(local[1]), source), cudnn)
    listed = package.host.list(f"{jaxlib.location.rpartition('/')[0]}/jaxlib/cuda", r".*\.so$")
    if isinstance(listed, Known) and listed.value:
        return Built(Known(True, listed.source))
    return without_gpu(Source("package", source.where, "a CPU build, and no jax-cuda plugin is installed"))


def _jax_plugin(package: Installed, dist: Distribution, major: str) -> Built:
    source = Source("package", f"{dist.name} {dist.version}")
    site = dist.location.rpartition("/")[0]
    by = f"{site}/jax_plugins/xla_cuda{major}/xla_cuda_plugin.so"
    sass, ptx = gpu_code(package.host, f"{site}/jax_cuda{major}_plugin/_prng.so")
    opens: Fact[tuple[Opened, ...]] = Unknown(f"which libraries {source} opens is not known")
    if isinstance(package.host.stat(by), Absent):
        opens = Unknown(f"{by}, which opens them, is not there: jax-cuda{major}-pjrt brings it")
    elif major in _JAX_OPENS:
        linked = value_or(needed(package.host, [by]), ())
        names = {f"lib{n}": True for n in _JAX_MAY_OPEN.format(major).split()}
        names.update({f"lib{n}": False for n in _JAX_OPENS[major].split()})
        names.update({opened.name: False for opened in linked})
        required_first = sorted(names.items(), key=lambda pair: pair[1])
        opens = known(tuple(Opened(n, by, o) for n, o in required_first), "know", str(source), "the names it opens")
    return Built(Known(True, source), Known(major, source), cudnn_pin(package, dist), sass, ptx, opens)


# ---------------------------------------------------------------- ONNX Runtime, CuPy


def _onnxruntime(package: Installed) -> Built:
    """The CUDA provider library decides, unless build_and_package_info (from 1.21 on) is a CPU build's own."""
    provider = f"{package.path}/capi/libonnxruntime_providers_cuda.so"
    there = package.host.stat(provider)
    if isinstance(there, Unknown):
        return Built(there)
    info = f"{package.path}/capi/build_and_package_info.py"
    if isinstance(there, Absent):
        return _without_provider(package, provider, info)
    pairs = assigned(value_or(package.host.read(info), ""))
    said = pairs.get("cuda_version", "")
    if pairs.get("package_name") == "onnxruntime" and not said:  # the provider is what another flavour left behind
        return without_gpu(Source("file", info, "package_name = 'onnxruntime'"))
    opens = needed(package.host, [provider])
    if isinstance(opens, Known) and not opens.value:
        opens = _preloaded(package, provider)
    cuda = known(major_minor(said), "file", info) if numbers(said) else _cuda_by_names(opens)
    sass, ptx = gpu_code(package.host, provider)
    opens = _with_cudnn(package, provider, opens)
    return Built(known(True, "file", provider), cuda, cudnn_pin(package), sass, ptx, opens)


def _with_cudnn(package: Installed, provider: str, opens: Fact[tuple[Opened, ...]]) -> Fact[tuple[Opened, ...]]:
    """Newer providers do not link cuDNN and open it by name, if it is there: their own text names it."""
    if not isinstance(opens, Known) or not opens.value or any("cudnn" in one.name for one in opens.value):
        return opens
    lines = value_or(package.host.lines(f"{package.path}/__init__.py", '"libcudnn.so.'), ())
    names = dict.fromkeys(re.findall(r'"(libcudnn\.so\.\d+)"', "\n".join(lines)))
    return Known((*opens.value, *(Opened(name, provider, True) for name in names)), opens.source)


def _without_provider(package: Installed, provider: str, info: str) -> Built:
    """A CPU build, or a GPU build that has lost the file: what it was installed with tells."""
    record = f"{package.dist.location}/RECORD"
    if not value_or(package.host.lines(record, "libonnxruntime_providers_cuda.so,"), ()):
        return without_gpu(Source("file", provider, "not there"))
    pairs = assigned(value_or(package.host.read(info), ""))
    if pairs.get("package_name") == "onnxruntime":
        return without_gpu(Source("file", info, "package_name = 'onnxruntime'"))
    said, lost = pairs.get("cuda_version", ""), Unknown(f"{provider} is not there")
    cuda = known(major_minor(said), "file", info) if numbers(said) else lost
    return Built(known(True, "file", record, "lists the CUDA provider"), cuda, cudnn_pin(package), lost, lost, lost)


def _preloaded(package: Installed, provider: str) -> Fact[tuple[Opened, ...]]:
    """Up to 1.15 the provider's NEEDED list is stripped and _ld_preload.py opens the libraries instead."""
    file = f"{package.path}/capi/_ld_preload.py"
    text = package.host.read(file)
    if not isinstance(text, Known):
        return known((), "file", provider, "NEEDED")
    names = dict.fromkeys(re.findall(r"lib(?:cu|nv)\w+\.so[.\d]*", text.value))
    names.pop("libcuda.so.1", None)
    return known(tuple(Opened(n, provider, False) for n in names), "file", file)


def _cuda_by_names(opens: Fact[tuple[Opened, ...]]) -> Fact[str]:
    """The CUDA major version that the name of the runtime tells: libcudart.so.12 → 12, libcudart.so.10.1 → 10.1."""
    for opened in value_or(opens, ()):
        found = re.match(r"lib(?:cudart|cublas|cublasLt)(?:-\w+)?\.so\.(\d+(?:\.\d+)?)", opened.name)
        if found:
            version = "11" if found.group(1) == "11.0" else found.group(1)
            return known(version, "file", opened.by, f"needs {opened.name}")
    return Unknown("no library name tells the CUDA version")


def _cupy(package: Installed) -> Built:
    """cupy/.data/_wheel.json names the CUDA of the wheel; the extension modules name their libraries."""
    file = f"{package.path}/.data/_wheel.json"
    said = _json(package, file)
    name = re.fullmatch(r"cupy-cuda(\d+)x?", package.dist.name)
    cuda: Fact[str] = Unknown(f"{file} does not tell the CUDA version")
    version = numbers(str(said.get("cuda", "")))
    if version:
        cuda = known(".".join(map(str, version[:2])), "file", file)
    elif name:
        cuda = known(dotted(name.group(1)), "package", package.dist.name)
    if "rocm" in package.dist.name:
        return without_gpu(Source("package", package.dist.name, "a ROCm build"))
    gpu = known(True, "package", f"{package.dist.name} {package.dist.version}", "CuPy exists for CUDA only")
    opens = needed(package.host, _cupy_modules(package, _CUPY_AT_ONCE), _cupy_modules(package, _CUPY_LATER))
    cudnn = said.get("cudnn")
    built = cudnn.get("version") if isinstance(cudnn, dict) else None
    return Built(gpu, cuda, known(built, "file", file) if isinstance(built, str) else NO_CUDNN, opens=opens)


_CUPY_AT_ONCE = r"(runtime|nvrtc|jitify|cublas)\..*so$"
_CUPY_LATER = r"(nvtx|cufft|curand|cusolver|cusparse|cudnn|nccl|cutensor)\..*so$"


def _cupy_modules(package: Installed, pattern: str) -> list[str]:
    """CuPy's modules that ask for CUDA: those without which nothing is computed, or those that wait for their use."""
    folders = ("cupy_backends/cuda/api", "cupy_backends/cuda/libs", "cupy/cuda")
    places = [f"{package.site}/{folder}" for folder in folders]
    return [f"{place}/{e.name}" for place in places for e in value_or(package.host.list(place, pattern), ())]


def _json(package: Installed, file: str) -> dict[str, Any]:
    try:
        said = json.loads(value_or(package.host.read(file), "{}"))
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


# ---------------------------------------------------------------- the others


def _paddle(package: Installed) -> Built:
    file = f"{package.path}/version/__init__.py"
    said = assigned(value_or(package.host.read(file), ""))
    cuda, cudnn = said.get("cuda_version", ""), said.get("cudnn_version", "")
    if cuda == "False":
        return without_gpu(Source("file", file, "cuda_version = False"))
    if not numbers(cuda):
        return Built(Unknown(f"{file} does not name a CUDA version"))
    source = Source("file", file)
    return Built(Known(True, source), Known(cuda, source), Known(cudnn, source) if numbers(cudnn) else NO_CUDNN)


def _mxnet(package: Installed) -> Built:
    library = f"{package.path}/libmxnet.so"
    named = re.fullmatch(r"mxnet-cu(\d+)(mkl)?", package.dist.name)
    source = Source("package", package.dist.name)
    if not named:
        return without_gpu(Source("package", package.dist.name, "the builds with CUDA are named mxnet-cu…"))
    sass, ptx = gpu_code(package.host, library)
    return Built(
        Known(True, source), Known(dotted(named[1]), source), NO_CUDNN, sass, ptx, needed(package.host, [library])
    )


def _compiled(folder: str, pattern: str) -> Callable[[Installed], Built]:
    """A reader for frameworks that are one compiled module: what it needs and carries tells."""

    def read(package: Installed) -> Built:
        place = f"{package.site}/{folder}" if folder else package.site
        listed = value_or(package.host.list(place, pattern), ())
        if not listed:
            return Built(Unknown(f"{place}: no compiled module found"))
        library = f"{place}/{listed[0].name}"
        sass, ptx = gpu_code(package.host, library)
        opens = needed(package.host, [library])
        if isinstance(sass, Known) or value_or(opens, ()):
            return Built(known(True, "file", library), _cuda_by_names(opens), NO_CUDNN, sass, ptx, opens)
        return Built(Unknown(f"{library}: no GPU code and no CUDA library found"))

    return read


def _bitsandbytes(package: Installed) -> Built:
    listed = package.host.list(package.path, r"libbitsandbytes_cuda\d+\w*\.so$")
    builds = [re.sub(r"\D", "", e.name.partition("cuda")[2]) for e in value_or(listed, ())]
    if not isinstance(listed, Known) or not builds:
        return (
            Built(listed)
            if isinstance(listed, Unknown)
            else without_gpu(Source("folder", package.path, "no CUDA build"))
        )
    several = Unknown(
        f"it carries builds for CUDA {', '.join(dict.fromkeys(map(dotted, builds)))} and takes one at import"
    )
    return Built(
        Known(True, listed.source), known(dotted(builds[0]), "folder", package.path) if len(builds) == 1 else several
    )


def _xformers(package: Installed) -> Built:
    file = f"{package.path}/cpp_lib.json"
    version = _json(package, file).get("version")
    cuda = version.get("cuda") if isinstance(version, dict) else None
    if not isinstance(cuda, int):
        return Built(Unknown(f"{file} does not name a CUDA version"))
    built = _compiled("xformers", r"_C\w*\.(.*\.)?so$")(package)
    return built._replace(gpu_build=known(True, "file", file), cuda=known(f"{cuda // 100}.{cuda % 100}", "file", file))


def _triton(package: Installed) -> Built:
    """Triton compiles at run time with the ptxas it carries; it opens nothing but the driver."""
    file = f"{package.path}/backends/nvidia/include/cuda.h"
    lines = value_or(package.host.lines(file, "#define CUDA_VERSION"), ())
    number = re.search(r"CUDA_VERSION\s+(\d+)", " ".join(lines))
    cuda: Fact[str] = Unknown("its bundled compiler does not tell its version without being run")
    if number:
        cuda = known(f"{int(number[1]) // 1000}.{int(number[1]) % 1000 // 10}", "file", file)
    source = Source("folder", f"{package.path}/backends/nvidia")
    return Built(Known(True, source), cuda, Absent(source), _COMPILES, _COMPILES, Known((), source))


_COMPILES = Unknown("it compiles for the GPU at run time")


_flash_attn = _compiled("", r"flash_attn_\w*cuda.*\.so$")

KINDS: tuple[Kind, ...] = (
    Kind("tensorflow", "TensorFlow", TENSORFLOW, "tensorflow", read_tensorflow),
    Kind("torch", "PyTorch", re.compile("torch"), "torch", _torch),
    Kind("jax", "JAX", re.compile("jax"), "jax", _jax),
    Kind("onnxruntime", "ONNX Runtime", re.compile(r"(onnxruntime|ort-nightly)(-.+)?"), "onnxruntime", _onnxruntime),
    Kind("cupy", "CuPy", re.compile("cupy(-.+)?"), "cupy", _cupy),
    Kind("paddle", "PaddlePaddle", re.compile("paddlepaddle(-.+)?"), "paddle", _paddle),
    Kind("mxnet", "MXNet", re.compile("mxnet(-.+)?"), "mxnet", _mxnet),
    Kind("tensorrt", "TensorRT", TENSORRT, "tensorrt", read_tensorrt(needed)),
    Kind("tensorrt", "TensorRT", BINDINGS, "tensorrt_bindings", read_tensorrt(needed)),
    Kind("ctranslate2", "CTranslate2", re.compile("ctranslate2"), "ctranslate2",
         read_ctranslate2(needed, "ctranslate2.libs", r"libctranslate2")),
    Kind("bitsandbytes", "bitsandbytes", re.compile("bitsandbytes"), "bitsandbytes", _bitsandbytes),
    Kind("flash_attn", "flash-attn", re.compile("flash-attn(-.+)?"), "flash_attn", _flash_attn),
    Kind("xformers", "xFormers", re.compile("xformers"), "xformers", _xformers),
    Kind("vllm", "vLLM", re.compile("vllm"), "vllm", _compiled("vllm", r"_C\..*so$")),
    Kind("triton", "Triton", re.compile("triton|pytorch-triton"), "triton", _triton),
    Kind("numba", "Numba", re.compile("numba"), "numba", read_numba("libnvvm.so")),
)  # fmt: skip


# ---------------------------------------------------------------- the look


def frameworks(scene: Scene) -> Fact[tuple[Framework, ...]]:
    """Every framework whose module folder is there, with what it was built for."""
    return frameworks_of(scene, {}, needed)


def frameworks_of(
    scene: Scene, read: Mapping[str, Callable[[Installed], Built]], names: Needed
) -> Fact[tuple[Framework, ...]]:
    """The same, with readers of another system for some frameworks."""
    installed = scene.facts.target.distributions.need() or ()
    found: list[Framework] = []
    for kind in KINDS:
        package = _package(scene.host, kind, installed)
        if package and all(one.name != kind.name for one in found):
            found.append(_framework(kind, package, read.get(kind.name, kind.read)(package)))
    found += others(scene.host, installed, found, names)
    return known(tuple(found), "folder", ", ".join(scene.facts.target.site_packages.need() or ()))


def _package(host: Host, kind: Kind, installed: Sequence[Distribution]) -> Installed | None:
    """The first installed distribution of a kind that has its module folder beside its metadata."""
    for dist in installed:
        if kind.installs.fullmatch(dist.name):
            site = dist.location.rpartition("/")[0]
            if isinstance(host.stat(f"{site}/{kind.module}"), Known):
                return Installed(host, dist, site, f"{site}/{kind.module}", installed)
    return None


def _framework(kind: Kind, package: Installed, built: Built) -> Framework:
    return Framework(
        name=kind.name,
        title=kind.title,
        distribution=package.dist.name,
        version=package.dist.version,
        path=built.path or package.path,
        gpu_build=built.gpu_build,
        built_for_cuda=built.cuda,
        built_for_cudnn=built.cudnn,
        sass=built.sass,
        ptx=built.ptx,
        opens=built.opens,
    )
