"""Of which part of the stack a library is, by its file name, and of which releases."""

import re
from functools import cache

from gpuwhy.knowledge.libraries import cuda_of

Version = tuple[int, ...]
Span = tuple[Version, Version]
"""The oldest and the newest release that a name belongs to."""

_KINDS = (
    ("driver", r"libcuda\.so|nvcuda|libnvidia-|nvml\.dll|libnvcuvid|libnvidia_"),
    ("cudnn", r"(?:lib)?cudnn"),
    ("tensorrt", r"(?:lib)?nv(?:infer|onnxparser|parsers)"),
    ("nvrtc", r"(?:lib)?nvrtc|(?:lib)?nvvm"),
    ("nccl", r"libnccl|nccl"),
    (
        "cuda",
        r"(?:lib)?(?:cudart|cublas|cufft|curand|cusolver|cusparse|cupti|nvjitlink|nvtoolsext|nvtx"
        r"|npp|cufile|nvjpeg|nvshmem|cudadevrt|nvcomp|cutensor|cudss|nvimgcodec|nvfatbin|nvtiff"
        r"|nvgraph|nvblas|cuvs|rmm\b)",
    ),
    (
        "framework",
        r"(?:lib)?(?:torch|c10|caffe2|tensorflow|tfcc|_pywrap_tensorflow|onnxruntime|shm\b)",
    ),
)
_NUMBERED = re.compile(
    r"(?:lib)?(?P<stem>[a-z]{1,40})\w{0,40}?"
    r"(?:\.so\.(\d+)(?:\.(\d+))?|64_(\d+)(?:_\d+)?\.dll|\.(\d+)(?:\.(\d+))?\.dylib)",
    re.IGNORECASE,
)


def numbers(version: str) -> Version:
    """(12, 4) of "12.4", "v12.4" or "12.4+cu121"."""
    found = re.match(r"\D{0,2}(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


@cache
def kind_of(library: str) -> str:
    """driver, cudnn, tensorrt, nvrtc, nccl, cuda, framework or other."""
    name = library.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return next((kind for kind, pattern in _KINDS if re.match(pattern, name)), "other")


@cache
def span_of(library: str) -> Span | None:
    """The releases that a file name belongs to: CUDA 10.1 to 11.0 for libcusolver.so.10."""
    match = _NUMBERED.match(library.replace("\\", "/").rsplit("/", 1)[-1])
    if not match:
        return None
    stem, so, so_minor, dll, dylib, dylib_minor = match.groups()
    number, minor = int(so or dll or dylib), so_minor or dylib_minor
    if dll and number >= 70:  # cudart64_101.dll
        number, minor = number // 10, str(number % 10)
    if kind_of(library) == "cudnn":
        return (number,), (number,)
    name = f"lib{stem.lower()}.so.{number}" + (f".{minor}" if minor else "")
    ends = re.findall(r"[\d.]+", cuda_of(name))
    plain = (number, int(minor)) if minor and number < 11 else (number,)
    return (numbers(ends[0]), numbers(ends[-1])) if ends else (plain, plain)


def within(version: Version, span: Span) -> bool:
    """Whether a version may be one of a span's, as far as it is stated."""
    low, high = span
    return (
        low[: len(version)] <= version[: len(low)] and version[: len(high)] <= high[: len(version)]
    )


def cudnn_release(version: str) -> Version:
    """(7, 6) of 7.6.5, of 7605 and of 7600; (9, 1) of 90100."""
    parts = numbers(version)[:2] or (0,)
    if parts[0] > 9999:
        return parts[0] // 10000, parts[0] // 100 % 100
    return (parts[0] // 1000, parts[0] // 100 % 10) if parts[0] > 999 else parts
