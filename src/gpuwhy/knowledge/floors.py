"""Floors: what a package needs of the GPU, the system, CUDA and torch, where no metadata states it.

Each row holds for the releases [since, until) of a package and names its source. All rows of a release count together.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import source


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """What some releases of a package need and do not state."""

    package: str  # a name, or an expression that the whole name matches
    since: str = "0"
    until: str = ""
    gpu: str = ""  # the oldest compute capability
    systems: tuple[str, ...] = ()  # the only ones: linux (WSL 2 is one), windows
    python: str = ""  # the Pythons it works on: <3.12
    cuda: str = ""  # what its builds are made with
    asks: dict[str, str] = {}  # of frameworks and NVIDIA's wheels
    adds: tuple[str, ...] = ()  # requirements to name beside it
    builds: tuple[
        str, ...
    ] = ()  # it is compiled against the installed torch: these must be there before
    compiler: str = ""  # nvcc is needed, and when
    variables: tuple[tuple[str, str], ...] = ()  # to set before it is installed
    note: str = ""
    source: Source


def _told(of: str, what: str = "") -> Source:
    return source(of, f"{what}; noted in November 2026" if what else "noted in November 2026")


_BUILD = ("packaging", "ninja", "psutil", "setuptools", "wheel")
_LINUX = ("linux",)
_RAPIDS = r"(cudf|cuml|cugraph|cucim|cuspatial|cuxfilter|dask-cudf)"
_PYG = r"torch-(scatter|sparse|cluster|spline-conv)|pyg-lib"
_AT_INSTALL, _AT_USE = "when it is installed", "when its kernels are first used"

FLOORS: tuple[Floor, ...] = (
    Floor(package="vllm", gpu="7.0", systems=_LINUX, source=_told("vLLM's installation guide", "GPU, requirements")),
    Floor(package="vllm", since="0.7.3", until="0.8", asks={"torch": "==2.5.1", "torchvision": "==0.20.1"},
          source=_told("vllm 0.7.3, requirements-cuda.txt")),
    Floor(package="vllm", since="0.8", until="0.8.5", asks={"torch": "==2.6.0", "torchvision": "==0.21.0"},
          source=_told("vllm 0.8.0 to 0.8.4, requirements/cuda.txt")),
    Floor(package="vllm", since="0.1.4", until="0.10", adds=("transformers<4.54",),
          source=source("vllm#22178 and vllm-ascend#2046", "'aimv2' is already used by a Transformers config")),
    Floor(package="vllm", since="0.10", until="0.12", adds=("transformers<5",),
          source=source("runpod-workers/worker-vllm#258", "vllm 0.11.0 fails with transformers 5")),
    Floor(package="vllm", until="0.2.2", asks={"torch": "<2.1"}, source=_told("its release dates", "before torch 2.1")),
    Floor(package="vllm", since="0.2.2", until="0.2.6", asks={"torch": "<2.2"},
          source=_told("its release dates", "before torch 2.2")),
    Floor(package="vllm", since="0.2.2", until="0.2.6", cuda="12.1",
          source=source("vllm-project/vllm#2219", "wheels of the package index are for CUDA 12.1 since 0.2.2")),
    Floor(package="xformers", until="0.0.20", asks={"torch": "<2.1"},
          source=_told("its release dates", "compiled before torch 2.1")),
    Floor(package="sglang", gpu="7.5", systems=_LINUX, source=_told("SGLang's installation guide", "sm75 and newer")),
    Floor(package="lmdeploy", gpu="7.0", source=_told("LMDeploy's installation guide", "V100 and newer")),
    Floor(package="tensorrt-llm", gpu="8.0", systems=_LINUX, asks={"torch": ""},
          note="tensorrt-llm is a stub that fetches its wheel from NVIDIA's own index; NVIDIA's container is usual",
          source=_told("TensorRT-LLM's support matrix", "Ampere and newer; Linux")),
    Floor(package="flash-attn", until="2", gpu="7.5", builds=_BUILD, compiler=_AT_INSTALL,
          asks={"torch": ">=1.12,<2.1"},
          source=_told("flash-attn 1.0.9, PKG-INFO", "Turing, Ampere, Ada or Hopper; of the time of torch 2.0")),
    Floor(package="flash-attn", since="2", gpu="8.0", builds=_BUILD, compiler=_AT_INSTALL, asks={"torch": ">=1.12"},
          source=_told("flash-attn 2.x, README", "Ampere, Ada or Hopper; setup.py imports torch and psutil")),
    Floor(package="flash-attn", since="2.6", asks={"torch": ">=2.2"}, source=_told("flash-attn 2.6, README")),
    Floor(package="flashinfer-python", gpu="7.5", systems=_LINUX, source=_told("FlashInfer's README")),
    Floor(package="bitsandbytes", gpu="5.0", asks={"torch": ""}, source=_told("bitsandbytes' installation guide", "CUDA, requirements")),
    Floor(package="bitsandbytes", until="0.43", systems=_LINUX,
          source=_told("bitsandbytes 0.43 release notes", "Windows since 0.43; older wheels hold Linux code only")),
    Floor(package="bitsandbytes", since="0.45.1", until="0.46", asks={"torch": ">=2.0,<3"},
          source=_told("METADATA of bitsandbytes 0.45.1 to 0.45.5")),
    Floor(package="bitsandbytes", since="0.46", until="0.48", asks={"torch": ">=2.2,<3"},
          source=_told("METADATA of bitsandbytes 0.46.0 to 0.47.0")),
    Floor(package="bitsandbytes", since="0.48", gpu="6.0", source=_told("bitsandbytes 0.48, README", "SM60 minimum")),
    Floor(package="faiss-gpu", cuda="10.2", source=_told("faiss-gpu 1.7.2", "the last, built with CUDA 10.2 or 11")),
    Floor(package="natten", builds=_BUILD, compiler=_AT_INSTALL, asks={"torch": ""}, source=_told("NATTEN's guide")),
    Floor(package="sageattention", gpu="8.0", asks={"torch": ">=2.3"}, source=_told("SageAttention's README")),
    Floor(package="kaolin", asks={"torch": ""},
          note="kaolin's wheels for each torch and CUDA are on NVIDIA's own list (-f)",
          source=_told("Kaolin's installation guide")),
    Floor(package="triton", gpu="7.0", systems=_LINUX,
          source=_told("Triton's README", "compatibility: Linux; NVIDIA GPUs of compute capability 7.0 and newer")),
    Floor(package=r"mamba-ssm|causal-conv1d", systems=_LINUX, builds=_BUILD, compiler=_AT_INSTALL,
          asks={"torch": ">=2.0"}, source=_told("mamba-ssm's README", "Linux, NVIDIA GPU, CUDA 11.6 or newer")),
    Floor(package=r"transformer-engine(-cu\d+)?", gpu="8.0", systems=_LINUX, asks={"torch": ">=2.1"},
          note="transformer-engine[pytorch] is compiled when it is installed: --no-build-isolation, nvcc and cuDNN",
          source=_told("Transformer Engine's installation guide", "Linux; Ampere and newer, FP8 on Ada and Hopper")),
    Floor(package="deepspeed", asks={"torch": ""}, compiler=_AT_USE,
          source=source("deepspeed.ai/tutorials/advanced-install",
                        "not tied to specific PyTorch or CUDA versions; extensions are compiled just in time")),
    Floor(package="deepspeed", since="0.16", asks={"torch": ">=2.0"},
          source=_told("its release dates", "of the time of torch 2.5 and newer, which its tests use")),
    Floor(package=_PYG, builds=_BUILD, compiler=_AT_INSTALL, asks={"torch": ">=1.12"},
          note="wheels for each torch and CUDA: pip install … -f https://data.pyg.org/whl/torch-VERSION+cuXXX.html",
          source=_told("PyG's installation guide")),
    Floor(package="torch-geometric", asks={"torch": ">=1.12"}, source=_told("PyG's installation guide")),
    Floor(package="dgl", asks={"torch": "<2.5"},
          note="dgl on the package index is built without CUDA; its CUDA wheels, up to 2.4 for torch 2.4, are on "
               "https://data.dgl.ai/wheels/torch-2.4/cu124/repo.html (-f)",
          source=_told("DGL's installation page")),
    Floor(package=r"mmcv(-full)?", builds=_BUILD, compiler=_AT_INSTALL, asks={"torch": "<2.5"},
          note="mmcv's wheels are for one torch and one CUDA each, on OpenMMLab's own list: mim install mmcv",
          source=_told("MMCV's installation guide")),
    Floor(package="pytorch3d", builds=_BUILD, compiler=_AT_INSTALL, asks={"torch": ""},
          note="pytorch3d has no Linux wheel on the package index: install it from its repository",
          source=_told("PyTorch3D's INSTALL.md")),
    Floor(package=r"horovod|pycuda", compiler=_AT_INSTALL, source=_told("their installation guides")),
    Floor(package=r"gsplat|nerfacc", compiler=_AT_USE, asks={"torch": ""}, source=_told("their READMEs")),
    Floor(package="auto-gptq", since="0.7", asks={"torch": ">=2.2,<2.3"}, gpu="6.0", adds=("transformers<4.45",),
          note="auto-gptq has ended; GPTQModel is its successor",
          source=_told("AutoGPTQ's README", "0.7.1: CUDA 12.1 and torch 2.2")),
    Floor(package="autoawq", asks={"torch": "<=2.6.0"}, gpu="7.5", adds=("transformers<=4.51.3",),
          note="autoawq has ended; llm-compressor is what it names instead",
          source=_told("AutoAWQ's README", "last tested with torch 2.6.0 and transformers 4.51.3; Turing and newer")),
    Floor(package="llama-cpp-python", since="0.2.80", variables=(("CMAKE_ARGS", "-DGGML_CUDA=on"),),
          source=_told("llama-cpp-python's README")),
    Floor(package="llama-cpp-python", until="0.2.80", variables=(("CMAKE_ARGS", "-DLLAMA_CUBLAS=on"),),
          source=_told("llama-cpp-python's README")),
    Floor(package="llama-cpp-python", compiler=_AT_INSTALL,
          note="llama-cpp-python is built without CUDA unless CMAKE_ARGS asks for it; a wheel in pip's cache keeps the "
               "old build: --no-cache-dir --force-reinstall",
          source=_told("llama-cpp-python's README")),
    Floor(package="openai-whisper", asks={"torch": ""}, source=_told("openai-whisper's pyproject.toml")),
    Floor(package=r"transformers|diffusers", asks={"torch": ""}, source=_told("their extra torch")),
    Floor(package="unsloth", gpu="7.0", source=_told("Unsloth's requirements", "CUDA capability 7.0 and newer")),
    Floor(package=r"peft|trl", asks={"torch": ""}, source=_told("their METADATA")),
    Floor(package="ctranslate2", until="4", cuda="11.2",
          adds=("nvidia-cublas-cu11", "nvidia-cudnn-cu11<9"), asks={"nvidia-cudnn-cu11": "<9"},
          source=_told("CTranslate2's changelog", "CUDA 12 since 4.0")),
    Floor(package="ctranslate2", since="4", until="4.5", cuda="12.0",
          adds=("nvidia-cublas-cu12", "nvidia-cudnn-cu12<9"), asks={"nvidia-cudnn-cu12": "<9"},
          source=_told("the wheels of CTranslate2 4.0 to 4.4", "libcudnn.so.8; nothing asks for it")),
    Floor(package="ctranslate2", since="4.5", cuda="12.0", adds=("nvidia-cublas-cu12", "nvidia-cudnn-cu12>=9,<10"),
          asks={"nvidia-cudnn-cu12": ">=9,<10"},
          note="ctranslate2 finds these wheels only through LD_LIBRARY_PATH (faster-whisper's README shows how), or "
               "where torch is imported before it",
          source=_told("CTranslate2's changelog and faster-whisper's README", "cuDNN 9 since 4.5")),
    Floor(package=r"mxnet(-cu\d+(mkl)?)?", adds=("numpy<1.24",),
          source=source("mxnet 1.9.1, mxnet/numpy/utils.py",
                        "np.bool, which NumPy 1.24 removed; imported with 1.23.5, Python 3.11, 19 November 2026")),
    Floor(package=r"mxnet-cu\d+(mkl)?", since="1.9", note="MXNet's wheels also open libopenblas.so.0, libgfortran.so.3 and "
          "NCCL 2 of the system", source=source("mxnet_cu112-1.9.1, mxnet/libmxnet.so", "its dynamic section")),
    Floor(package="mxnet", note="mxnet on the package index is built without CUDA: mxnet-cu112, mxnet-cu102 … are the "
          "builds with it", source=_told("files of the package index")),
    Floor(package="paddlepaddle-gpu", note="newer releases (3.x) are on Paddle's own index: "
          "https://www.paddlepaddle.org.cn/packages/stable/cu126/ (--extra-index-url)",
          source=_told("PaddlePaddle's installation guide", "2.6.2 is the last on the package index")),
    Floor(package=f"{_RAPIDS}-cu1[123]", systems=_LINUX,
          source=source("docs.rapids.ai/platform-support", "Linux with glibc 2.28; Windows by WSL 2")),
    Floor(package=f"{_RAPIDS}-cu1[123]", until="24.2", gpu="6.0",
          note="the releases before 24.2 on the package index are stubs: add --extra-index-url https://pypi.nvidia.com",
          source=source("docs.rapids.ai/notices/rsn0034", "23.12 is the last release for Pascal")),
    Floor(package=f"{_RAPIDS}-cu1[123]", since="24.2", gpu="7.0",
          source=source("docs.rapids.ai/notices/rsn0034", "24.02 needs compute capability 7.0")),
    Floor(package=f"{_RAPIDS}-cu13", gpu="7.5", source=_told("CUDA 13 release notes", "7.5 and newer")),
    *(
        Floor(package=f"(.+-cu{n}|nvidia-dali-cuda{n}0)", cuda=f"{n}.0", source=_told("its own name"))
        for n in (11, 12, 13)
    ),
    Floor(package=r"spconv-cu\d+", asks={"torch": ""}, systems=("linux", "windows"), source=_told("spconv's README")),
    *(Floor(package=f"spconv-cu{n}", cuda=f"{n[:2]}.{n[2]}", source=_told("its own name"))
      for n in ("102", "111", "113", "114", "116", "117", "118", "120", "121", "124", "126")),
    Floor(package="cupy-cuda11x", cuda="11.2", source=_told("CuPy's installation guide", "CUDA 11.2 to 11.8")),
    Floor(package=r"tensorrt(-cu\d+)?", since="8.5", until="10", gpu="6.0",
          source=_told("TensorRT 8.6 support matrix", "Pascal and newer")),
    Floor(package=r"tensorrt(-cu\d+)?", since="10", until="10.5", gpu="7.0",
          source=_told("TensorRT 10.0 release notes", "Volta and newer")),
    Floor(package=r"tensorrt(-cu\d+)?", since="10.5", gpu="7.5",
          source=_told("TensorRT 10.5 release notes", "Volta ended")),
    Floor(package="tensorrt", since="10.13.2", cuda="13.0", source=_told("tensorrt's sdist", "asks for tensorrt-cu13")),
    Floor(package="tensorrt", since="8.6.1", until="9", builds=("pip", "setuptools", "wheel"),
          note="tensorrt 8.6's source fetches its wheels itself, by python -m pip, from NVIDIA's own index",
          source=_told("tensorrt 8.6.1.post1, setup.py", "runs pip while it is built")),
    Floor(package="tensorrt", since="8.5", until="10.13.2", cuda="12.0",
          source=_told("tensorrt's sdist", "asks for tensorrt-cu12 since 10.0")),
    Floor(package="numba", note="numba's CUDA part needs the toolkit's libnvvm and libdevice: numba-cuda[cu12] "
          "or [cu13] beside it brings them as wheels", source=_told("Numba's CUDA guide")),
    Floor(package=r"xgboost", gpu="5.0", source=_told("XGBoost's GPU page", "compute capability 5.0 and newer")),
    Floor(package="tensorflow-addons", asks={"tensorflow": ""}, source=_told("TensorFlow Addons' README")),
    Floor(package="tensorflow-addons", since="0.20", asks={"tensorflow": ">=2.10,<2.16"},
          note="tensorflow-addons has ended with 0.23", source=_told("TensorFlow Addons' compatibility matrix")),
    Floor(package="tensorflow-probability", since="0.25", asks={"tensorflow": ">=2.18"},
          source=_told("TensorFlow Probability's release notes")),
    *(
        Floor(package=name, since=f"0.{minor}", until=f"0.{minor + 1}", asks={"tensorflow": f">=2.{tf},<2.{tf + 1}"},
              source=_told(f"METADATA of {name} 0.{minor}.0", f"extra {extra}: tensorflow ~=2.{tf}.0"))
        for name, extra, first, last, ahead in (("tf-agents", "reverb", 10, 19, -4), ("dm-reverb", "tensorflow", 5, 14, 1))
        for minor in range(first, last + 1)
        for tf in (minor + ahead,)
    ),
    Floor(package="tf-agents", since="0.19", python="<3.12", adds=("tensorflow-probability==0.23.0",),
          source=source("METADATA of tf-agents 0.19.0: pygame==2.1.3, which has wheels up to cp311",
                        "beside tensorflow 2.20.0 its import ends in 'keras._tf_keras.keras' has no '__internal__'; "
                        "imported beside tensorflow-cpu 2.15.1, Python 3.11, 19 November 2026")),
    Floor(package="tensorflow-model-optimization", until="0.8", asks={"tensorflow": "<2.16"},
          source=_told("TensorFlow Model Optimization 0.8.0 release notes", "Keras 2 up to then")),
    Floor(package="tensorflow-ranking", until="0.5.5", asks={"tensorflow": "<2.16"},
          source=_told("METADATA of tensorflow-ranking 0.5.5", "tensorflow<2.16.0; the older ones use Keras 2 too")),
    Floor(package="torchtext", since="0.18", asks={"torch": "<2.4"},
          source=_told("torchtext 0.18.0, the last", "its libraries miss symbols in newer torch")),
)  # fmt: skip

BESIDE: tuple[tuple[str, str, str, str], ...] = (
    ("tensorrt", "tensorflow", "2.18",
     "TensorFlow 2.18 and newer are built without TensorRT: TF-TRT ended with 2.17 (its release notes)"),
)  # fmt: skip
"""What is said where one package stands beside a release, and newer, of another."""

NOT_THERE: dict[str, str] = {
    "apex": "on the package index is another project; NVIDIA's apex is built from its repository (NVIDIA/apex) against "
    "the installed torch, with nvcc and --no-build-isolation",
    "detectron2": "is not on the package index; it is built from its repository (facebookresearch/detectron2) against "
    "the installed torch",
    "tiny-cuda-nn": "is not on the package index; it is built from its repository (NVlabs/tiny-cuda-nn)",
    "minkowskiengine": "on the package index does not build with CUDA 12; it is built from its repository",
}

BESIDE_THE_INDEX: dict[str, tuple[str, Source]] = {
    "jax": (
        "JAX's CUDA builds before 0.4.22, and all for CUDA 11 (driver 450 and newer, up to 0.4.25), are on a list "
        'of their own, not on the index: pip install "jax[cuda11_pip]==0.4.25" (or cuda12_pip; 0.4.13 for Python 3.8) '
        "-f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html",
        _told("JAX's change log", "0.4.26 dropped CUDA 11; 0.4.14 dropped Python 3.8"),
    ),
    **{
        name: (
            f"RAPIDS 23.12 is the last release for Pascal, on NVIDIA's own index, for Python 3.9 and 3.10: "
            f'pip install "{name}==23.12.*" --extra-index-url https://pypi.nvidia.com',
            source("docs.rapids.ai/notices/rsn0034", "23.12 is the last release for Pascal"),
        )
        for name in ("cudf-cu12", "cuml-cu12", "cugraph-cu12", "cudf-cu11", "cuml-cu11")
    },
}
"""Builds that the package index does not have, told where nothing of it works."""

OF_NVIDIA = (
    "NVIDIA's own build of TensorFlow 1.15.5 runs on Ampere and Hopper: "
    "the image nvcr.io/nvidia/tensorflow:23.03-tf1-py3",
    _told("NVIDIA/tensorflow, release 23.03", "the last one with TensorFlow 1"),
)
"""The one way to TensorFlow 1 on a GPU of compute capability 8.0 or newer."""


@lru_cache(maxsize=4096)
def floors(package: str, version: str) -> tuple[Floor, ...]:
    """The rows that hold for a release."""
    return tuple(
        row
        for row in _of(package)
        if at_least(version, row.since) and not _ended(version, row.until)
    )


@lru_cache(maxsize=512)
def _of(package: str) -> tuple[Floor, ...]:
    return tuple(row for row in FLOORS if re.fullmatch(row.package, package))


def _ended(version: str, until: str) -> bool:
    return bool(until) and at_least(version, until)
