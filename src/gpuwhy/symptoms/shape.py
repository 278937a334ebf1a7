"""Shapes: what of a line can be part of a literal, so that what lines say among other words is searched once.

A word (what stands between spaces) of which no literal has a part is left out; the others stay, in their order.
Between two that are left out stands a part; what a part may hold is found once and remembered, as is what a whole shape
may hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from gpuwhy.symptoms.sieve import Within, trie

MOST_WORDS, MOST_SHAPES = 1 << 15, 1 << 15
"""How many words and shapes are remembered."""
SHORTEST = 3
"""An end of a literal without so many letters and marks in a row says nothing: digits are anywhere."""
BEGUN = 5
"""How many bytes of a literal without words are looked for first."""

_UPPER, _DIGITS = bytes(range(0x41, 0x5B)), b"0123456789"
_FOLD = bytes.maketrans(_UPPER + _DIGITS, _UPPER.lower() + b"0" * 10)
_OTHER = b"\0"
Held = frozenset[int]


_SAYS = re.compile(rb"[^0]{%d}" % SHORTEST)


def _says(end: bytes) -> bool:
    return _SAYS.search(end) is not None


class _Core(NamedTuple):
    """A literal as it stands in every line that has it: its words, those that are whole in it, its ends."""

    text: bytes
    whole: tuple[bytes, ...] = ()
    ends: tuple[bytes, ...] = ()


def _core(anchor: bytes) -> _Core:
    first, *others = anchor.translate(_FOLD).split(b" ")
    if not others:
        return _Core(first, (), (first,)) if _says(first) else _Core(b"")
    whole = tuple(filter(None, others[:-1]))
    before, after = (end if _says(end) else b"" for end in (first, others[-1]))
    ends = tuple(filter(None, (before and before + b" ", after and b" " + after)))
    said = ends or whole
    return _Core(b" ".join((before, *whole, after)) if said else b"", whole, ends)


class _Canon(dict[bytes, bytes]):
    """What stands for a word in a shape."""

    def __init__(self, cores: Sequence[_Core]) -> None:
        super().__init__()
        self._whole = frozenset(word for core in cores for word in core.whole)
        ends = sorted({end for core in cores for end in core.ends})
        self._quick = re.compile(trie({end.strip() for end in ends}))
        self._ends = Within(ends)

    def __missing__(self, word: bytes) -> bytes:
        if len(self) > MOST_WORDS:
            self.clear()
        self[word] = kept = word if self._has(word) else _OTHER
        return kept

    def _has(self, word: bytes) -> bool:
        """Whether a literal has the word, or an end of it."""
        if word in self._whole:
            return True
        said = _SAYS.search(word) is not None and self._quick.search(word) is not None
        return said and bool(self._ends.numbers(b" " + word + b" "))


class Shapes:
    """Tells for each line which literals (lower case) it may hold, whatever the case and the digits."""

    def __init__(self, anchors: Sequence[bytes]) -> None:
        cores = [_core(anchor) for anchor in anchors]
        self._anchors = anchors
        self._canon = _Canon(cores)
        spoken = [number for number, core in enumerate(cores) if core.text]
        self._numbers = spoken
        self._within = Within([cores[number].text for number in spoken])
        self._wordless = frozenset(range(len(cores))) - frozenset(spoken)
        self._known: dict[bytes, Held] = {}
        self._sets: dict[Held, Held] = {}

    def held(self, lines: Sequence[bytes], without: Set[int]) -> list[Held]:
        """What each line may hold; literals without a word only where they are not in `without`."""
        if not lines:
            return []
        canon = self._canon.__getitem__
        shapes = [b" ".join(map(canon, line.split())) for line in b"\n".join(lines).translate(_FOLD).split(b"\n")]
        get = self._known.get
        found = [get(shape) for shape in shapes]
        out = [one if one is not None else self._of(shape) for one, shape in zip(found, shapes, strict=True)]
        return self._with_wordless(out, lines, self._wordless - without)

    def _of(self, shape: bytes) -> Held:
        """What a shape may hold, by its parts."""
        parts = {part.strip() for part in shape.split(_OTHER)}
        return self._keep(shape, frozenset().union(*(self._part(part) for part in parts if part)))

    def _part(self, part: bytes) -> Held:
        known = self._known.get(part)
        if known is not None:
            return known
        numbers = self._within.numbers(b" " + part + b" ")
        return self._keep(part, frozenset(self._numbers[number] for number in numbers))

    def _keep(self, shape: bytes, held: Held) -> Held:
        if len(self._known) > MOST_SHAPES:
            self._known.clear()
            self._sets.clear()
        self._known[shape] = held = self._sets.setdefault(held, held)
        return held

    def _with_wordless(self, out: list[Held], lines: Sequence[bytes], numbers: Iterable[int]) -> list[Held]:
        """Those that are digits and marks, nearly all exit codes: first what several begin with is looked for."""
        text = b"\n".join(lines).lower()
        begun: dict[bytes, list[int]] = {}
        for number in numbers:
            begun.setdefault(self._anchors[number][:BEGUN], []).append(number)
        for number in (one for start, some in begun.items() if start in text for one in some):
            anchor = self._anchors[number]
            if anchor in text:
                out = [one | {number} if anchor in line.lower() else one for one, line in zip(out, lines, strict=True)]
        return out
