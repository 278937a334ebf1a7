"""Conditions of clues: small questions about a symptom and the text around it."""

from __future__ import annotations

import re
from typing import Literal

from gpuwhy.knowledge import archs, gpus
from gpuwhy.knowledge.cudnn_rules import CUDA_OF
from gpuwhy.knowledge.releases import find
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.knowledge.xid import meaning
from gpuwhy.model.release import Release
from gpuwhy.model.symptom import Condition, Reading, Symptom
from gpuwhy.model.version import numbers

Kind = Literal["driver", "cudnn", "cuda", "nvrtc", "tensorrt", "nccl", "framework", "other"]

_KINDS: tuple[tuple[Kind, str], ...] = (
    ("driver", r"libcuda\.so|nvcuda|libnvidia-|nvml\.dll|libnvcuvid|libnvidia_"),
    ("cudnn", r"(?:lib)?cudnn"),
    ("tensorrt", r"(?:lib)?nv(?:infer|onnxparser|parsers)"),
    ("nvrtc", r"(?:lib)?nvrtc|(?:lib)?nvvm"),
    ("nccl", r"libnccl|nccl"),
    ("cuda", r"(?:lib)?(?:cudart|cublas|cufft|curand|cusolver|cusparse|cupti|nvjitlink|nvtoolsext|nvtx|npp|cufile|nvjpeg|nvshmem|cudadevrt)"),
    ("framework", r"(?:lib)?(?:torch|c10|caffe2|tensorflow|tfcc|_pywrap_tensorflow|onnxruntime|shm\b)"),
)  # fmt: skip


def kind_of(library: str) -> Kind:
    """Which family a library's file name belongs to."""
    name = library.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return next((kind for kind, pattern in _KINDS if re.match(pattern, name)), "other")


def asks(*kinds: Kind) -> Condition:
    """The library that was asked for is of one of these families."""
    return lambda s, r: kind_of(s.get("library")) in kinds


def wants(*kinds: Kind) -> Condition:
    """The library that the loader missed, behind the one that was asked for."""
    return lambda s, r: kind_of(s.get("wanted")) in kinds


def field(name: str, pattern: str) -> Condition:
    """A field matches an expression from its start, case ignored."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda s, r: bool(wanted.match(s.get(name)))


def line(pattern: str) -> Condition:
    """The quoted line holds an expression."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda s, r: bool(wanted.search(s.text))


def all_of(*conditions: Condition) -> Condition:
    """Every condition holds."""
    return lambda s, r: all(c(s, r) for c in conditions)


def any_of(*conditions: Condition) -> Condition:
    """One condition holds."""
    return lambda s, r: any(c(s, r) for c in conditions)


def no(condition: Condition) -> Condition:
    """The condition does not hold."""
    return lambda s, r: not condition(s, r)


def with_(*prefixes: str) -> Condition:
    """The text has another message that starts so."""
    return lambda s, r: any(o.signature.startswith(prefixes) and o.order != s.order for o in r.symptoms)


