"""Spelling: words as they were meant, where a slip of the finger is the only difference from a word that matters here."""

from __future__ import annotations

import re
from functools import lru_cache

from gpuwhy.knowledge.spelling import distance

_LONG = (
    "accelerate", "access", "accuracy", "available", "compatible", "compiler", "computer", "container", "convolution", "cudnn", "detect",
    "detected", "detecting", "detects", "device", "devices", "different", "disappears", "docker", "doesnt", "driver", "drivers", "during",
    "error", "failed", "fails", "found", "freezes", "graphics", "hangs", "incompatible", "initialize", "initialization", "install",
    "installed", "instead", "kernel", "laptop", "library", "loaded", "machine", "memory", "mismatch", "missing", "notebook", "nvidia",
    "nvidia-smi", "pytorch", "recognise", "recognised", "recognize", "recognized", "recognizing", "runtime", "shows", "supported",
    "suspend", "tensorflow", "toolkit", "training", "unavailable", "unsupported", "update", "upgrade", "usage", "using", "utilization",
    "version", "versions", "visible", "windows", "working", "works",
)  # fmt: skip
_SHORT = ("cuda", "gpu", "gpus", "cpu", "not", "torch", "keras", "find", "have", "cant")
_ENGLISH = frozenset(["detached", "detective", "finds", "find", "fond", "found", "bound", "round", "sound", "fount", "shoes", "shown", "showed", "words", "work", "worked", "workings", "worker", "note", "nut", "hot", "got", "lot", "pot", "put", "cut", "out", "use", "used", "user", "uses", "error", "terror", "ports", "porch", "touch", "find", "mind", "kind", "bind"])  # fmt: skip
_TOKEN = re.compile(r"[a-z][a-z-]+[a-z]")


def corrected(text: str) -> str:
    """The text, lower case, with slips of the finger in words that matter set right."""
    return _TOKEN.sub(lambda found: _word(found[0]), text)


@lru_cache(maxsize=256)
def _word(word: str) -> str:
    if word in _LONG or word in _SHORT or word in _ENGLISH:
        return word
    if len(word) < 5:
        return next((right for right in _SHORT if _swapped(word, right)), word)
    slips = 1 if len(word) < 8 else 2
    near = [(off, right) for right in _LONG if (off := distance(word, right, slips)) <= slips]
    near += [(1, right) for right in _SHORT if len(right) > 3 and _swapped(word, right)]
    return min(near)[1] if near else word


def _swapped(word: str, right: str) -> bool:
    """Whether two neighbours changed places."""
    if sorted(word) != sorted(right):
        return False
    off = [i for i, (a, b) in enumerate(zip(word, right, strict=True)) if a != b]
    return len(off) == 2 and off[1] == off[0] + 1 and word[off[0]] == right[off[1]] and word[off[1]] == right[off[0]]
