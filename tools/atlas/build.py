"""Build: messages of all releases into one file of numbers; the layout is that of gpuwhy.knowledge.atlas_file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from gpuwhy.knowledge.atlas_file import Place, Row, pack
from gpuwhy.knowledge.shingles import anchored, fragments, key, shingles
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
                words = tuple(tuple(f) for f in fragments(line) if f)
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
            raised = any(place[3] for place in book.lines[words]) or book.is_labelled(words)
            kept = [*kept, anchored(words[0])] if len(words[0]) >= 3 and raised else []
        if kept:
            rows.append(Row(book.keys[words], min(255, len(every[words])), size < SHORT, kept, _places(book, words)))
    data = pack(rows, book.releases)
    path.write_bytes(data)
    postings = sum(len(r.kept) for r in rows)
    return f"{len(rows):,} templates, {postings:,} shingles, {len(data) / 1e6:.2f} MB"


def _places(book: Book, words: tuple[tuple[str, ...], ...]) -> list[Place]:
    """One place per package: the one that most releases have, with the releases of all; the first packages."""
    mine: dict[str, list[tuple[int, tuple[str, str, str, str]]]] = defaultdict(list)
    for place, mask in book.lines[words].items():
        mine[place[0]].append((mask, place))
    out = []
    for package, some in mine.items():
        every = 0
        for mask, _ in some:
            every |= mask
        _, best = max(
            some, key=lambda one: (one[0].bit_count(), bool(one[1][3]), "/" in one[1][1], -len(one[1][1]), one[1])
        )
        out.append(Place(package, best[1], best[2], best[3], every))
    return out[:MOST_PLACES]
