"""Build: messages of all releases into one file of numbers; the layout is that of gpuwhy.knowledge.atlas_file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from gpuwhy.knowledge.atlas import INNOCENT
from gpuwhy.knowledge.atlas_file import Place, Row, pack
from gpuwhy.knowledge.shingles import WIDTH, anchored, fragments, key, shingles
from tools.atlas.message import Message, lines
from tools.atlas.worth import worth

KEPT = 5
SHORT = 5
LONGEST = 90
MOST_PLACES = 3


class Book:
    """Templates by their words, each with the places and releases that have it."""

    def __init__(self, labelled: frozenset[int] = frozenset()) -> None:
        self._labelled = labelled
        self.releases: dict[str, list[str]] = {}
        self.lines: dict[tuple[tuple[str, ...], ...], dict[tuple[str, str, str, str], int]] = defaultdict(dict)
        self.keys: dict[tuple[tuple[str, ...], ...], int] = {}

    def add(self, package: str, version: str, found: Iterable[Message]) -> None:
        """One release of a package, oldest first."""
        read = self.releases.setdefault(package, [])
        read.append(version)
        bit = 1 << (len(read) - 1)
        for message in found:
            whole = key(message.text)
            if whole not in self._labelled and not worth(package, message):
                continue
            for line in lines(message.text):
                words = tuple(tuple(f) for n, f in enumerate(fragments(line)) if f or not n)
                if not shingled(words) or sum(map(len, words)) > LONGEST:
                    continue
                place = (package, message.module, message.function, message.kind)
                places = self.lines[words]
                places[place] = places.get(place, 0) | bit
                self.keys.setdefault(words, whole)

    def is_labelled(self, words: tuple[tuple[str, ...], ...]) -> bool:
        """Whether somebody has read the code around it: then it is kept, however short."""
        return self.keys[words] in self._labelled


def shingled(words: tuple[tuple[str, ...], ...]) -> list[int]:
    """The shingles of a template's fragments, in order."""
    return list(dict.fromkeys(one for fragment in words for one in shingles(fragment)))


def chosen(found: list[int], common: Counter[int]) -> list[int]:
    """The rarest shingle of each part of a template, so that what is left of a cut line is still found."""
    if len(found) <= KEPT:
        return found
    cuts = [round(n * len(found) / KEPT) for n in range(KEPT + 1)]
    return [min(found[a:b], key=lambda one: (common[one], one)) for a, b in pairwise(cuts)]


def write(book: Book, path: Path) -> str:
    """Write the file; a sentence on its size."""
    every = {words: shingled(words) for words in book.lines}
    common = Counter(one for found in every.values() for one in found)
    rows = []
    for words in sorted(book.lines):
        size = sum(map(len, words))
        kept = chosen(every[words], common)
        if size < SHORT:
            kept = _short(book, words, kept)
        if kept:
            rows.append(Row(book.keys[words], min(255, len(every[words])), size < SHORT, kept, _places(book, words)))
    data = pack(rows, book.releases)
    path.write_bytes(data)
    postings = sum(len(r.kept) for r in rows)
    return f"{len(rows):,} templates, {postings:,} shingles, {len(data) / 1e6:.2f} MB"


def _short(book: Book, words: tuple[tuple[str, ...], ...], kept: list[int]) -> list[int]:
    """What is kept of a template of few words: all, and how it begins; nothing of a mere string of a library."""
    raised = any(kind or package in INNOCENT for package, _, _, kind in book.lines[words])
    if not raised and not book.is_labelled(words):
        return []
    if not words[0]:
        return kept if sum(map(len, words)) > WIDTH else []
    return [*kept, anchored(words[0])] if len(words[0]) >= WIDTH else []


def _places(book: Book, words: tuple[tuple[str, ...], ...]) -> list[Place]:
    """One place per package: the one that the newest releases have, with the releases of all; the first packages."""
    mine: dict[str, list[tuple[int, tuple[str, str, str, str]]]] = defaultdict(list)
    for place, mask in book.lines[words].items():
        mine[place[0]].append((mask, place))
    out = []
    for package, some in mine.items():
        every = 0
        for mask, _ in some:
            every |= mask
        _, best = max(some, key=_newest)
        out.append(Place(package, best[1], best[2], best[3], every))
    return out[:MOST_PLACES]


def _newest(one: tuple[int, tuple[str, str, str, str]]) -> tuple[object, ...]:
    mask, (_, module, function, kind) = one
    return mask.bit_length(), bool(kind), "/" in module, mask.bit_count(), -len(module), function
