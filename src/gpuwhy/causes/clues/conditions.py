"""Conditions of clues: small questions about a symptom and the text around it."""

from __future__ import annotations

import re
from typing import Literal

from gpuwhy.knowledge.releases import find
from gpuwhy.knowledge.xid import meaning
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
_SIZE = re.compile(r"([\d.]+) ?([KMGT]?)", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


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
    return not any(o.role in ("error", "echo") for o in r.symptoms)


def alone(s: Symptom, r: Reading) -> bool:
    """No other error decides."""
    return all(o.signature == s.signature or o.speaker == "title" for o in r.errors)


def told_version(name: str, pattern: str) -> Condition:
    """A told version of something matches."""
    wanted = re.compile(pattern)
    return lambda s, r: any(wanted.match(v) for v in r.told.versions.get(name, ()))


def wanted_major(s: Symptom) -> int:
    """The major version in the name of the library that was asked for; 0 where the name has none."""
    name = s.get("library")
    match = re.search(r"\.so\.(\d+)", name) or re.search(r"64_(\d+)\.dll", name)
    if not match:
        return 0
    number = int(match[1])
    return number // 10 if number >= 70 else number  # cudart64_101.dll, cudnn64_7.dll


def other_major_told(s: Symptom, r: Reading) -> bool:
    """The text names another major version of the same library than the one that was asked for."""
    want = wanted_major(s)
    kind = kind_of(s.get("library"))
    names = ("cudnn",) if kind == "cudnn" else ("cuda", "nvcc")
    told = [numbers(v)[:1] for name in names for v in r.told.versions.get(name, ())]
    majors = {int(str(t[0])[0]) if kind == "cudnn" and t[0] > 99 else t[0] for t in told if t}
    return bool(want and majors and want not in majors)


def same_file_told(s: Symptom, r: Reading) -> bool:
    """A listing in the text shows that the very file exists."""
    return any(f.rsplit("/", 1)[-1].startswith(s.get("library")) for f in r.told.files) and bool(s.get("library"))


def other_file_told(s: Symptom, r: Reading) -> bool:
    """A listing shows the same library under another version."""
    stem = s.get("library").split(".so")[0]
    names = [f.rsplit("/", 1)[-1] for f in r.told.files]
    same = [n for n in names if n.split(".so")[0] == stem]
    return bool(stem and same) and not any(n.startswith(s.get("library")) for n in same)


def size(text: str) -> float:
    """Bytes of '2.50 GiB'; -1 where there is none."""
    match = _SIZE.match(text)
    return float(match[1].rstrip(".") or 0) * _UNIT[match[2].upper()] if match and match[1].strip(".") else -1


def _figures(s: Symptom) -> dict[str, float]:
    f = {name: size(s.get(name)) for name in ("wanted", "total", "free", "allocated", "reserved", "unused")}
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
    return has_figures(s, r) and f["free"] > 1.5 * f["wanted"]


def own_little(s: Symptom, r: Reading) -> bool:
    """This process itself holds next to nothing."""
    f = _figures(s)
    return has_figures(s, r) and max(f["reserved"], f["allocated"]) < 0.1 * f["total"]


def own_full(s: Symptom, r: Reading) -> bool:
    """This process itself fills the card, or asks for more than the card has."""
    f = _figures(s)
    own = max(f["reserved"], f["allocated"])
    return has_figures(s, r) and (
        own > 0.6 * f["total"] or f["wanted"] > f["total"] or own + f["wanted"] > 0.9 * f["total"]
    )


def xid(hardware: bool) -> Condition:
    """The Xid number is (or is not) one of failing hardware."""

    def holds(s: Symptom, r: Reading) -> bool:
        row = meaning(int(s.get("xid") or 0))
        return row is not None and row.hardware == hardware

    return holds


def told_cuda_unfit(s: Symptom, r: Reading) -> bool:
    """The text names a TensorFlow and a CUDA that this release was not built for."""
    platform = "windows-x86_64" if on_windows(s, r) else "linux-x86_64"
    told = {numbers(v)[:2] for name in ("cuda", "nvcc") for v in r.told.versions.get(name, ())}
    names = ("tensorflow", "tensorflow-gpu")
    rows = [find(name, v, platform) for name in names for v in r.told.versions.get(name, ())] if told else []
    built = {numbers(row.cuda)[:2] for row in rows if row is not None and isinstance(row.cuda, str)}
    return bool(built) and not any(t == b or t[0] == b[0] >= 11 for t in told for b in built)


def native_windows_tf(s: Symptom, r: Reading) -> bool:
    """TensorFlow 2.11 or newer on native Windows."""
    return on_windows(s, r) and any(numbers(v)[:2] >= (2, 11) for v in r.told.versions.get("tensorflow", ()))
