"""Strangers: how much a text reads like that of a program which ended for reasons of its own, or ended well.

A second opinion that accuses nobody: it only keeps what a text says of the GPU stack from being called found. It was
learnt (`tools/learn_strangers.py`) from texts with their causes; each pair of neighbouring words has a weight.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise

import msgspec

BITS = 16
"""Words and pairs share 2**BITS weights, by their checksum."""
EDGE, END, LAST = 8000, 900, 3
"""What is read: the beginning and the end, and again the end alone, and the last lines alone."""
STRANGE, STILL = 0.5, 0.8
"""From this share on what a text says of the GPU stack is doubted (docs/accuracy.md); where its end speaks of it."""
STRANGER = 0.95
"""From this share on a text of which nothing is known is called no failure of the GPU stack."""
TOLD = 5
MOST = 50.0
"""Log-odds beyond which a share is as good as none, or all."""
_HEAD = struct.Struct("<ff")
_PATH = re.compile(r"(?:[a-z]:)?(?:[/\\][\w.+-]{1,80}){1,40}[/\\]")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_WORD = re.compile(r"[a-z_][a-z_0-9]*|\d+|[!?]")


class Weights(msgspec.Struct, frozen=True):
    """What was learnt: a weight for each place, all in one scale, and what a text without any has."""

    scale: float
    usual: float
    places: bytes  # signed


class Strange(msgspec.Struct, frozen=True):
    """How strange a text is, and by which words of its end."""

    share: float = 0.0
    words: tuple[str, ...] = ()


def unpacked(raw: bytes) -> Weights:
    """The weights of a file."""
    scale, usual = _HEAD.unpack_from(raw)
    return Weights(scale, usual, zlib.decompress(raw[_HEAD.size :]))


def packed(weights: Weights) -> bytes:
    """The file of weights."""
    return _HEAD.pack(weights.scale, weights.usual) + zlib.compress(weights.places, 9)


def stranger(weights: Weights, text: str) -> Strange:
    """The second opinion on a text."""
    share = strangeness(weights, text)
    return Strange(share, tokens(weights, text) if share > STRANGER else ())


def strangeness(weights: Weights, text: str) -> float:
    """The share of texts like this one that were no failure of the GPU stack."""
    found = places(text)
    if not found:
        return 0.0
    whole = sum(byte - 256 if byte > 127 else byte for byte in map(weights.places.__getitem__, found))
    odds = weights.usual + weights.scale * whole / math.sqrt(len(found))
    return 1 / (1 + math.exp(-max(-MOST, min(MOST, odds))))


def tokens(weights: Weights, text: str) -> tuple[str, ...]:
    """The words of the last lines that make a text strange, strongest first."""

    def weight(word: str) -> int:
        byte = weights.places[_place("e" + word)]
        return byte - 256 if byte > 127 else byte

    words = {word for word in _words("\n".join(_last(text))) if len(word) > 2}
    return tuple(sorted((w for w in words if weight(w) > 0), key=lambda w: (-weight(w), w))[:TOLD])


def places(text: str) -> set[int]:
    """The places of the words and pairs of words that a text has, at its end told apart."""
    text = text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n{text[-EDGE:]}"
    parts = (("a", text), ("z", text[-END:]), ("e", "\n".join(_last(text))))
    return {_place(mark) for kind, part in parts for mark in _marks(kind, part)}


def spelt(text: str) -> list[str]:
    """The words of the beginning and the end of a text, as they are looked up."""
    return _words(text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n{text[-EDGE:]}")


def marked(word: str) -> int:
    """The place of a word wherever it stands in a text."""
    return _place("a" + word)


def _place(mark: str) -> int:
    return zlib.crc32(mark.encode("utf-8", "replace")) & ((1 << BITS) - 1)


def _last(text: str) -> list[str]:
    return [line for line in text[-END * LAST :].splitlines() if line.strip()][-LAST:]


def _marks(kind: str, text: str) -> Iterator[str]:
    words = _words(text)
    yield from (kind + word for word in words)
    yield from (f"{kind}{one} {two}" for one, two in pairwise(words))


def _words(text: str) -> list[str]:
    """The words in lower case, numbers made equal, of a path the last part."""
    plain = _PATH.sub("/", _ADDRESS.sub("0x", text.lower()))
    return ["0" if word[0].isdigit() else word for word in _WORD.findall(plain)]
