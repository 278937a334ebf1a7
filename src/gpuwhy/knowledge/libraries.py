"""The CUDA library families: how their files are called, who ships them, and where their version is written."""

from __future__ import annotations

import re

import msgspec


class Family(msgspec.Struct, frozen=True):
    """One family of CUDA libraries."""

    name: str
    stems: tuple[str, ...]  # regular expressions of what stands between "lib" and ".so"
    wheels: tuple[str, ...] = ()  # distributions without their -cu12 suffix
    conda: tuple[str, ...] = ()
    dpkg: str = ""  # regular expression of Debian package names, from the start
    header: str = ""
    macros: tuple[str, ...] = ()  # one per place of the version; a single one holds 1000 * major + 10 * minor
    places: int = 4  # how many places of a package's version belong to the library


def _ver(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_VER_{part}" for part in ("MAJOR", "MINOR", "PATCH", "BUILD"))


# Names and macros as found in the CUDA 10.0 to 13.2 toolkits, the cuDNN 7 to 9 archives and the nvidia-* wheels.
FAMILIES: tuple[Family, ...] = (
    Family(
        "cudart",
        ("cudart",),
        ("nvidia-cuda-runtime",),
        ("cuda-cudart", "cudatoolkit"),
        r"cuda-cudart-|libcudart",
        "cuda_runtime_api.h",
        ("CUDART_VERSION",),
    ),
    Family(
        "cublas",
        ("cublas",),
        ("nvidia-cublas",),
        ("libcublas", "cudatoolkit"),
        r"libcublas",
        "cublas_api.h",
        _ver("CUBLAS"),
    ),
    Family(
        "cublasLt",
        ("cublasLt",),
        ("nvidia-cublas",),
        ("libcublas", "cudatoolkit"),
        r"libcublas",
        "cublas_api.h",
        _ver("CUBLAS"),
    ),
    Family(
        "cudnn",
        (r"cudnn(?:_\w+)?",),
        ("nvidia-cudnn",),
        ("libcudnn", "cudnn"),
        r"libcudnn|cudnn\d*-|nvidia-cudnn",
        "cudnn_version.h",
        ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"),
        3,
    ),
    Family(
        "cufft",
        ("cufftw?",),
        ("nvidia-cufft",),
        ("libcufft", "cudatoolkit"),
        r"libcufft|cuda-cufft",
        "cufft.h",
        _ver("CUFFT"),
    ),
    Family(
        "curand",
        ("curand",),
        ("nvidia-curand",),
        ("libcurand", "cudatoolkit"),
        r"libcurand|cuda-curand",
        "curand.h",
        _ver("CURAND"),
    ),
    Family(
        "cusolver",
        ("cusolver(?:Mg)?",),
        ("nvidia-cusolver",),
        ("libcusolver", "cudatoolkit"),
        r"libcusolver|cuda-cusolver",
        "cusolver_common.h",
        _ver("CUSOLVER"),
    ),
    Family(
        "cusparse",
        ("cusparse",),
        ("nvidia-cusparse",),
        ("libcusparse", "cudatoolkit"),
        r"libcusparse\d*-|libcusparse\d+$|cuda-cusparse",
        "cusparse.h",
        _ver("CUSPARSE"),
    ),
    Family(
        "cusparselt",
        ("cusparseLt",),
        ("nvidia-cusparselt",),
        ("libcusparselt", "cusparselt"),
        r"libcusparselt",
        "cusparseLt.h",
        _ver("CUSPARSELT"),
    ),
    Family(
        "nccl",
        ("nccl",),
        ("nvidia-nccl",),
        ("nccl",),
        r"libnccl",
        "nccl.h",
        ("NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"),
        3,
    ),
    Family(
        "nvrtc",
        ("nvrtc", "nvrtc-builtins"),
        ("nvidia-cuda-nvrtc",),
        ("cuda-nvrtc", "cudatoolkit"),
        r"cuda-nvrtc|libnvrtc",
    ),
    Family("nvjitlink", ("nvJitLink",), ("nvidia-nvjitlink",), ("libnvjitlink",), r"libnvjitlink"),
    Family("cupti", ("cupti",), ("nvidia-cuda-cupti",), ("cuda-cupti",), r"cuda-cupti|libcupti"),
    Family("nvtx", ("nvToolsExt", "nvtx3interop"), ("nvidia-nvtx",), ("cuda-nvtx",), r"cuda-nvtx|libnvtoolsext"),
    Family("cufile", ("cufile(?:_rdma)?",), ("nvidia-cufile",), ("libcufile",), r"libcufile|gds-tools"),
    Family("nvshmem", ("nvshmem_host",), ("nvidia-nvshmem",), ("libnvshmem3", "nvshmem"), r"libnvshmem", places=3),
    Family(
        "tensorrt",
        (r"nvinfer(?:_\w+)?", r"nvonnxparser", r"nvparsers"),
        ("tensorrt-libs", "tensorrt"),
        ("libnvinfer", "tensorrt"),
        r"libnvinfer|libnvonnxparsers|libnvparsers|tensorrt",
        "NvInferVersion.h",
        ("NV_TENSORRT_MAJOR", "NV_TENSORRT_MINOR", "NV_TENSORRT_PATCH"),
        3,
    ),
)

_STEM = "|".join(f"(?P<f{number}>{'|'.join(family.stems)})" for number, family in enumerate(FAMILIES))
_NAME = re.compile(rf"lib(?P<stem>{_STEM})(?P<hash>-[0-9a-f]{{8}})?\.so(?P<suffix>(?:\.\d+)*)$")

_DLL_STEM = _STEM.replace(r"\w+", "[A-Za-z_]+?")
_DLL = re.compile(
    rf"(?P<stem>{_DLL_STEM})(?:64|32)?(?P<suffix>(?:_[\d._]*\d)?)\.dll$", re.IGNORECASE
)  # cudnn_ops_infer64_8.dll, nvrtc64_101_0.dll, nvJitLink_120_0.dll

FILES = r"lib(cu(bl|d[an]|ff|fi|pt|ra|so|sp)|nccl|nv(?!idia))[\w-]*\.so[.\d]*$"
"""A short regular expression that lets every name above through and little else: for listing a folder."""


class LibraryName(msgspec.Struct, frozen=True):
    """A file name taken apart: libcudnn_cnn-1a2b3c4d.so.9.1 is cudnn, stem cudnn_cnn, suffix 9.1."""

    family: Family
    stem: str
    suffix: str


def parse(name: str) -> LibraryName | None:
    """Take a file name apart; None when it is no CUDA library's."""
    match = _NAME.match(name) or _DLL.match(name)
    if not match:
        return None
    number = next(n for n in range(len(FAMILIES)) if match[f"f{n}"] is not None)
    stem = match["stem"] + (match["hash"] or "" if name.startswith("lib") else "")
    return LibraryName(FAMILIES[number], stem, match["suffix"][1:])


def stem(name: str) -> str:
    """What a library is called on every system: libcudnn_graph.so.9 and cudnn_graph64_9.dll are cudnn_graph; or ""."""
    found = parse(name)
    return found.stem if found else ""


def opened_later(name: str) -> bool:
    """Whether a file is opened by another library when first used: a part of cuDNN, what NVRTC compiles with."""
    return re.match(r"(?i)(lib)?(cudnn_|nvrtc-builtins)", name) is not None


def is_cudnn(name: str) -> bool:
    """Whether a file name is that of cuDNN or of a part of it."""
    return name.startswith("libcudnn") or name[:5].lower() == "cudnn"