def in_packages(symptom: Symptom, reading: Reading) -> bool:
    """The file that the message names lies among installed packages or in Python's own library."""
    return bool(re.search(r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]", symptom.get("path")))


def by_package(symptom: Symptom, reading: Reading) -> bool:
    """An installed package's own code raised the exception that ended the program, not the user's."""
    owner = getattr(getattr(reading, "ending", None), "owner", "")
    return owner not in ("", "user", "python")


def beside_missing(*kinds: Kind) -> Condition:
    """A library of one of these families is not found either."""
    return lambda s, r: any(
        o.role == "error" and o.order != s.order and kind_of(o.get("library")) in kinds for o in r.symptoms
    )


def in_container(s: Symptom, r: Reading) -> bool:
    """The text speaks of a container."""
    return r.told.container


def in_wsl(s: Symptom, r: Reading) -> bool:
    """The text speaks of WSL."""
    return r.told.os == "wsl"


def on_windows(s: Symptom, r: Reading) -> bool:
    """The text is from Windows."""
    return r.told.os == "windows"


def on_macos(s: Symptom, r: Reading) -> bool:
    """The text is from macOS."""
    return r.told.os == "macos"


def no_errors(s: Symptom, r: Reading) -> bool:
    """Nothing in the text is an error."""
    return not any(o.role in ("error", "echo") and o.signature != "title.trouble" for o in r.symptoms)


def alone(s: Symptom, r: Reading) -> bool:
    """No other error decides."""
    return all(o.signature == s.signature or o.speaker == "title" for o in r.errors)


def alone_beside(*prefixes: str) -> Condition:
    """No other error decides, but for those that start so."""
    mine = ("title.", *prefixes)
    return lambda s, r: all(o.signature == s.signature or o.signature.startswith(mine) for o in r.errors)


def told_version(name: str, pattern: str) -> Condition:
    """A told version of something matches."""
    wanted = re.compile(pattern)
    return lambda s, r: any(wanted.match(v) for v in _told(r, name))


def _told(r: Reading, *names: str) -> list[str]:
    """The told versions; of TensorFlow also those that somebody wrote in a sentence."""
    more = ("tf",) if "tensorflow" in names else ()
    return [v for name in (*names, *more) for v in r.told.versions.get(name, ())]


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
    told = [numbers(v)[:2] for v in (_told(r, "cudnn") if cudnn else _told(r, "cuda", "nvcc"))]
    if cudnn:
        told = [(int(str(t[0])[0]) if t[0] > 99 else t[0],) for t in told if t]
    told = [t for t in told if len(t) > 1] or told  # "CUDA 10.1" says more than "CUDA 11"
    return wanted is not None and bool(told) and not any(_within(t, wanted) for t in told)


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


def _figures(s: Symptom) -> dict[str, float]:
    f = {name: s.size(name) for name in ("wanted", "total", "free", "allocated", "reserved", "unused")}
    if f["reserved"] < 0 <= min(f["allocated"], f["unused"]):  # in a container the own process goes by a foreign pid
        f["reserved"] = f["allocated"] + f["unused"]
    return f


def has_figures(s: Symptom, r: Reading) -> bool:
    """The message gives total, free and own memory."""
    f = _figures(s)
    return f["total"] > 0 and f["free"] >= 0 and max(f["reserved"], f["allocated"]) >= 0


def others_hold(s: Symptom, r: Reading) -> bool:
    """What is neither free nor held by this process is a large part of the card."""
    f = _figures(s)
    own = max(f["reserved"], f["allocated"], 0)
    held = f["total"] - max(f["free"], 0) - own
    return has_figures(s, r) and f["free"] < f["wanted"] * 1.5 and held > 0.35 * f["total"] and held > own * 0.6


def splintered(s: Symptom, r: Reading) -> bool:
    """This process holds reserved memory that it does not use, and more of it than was asked for."""
    f = _figures(s)
    unused = f["unused"] if f["unused"] >= 0 else f["reserved"] - f["allocated"]
    return has_figures(s, r) and f["reserved"] > 0 and unused > max(1.2 * f["wanted"], 0.06 * f["total"])


def free_but_refused(s: Symptom, r: Reading) -> bool:
    """More is free than was asked for."""
    f = _figures(s)
    return has_figures(s, r) and f["free"] > 1.5 * f["wanted"] and not capped(s, r)


def own_little(s: Symptom, r: Reading) -> bool:
    """This process itself holds next to nothing."""
    f = _figures(s)
    return has_figures(s, r) and max(f["reserved"], f["allocated"]) < 0.1 * f["total"]


def held_beside(s: Symptom, r: Reading) -> bool:
    """This process holds most of the card, and hardly anything of it through PyTorch: another framework grabbed it."""
    f = _figures(s)
    return has_figures(s, r) and f["reserved"] > 0.4 * f["total"] and 0 <= f["allocated"] < 0.1 * f["reserved"]


def own_full(s: Symptom, r: Reading) -> bool:
    """This process itself fills the card, or asks for more than the card has."""
    f = _figures(s)
    own = max(f["reserved"], f["allocated"])
    return has_figures(s, r) and (
        own > 0.6 * f["total"] or f["wanted"] > f["total"] or own + f["wanted"] > 0.9 * f["total"]
    )


def xid(*numbers: int) -> Condition:
    """The Xid is one of these."""
    return lambda s, r: int(s.get("xid") or 0) in numbers


def xid_of_hardware(s: Symptom, r: Reading) -> bool:
    """The Xid tells of hardware that failed and did not recover by itself."""
    row = meaning(int(s.get("xid") or 0))
    return row is not None and row.hardware and not row.recovered


def _builds(s: Symptom, r: Reading) -> list[Release]:
    """What is known of the TensorFlow and ONNX Runtime releases that the text names; 2.3 stands for 2.3.0."""
    platform = "windows-x86_64" if on_windows(s, r) else "linux-x86_64"
    names = (("tensorflow", "tensorflow-gpu"), ("onnxruntime-gpu",))
    rows = [
        find(name, v, platform)
        for group in names
        for told in _told(r, *group)
        for v in dict.fromkeys((told, f"{told}.0" if told.count(".") == 1 else told))
        for name in group
    ]
    return [row for row in rows if row is not None]


def told_cuda_unfit(s: Symptom, r: Reading) -> bool:
    """The text names a TensorFlow and a CUDA that this release was not built for."""
    told = {numbers(v)[:2] for v in _told(r, "cuda", "nvcc") if len(numbers(v)) > 1}
    built = {numbers(row.cuda)[:2] for row in _builds(s, r) if isinstance(row.cuda, str)} if told else set()
    return bool(built) and not any(t == b or t[0] == b[0] >= 11 for t in told for b in built)


def told_driver_older(s: Symptom, r: Reading) -> bool:
    """nvidia-smi names an older CUDA than the one that the PyTorch or TensorFlow named was built for."""
    most = [numbers(v)[:2] for v in r.told.versions.get("driver_cuda", ())]
    rows = [*_builds(s, r), *(find("torch", v, "linux-x86_64") for v in _told(r, "torch") if "+" not in v)]
    built = [numbers(row.cuda)[:2] for row in rows if row is not None and isinstance(row.cuda, str)]
    tags = [tag.group(1) for v in _told(r, "torch") if (tag := re.search(r"\+cu(\d{2,3})$", v))]
    built += [(int(tag[:-1]), int(tag[-1])) for tag in tags]
    return bool(most and built) and all(m[:1] < b[:1] if b[0] > 10 else m < b for m in most for b in built)


def native_windows_tf(s: Symptom, r: Reading) -> bool:
    """TensorFlow 2.11 or newer on native Windows."""
    return on_windows(s, r) and any(numbers(v)[:2] >= (2, 11) for v in _told(r, "tensorflow", "tensorflow-gpu"))


def told_cudnn_unfit(s: Symptom, r: Reading) -> bool:
    """The text names a cuDNN that does not exist for the CUDA named, or not the one that the TensorFlow named needs."""
    told = [_cudnn_release(v) for v in _told(r, "cudnn")]
    cuda = [numbers(v)[:2] for v in _told(r, "cuda", "nvcc") if len(numbers(v)) > 1]
    spans = [CUDA_OF[t[0]] for t in told if t[0] in CUDA_OF]
    if spans and cuda and not any(low <= c <= high for low, high in spans for c in cuda):
        return True
    built = [numbers(row.cudnn)[:2] for row in _builds(s, r) if isinstance(row.cudnn, str)]
    return bool(told and built) and not any(t[0] == b[0] and (len(t) < 2 or t >= b) for t in told for b in built)


def _cudnn_release(version: str) -> tuple[int, ...]:
    """(7, 6) of 7.6.5, of 7605 and of 7600."""
    parts = numbers(version)[:2]
    if parts and parts[0] > 9999:
        return parts[0] // 10000, parts[0] // 100 % 100
    return (parts[0] // 1000, parts[0] // 100 % 10) if parts and parts[0] > 999 else tuple(parts) or (0,)


_COUNTS = re.compile(r"getdevicecount|numcudadevices|cuinit\b|device_count", re.IGNORECASE)


def counting(s: Symptom, r: Reading) -> bool:
    """The status came back while devices were counted: by the line, or by the function that raised it."""
    last = r.ending.stack[-2:] if s.within(r.ending) else ()
    return bool(_COUNTS.search(s.text)) or any(_COUNTS.search(f"{f.function} {f.code}") for f in last)


def capped(s: Symptom, r: Reading) -> bool:
    """The program set a limit of its own on the memory that it may use."""
    return bool(re.search(r"[\d.]+ [KMG]iB allowed", s.text))


def only_titles(s: Symptom, r: Reading) -> bool:
    """No program speaks in the text, only a person."""
    return all(o.speaker == "title" for o in r.errors)


def told_gpu_newer(s: Symptom, r: Reading) -> bool:
    """The GPU that is named is newer than the CUDA that is named, or than the one that TensorFlow was built for."""
    rows = [gpus.by_name(_GLUED.sub(" ", name)) for name in r.told.gpus]
    first = [
        archs.first_toolkit("8.6" if row.capability == "8.9" else row.capability)  # Ada runs Ampere's code
        for row in rows
        if row is not None and row.capability
    ]
    needs = [numbers(f)[:2] for f in first if f]
    cuda = [numbers(v)[:2] for v in _told(r, "cuda", "nvcc") if len(numbers(v)) > 1]
    cuda += [numbers(row.cuda)[:2] for row in _builds(s, r) if isinstance(row.cuda, str)]
    return bool(needs and cuda) and all(c < n for c in cuda for n in needs)


_GLUED = re.compile(r"(?<=tx)(?=\d)|(?<=\d)(?=ti\b|super\b)", re.IGNORECASE)  # RTX3070ti


def drivers_differ(s: Symptom, r: Reading) -> bool:
    """The text gives one version of libcuda and another of the kernel module."""
    library = {_release(o) for o in r.all("tf.libcuda_version")}
    module = {_release(o) for o in r.all("tf.kernel_version", "told.module")}
    return bool(library and module) and library.isdisjoint(module)


def _release(s: Symptom) -> tuple[int, ...]:
    parts = list(numbers(s.get("version")))
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
