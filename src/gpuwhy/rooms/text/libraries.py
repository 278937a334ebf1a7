"""Conditions on libraries: which family a file name belongs to, which release, and what the text tells of it."""

from __future__ import annotations

import re
from typing import Literal

from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.model.symptom import Condition, Reading, Symptom
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.versions import versions_told

Kind = Literal["driver", "cudnn", "cuda", "nvrtc", "tensorrt", "nccl", "framework", "other"]


_KINDS: tuple[tuple[Kind, str], ...] = (
    ("driver", r"libcuda\.so|nvcuda|libnvidia-|nvml\.dll|libnvcuvid|libnvidia_"),
    ("cudnn", r"(?:lib)?cudnn"),
    ("tensorrt", r"(?:lib)?nv(?:infer|onnxparser|parsers)"),
    ("nvrtc", r"(?:lib)?nvrtc|(?:lib)?nvvm"),
    ("nccl", r"libnccl|nccl"),
    ("cuda",
     r"(?:lib)?(?:cudart|cublas|cufft|curand|cusolver|cusparse|cupti|nvjitlink|nvtoolsext|nvtx|npp|cufile|nvjpeg"
     r"|nvshmem|cudadevrt|nvcomp|cutensor|cudss|nvimgcodec|nvjitlink|nvfatbin|nvtiff|nvgraph|nvblas|cuvs|rmm\b)"),
    ("framework", r"(?:lib)?(?:torch|c10|caffe2|tensorflow|tfcc|_pywrap_tensorflow|onnxruntime|shm\b)"),
)  # fmt: skip


def kind_of(library: str) -> Kind:
    """Which family a library's file name belongs to."""
    name = library.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return next((kind for kind, pattern in _KINDS if re.match(pattern, name)), "other")


_NUMBERED = re.compile(
    r"(?:lib)?(?P<stem>[a-z]{1,40})\w{0,40}?(?:\.so\.(\d+)(?:\.(\d+))?|64_(\d+)(?:_\d+)?\.dll|\.(\d+)(?:\.(\d+))?\.dylib)",
    re.IGNORECASE,
)


Span = tuple[tuple[int, ...], tuple[int, ...]]


def wanted_span(library: str) -> Span | None:
    """The oldest and the newest release that a file name belongs to: CUDA 10.1 to 11.0 for libcusolver.so.10."""
    match = _NUMBERED.match(library)
    if not match:
        return None
    stem, so, so_minor, dll, dylib, dylib_minor = match.groups()
    number, minor = int(so or dll or dylib), so_minor or dylib_minor
    if dll and number >= 70:  # cudart64_101.dll
        number, minor = number // 10, str(number % 10)
    if kind_of(library) == "cudnn":
        return (number,), (number,)
    ends = re.findall(r"[\d.]+", cuda_of(f"lib{stem.lower()}.so.{number}" + (f".{minor}" if minor else "")))
    plain = (number, int(minor)) if minor and number < 11 else (number,)
    return (numbers(ends[0]), numbers(ends[-1])) if ends else (plain, plain)


def _within(told: tuple[int, ...], span: Span) -> bool:
    low, high = span
    return low[: len(told)] <= told[: len(low)] and told[: len(high)] <= high[: len(told)]


def wanted_major(s: Symptom) -> int:
    """The major version in the name of the library that was asked for; 0 where the name has none."""
    match = _NUMBERED.match(s.get("library"))
    number = int(next((n for n in match.groups()[1:] if n), 0)) if match else 0
    return number // 10 if number >= 70 else number  # cudart64_101.dll, cudnn64_7.dll


def other_major_told(s: Symptom, r: Reading) -> bool:
    """The text names only other releases than those that the library asked for belongs to."""
    wanted = wanted_span(s.get("library"))
    cudnn = kind_of(s.get("library")) == "cudnn"
    told = [numbers(v)[:2] for v in (versions_told(r, "cudnn") if cudnn else versions_told(r, "cuda", "nvcc"))]
    if cudnn:
        told = [(int(str(t[0])[0]) if t[0] > 99 else t[0],) for t in told if t]
    told = [t for t in told if len(t) > 1] or told  # "CUDA 10.1" says more than "CUDA 11"
    return wanted is not None and bool(told) and not any(_within(t, wanted) for t in told)


