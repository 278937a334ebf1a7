"""How likely each tweak is what matters: its usual weight, raised by what the program said and by the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gpuwhy.log.ending import Ending
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Tweak

NAMED_LAST, NAMED, READ, VALUE, PLACE = 60.0, 15.0, 12.0, 15.0, 40.0
NEAR = 0.6
"""How much a cause of the same layer says: an allocation that fails is oom, preallocation or fragmentation."""
DOUBT = 1.0
"""The weight of "none of these", before the report's causes raise it."""
LONG = 4
"""Letters from which on a value that stands in the output is no coincidence."""

_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"too many open files|errno 24|emfile", ("limit nofile",)),
    (r"resource temporarily unavailable|can't start new thread|cannot fork|eagain|pthread_create|thread creation", ("limit nproc", "limit as")),
    (r"cannot allocate memory|memoryerror|bad_alloc|out of memory|failed to map|mmap|enomem|unable to allocate|defaultcpuallocator",
     ("limit as", "limit data", "limit memlock")),
    (r"file too large|sigxfsz|efbig", ("limit fsize",)),
    (r"sigxcpu|cpu time limit", ("limit cpu",)),
    (r"recursion|stack overflow|sigsegv|segmentation fault", ("limit stack", "limit as")),
    (r"no space left|errno 28|enospc|disk quota", ("fresh TMPDIR", "fresh caches", "unset TMPDIR")),
    (r"no usable temporary directory|permission denied|read-only file system|errno 13|errno 30|filenotfounderror|no such file",
     ("fresh TMPDIR", "fresh caches", "unset TMPDIR")),
)  # fmt: skip
_PREFIXES = {
    "torch": ("TORCH", "PYTORCH", "TRITON"), "jax": ("JAX", "XLA"), "jaxlib": ("JAX", "XLA"), "tensorflow": ("TF_", "XLA"),
    "cupy": ("CUPY",), "numba": ("NUMBA",), "triton": ("TRITON",), "onnxruntime": ("ORT_",), "numpy": ("NPY_", "OPENBLAS", "MKL"),
}  # fmt: skip
_BY_WORDS = tuple((re.compile(pattern, re.IGNORECASE), frozenset(ids)) for pattern, ids in _WORDS)


def weighed(
    tweaks: Iterable[Tweak],
    ending: Ending,
    output: str,
    causes: Mapping[str, float],
    source: str = "",
    environ: Mapping[str, str] = {},
) -> list[Tweak]:
    """The tweaks with their weights, the likeliest first; `source` is the text of the program, where it has one."""
    last = " ".join(map(said, (ending, *ending.chain)))
    files = {frame.file for one in (ending, *ending.chain) for frame in one.stack}
    speaking = {id_ for pattern, ids in _BY_WORDS if pattern.search(last) for id_ in ids}
    words, read = set(re.findall(r"\w+", output)), set(re.findall(r"\w+", source))

    owners = {frame.owner for one in (ending, *ending.chain) for frame in one.stack}
    layers: dict[str, float] = {}
    for cause, confidence in causes.items():
        layers[_layer(cause)] = max(confidence, layers.get(_layer(cause), 0.0))

    def weight(one: Tweak) -> float:
        by_cause = max(
            (max(causes.get(cause, 0.0), NEAR * layers.get(_layer(cause), 0.0)) for cause in one.causes), default=0.0
        )
        raised = one.weight * (0.5 + 8.0 * by_cause)
        raised *= _named(one, last, words, read) * _quoted(one, output)
        raised *= _value_named(one, last, environ) * _of_framework(one, owners)
        raised *= PLACE if one.kind == "hide" and any(_inside(file, one.value) for file in files) else 1.0
        return raised * (PLACE if one.id in speaking else 1.0)

    told = (msgspec.structs.replace(one, weight=weight(one)) for one in tweaks)
    return sorted(told, key=lambda one: -one.weight)


def _layer(cause: str) -> str:
    return cause.split(".")[0]


def named_in(message: str, tweaks: Sequence[Tweak]) -> list[Tweak]:
    """The same tweaks, those that a new failure speaks of raised and first."""
    words = set(re.findall(r"\w+", message))

    def raised(one: Tweak) -> Tweak:
        spoken = len(one.name) >= LONG and one.name in words and one.name != "PATH"
        return msgspec.structs.replace(one, weight=one.weight * NAMED_LAST) if spoken else one

    return sorted(map(raised, tweaks), key=lambda one: -one.weight)


def _named(one: Tweak, last: str, words: set[str], read: set[str]) -> float:
    """A program that speaks of a variable speaks for it, most of all in its last words."""
    if one.kind not in ("unset", "drop") or len(one.name) < LONG or one.name == "PATH":
        return 1.0
    if re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", last):
        return NAMED_LAST
    return NAMED if one.name in words else READ if one.name in read else 1.0


def _value_named(one: Tweak, last: str, environ: Mapping[str, str]) -> float:
    """A word of a variable's value that stands in the last words: `invalid literal: 'many'`."""
    value = environ.get(one.name, "") if one.kind == "unset" else ""
    spoken = 2 < len(value) < 80 and not value.isdigit() and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", last)
    return VALUE if spoken else 1.0


def _of_framework(one: Tweak, owners: set[str]) -> float:
    """A framework's variables where its code is in the stack, against those of the others."""
    if one.kind not in ("unset", "drop"):
        return 1.0
    whose = {name for name, prefixes in _PREFIXES.items() if one.name.startswith(prefixes)}
    if not whose or not owners & set(_PREFIXES):
        return 1.0
    return 3.0 if whose & owners else 0.3


def _quoted(one: Tweak, output: str) -> float:
    text = one.value.split("=")[0] if one.name.endswith("FLAGS") else one.value
    return VALUE if one.kind == "drop" and len(text) > LONG and one.name != "PATH" and text in output else 1.0


def _inside(file: str, path: str) -> bool:
    return file == path or file.startswith(path.rstrip("/") + "/")


def doubt(causes: Mapping[str, float], tweaks: Sequence[Tweak]) -> float:
    """The weight of "none of these": more where the report names what no tweak can change."""
    within = {cause for one in tweaks for cause in one.causes}
    beyond = sum(confidence for cause, confidence in causes.items() if cause not in within)
    return DOUBT + 3.0 * beyond


def needed_by(message: str, tweaks: Sequence[Tweak]) -> list[Tweak]:
    """Which of the tweaks took away what the program now says it misses."""
    words = set(re.findall(r"\w+", message))
    named = [one for one in tweaks if one.kind in ("unset", "drop") and one.name in words]
    if named:
        return named
    names, kinds = next((by for pattern, *by in _WANTS if re.search(pattern, message)), ((), ()))
    return [*(one for one in tweaks if one.name in names), *(one for one in tweaks if one.kind in kinds)]


_WANTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (r"ModuleNotFoundError|ImportError|No module named", ("PYTHONPATH", "PYTHONHOME"), ("hide",)),
    (r"cannot open shared object|undefined symbol|libcuda", ("LD_LIBRARY_PATH", "LD_PRELOAD"), ()),
    (r"command not found|No such file|nvcc|ptxas|FileNotFoundError", ("PATH", "CUDA_HOME", "CUDA_PATH", "TMPDIR"), ()),
)
"""What a program misses, and the variables, or the kinds of tweaks, by which it finds such things."""