_CUDNN_THERE = re.compile(
    r"nvidia-cudnn-cu\d+[ =:]{1,3}(?P<a>\d+)\.|libcudnn\w{0,20}\.so\.(?P<b>\d)\.\d(?![\w.]*[,}: ]{1,2}(?:cannot|no such|libcudnn))"
    r"|\b(?:has|have|got|installed|only|to|with)\b[^\n]{0,16}?\b(?:lib)?cudnn[ -]?v?(?P<c>\d)(?![\d.]*(?:\.so| is (?:missing|not)| not))"
    r"|\bcudnn[ -]?v?(?P<d>\d)(?:\.\d+)* (?:is |was )?(?:installed|there)|^libcudnn\w*\.so\.(?P<e>\d)[\d.]*\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A cuDNN that a text says is there."""
_CUDA_THERE = re.compile(
    r"\b(?:has|have|got|installed|only|with)\b(?: only| just)? (?:cuda(?: toolkit)?[ -]v?|v)(?P<a>(?:[789]|1[0-3])\.\d{1,2})\b"
    r"|\bcuda[ -]v?(?P<b>(?:[789]|1[0-3])\.\d{1,2})(?: (?:is |was )?(?:installed|there|only|in /)|$)"
    r"|/usr/local: [^\n]*cuda-(?P<c>1?\d\.\d)|\btoolkit\b[^\n\d]{0,20}(?: is|:) (?P<d>(?:[789]|1[0-3])\.\d{1,2})\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A CUDA that a text says is there."""
_REQUIRED = re.compile(r"requires?\b[^\n]{0,40}\bcuda (?P<major>1\d)\b", re.IGNORECASE)


def _there(form: re.Pattern[str], text: str) -> list[tuple[int, ...]]:
    """The releases that a text says are there."""
    return [numbers(next(filter(None, one.groups()))) for one in form.finditer(text)]


def other_cudnn_there(s: Symptom, r: Reading) -> bool:
    """The text says that another cuDNN than the one of the library asked for is there."""
    wanted, there = wanted_span(s.get("library")), {one[0] for one in _there(_CUDNN_THERE, r.excerpt)}
    return kind_of(s.get("library")) == "cudnn" and wanted is not None and bool(there) and wanted[0][0] not in there


def other_cuda_there(s: Symptom, r: Reading) -> bool:
    """The text says that another CUDA than that of the library asked for, or than the one required, is there."""
    there = _there(_CUDA_THERE, r.excerpt) + [numbers(v)[:2] for v in r.told.versions.get("nvcc", ())]
    wanted = wanted_span(s.get("library")) if kind_of(s.get("library")) in ("cuda", "nvrtc") else None
    required = _REQUIRED.search(r.excerpt)
    span = wanted or (((int(required["major"]),), (int(required["major"]),)) if required else None)
    return span is not None and bool(there) and not any(_within(one, span) for one in there)


def behind_cudnn(s: Symptom, r: Reading) -> bool:
    """What is not found was listed as a need of a cuDNN library."""
    return re.search(r"\bldd \S*cudnn", r.excerpt) is not None and kind_of(s.get("library")) != "cudnn"


def same_file_told(s: Symptom, r: Reading) -> bool:
    """A listing in the text shows that the very file exists."""
    return any(f.rsplit("/", 1)[-1].startswith(s.get("library")) for f in r.told.files) and bool(s.get("library"))


def other_file_told(s: Symptom, r: Reading) -> bool:
    """A listing shows the same library under another version."""
    stem = s.get("library").split(".so")[0]
    names = [f.rsplit("/", 1)[-1] for f in r.told.files]
    if kind_of(s.get("library")) == "cudnn":  # its parts change their names, not their number
        found = {wanted_span(n) for n in names if n.startswith("libcudnn")} - {None}
        return bool(found) and wanted_span(s.get("library")) not in found
    same = [n for n in names if n.split(".so")[0] == stem]
    return bool(stem and same) and not any(n.startswith(s.get("library")) for n in same)


_LISTING = re.compile(
    r"^(?P<prompt>[^\n]{0,80}?[$#>%]) ?(?:\S*/)?(?:pip3?|python\S* -m pip|uv pip|conda|mamba|dpkg|apt|rpm|ldconfig|find|locate)\b"
    r"[^\n]*\b(?P<what>nvidia|cuda|cudnn|cublas|libcu\w{2,12})\b[^\n]*\n(?:(?P=prompt)|\s*\Z)",
    re.IGNORECASE | re.MULTILINE,
)
"""A command that lists what is installed, by name, and the next prompt right below it."""


def none_listed(pattern: str) -> Condition:
    """Somebody listed what is installed of a name, and there was none."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda s, r: any(wanted.match(one["what"]) for one in _LISTING.finditer(r.excerpt))


_TOOLKIT = re.compile(r"(?:cuda-|cuda[\\/]v)(\d{1,2}\.\d)\b", re.IGNORECASE)
_OF_RELEASE = re.compile(r"(?:\.so\.|64_)(\d{2})\.?(\d)")


def beside_another_toolkit(s: Symptom, r: Reading) -> bool:
    """The toolkit that the library belongs to is named in the text by its folder, and another one beside it."""
    found = _OF_RELEASE.search(s.get("library"))
    folders = set(_TOOLKIT.findall(r.excerpt))
    return found is not None and f"{found[1]}.{found[2]}" in folders and len(folders) > 1
