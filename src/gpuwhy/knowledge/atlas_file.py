"""The file of the message atlas: arrays of numbers and one table of names, read without a copy of any sentence.

A posting is a shingle's lower 16 bits with the number of its template, kept in the bucket of the upper 16 bits. A
template has the key that labels use, how many shingles it had and how many of them were kept, and its places.
"""

from __future__ import annotations

import json
import struct
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

MAGIC = b"gpuwhy-atlas-1\n\0"
_BUCKETS = 1 << 16
_ARRAYS = "IHHBIBBIBHHBH"
"""Types of: bucket starts, lower bits, template low and high; key, had, kept, first place; the five of a place."""


class Place(NamedTuple):
    """Where a template stands in a package, and a bit for each release read that has it."""

    package: str
    module: str
    function: str
    kind: str
    releases: int


class Row(NamedTuple):
    """One line of a template."""

    key: int
    had: int
    short: bool
    kept: list[int]
    places: list[Place]


class Atlas:
    """The file, opened."""

    def __init__(self, data: bytes) -> None:
        if data[: len(MAGIC)] != MAGIC:
            raise ValueError("not a message atlas")
        (size,) = struct.unpack_from("<I", data, len(MAGIC))
        start = len(MAGIC) + 4
        about = json.loads(data[start : start + size])
        self.releases: dict[str, list[str]] = about["releases"]
        self._packages, self._kinds, start = list(self.releases), about["kinds"], start + size
        arrays = []
        for kind, length in zip(_ARRAYS, about["lengths"], strict=True):
            one = array(kind)
            one.frombytes(data[start : start + length * one.itemsize])
            start += length * one.itemsize
            arrays.append(one)
        self._starts, self._lower, self._low, self._high, self.key, self.had, self._kept, self._first = arrays[:8]
        self._package, self._module, self._function, self._kind, self._mask = arrays[8:]
        self._packed = data[start:]
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self.key)

    def kept(self, row: int) -> int:
        """How many shingles of a template are in the file."""
        return self._kept[row] & 127

    def short(self, row: int) -> bool:
        """Whether a template is so short that all of it must be there, at the start of a message."""
        return self._kept[row] > 127

    def rows(self, shingle: int) -> Iterator[int]:
        """The templates that have a shingle."""
        start, end = self._starts[shingle >> 16], self._starts[(shingle >> 16) + 1]
        lower = shingle & 0xFFFF
        first = bisect_left(self._lower, lower, start, end)
        for post in range(first, bisect_right(self._lower, lower, first, end)):
            yield self._low[post] | self._high[post] << 16

    def places(self, row: int) -> list[Place]:
        """Where a template stands, package by package."""
        if not self._names:
            self._names = zlib.decompress(self._packed).decode().split("\n")
        end = self._first[row + 1]
        return [self._place(n) for n in range(self._first[row], end)]

    def _place(self, number: int) -> Place:
        names = self._names
        return Place(
            self._packages[self._package[number]],
            names[self._module[number]],
            names[self._function[number]],
            self._kinds[self._kind[number]],
            self._mask[number],
        )


def pack(rows: Sequence[Row], releases: Mapping[str, Sequence[str]]) -> bytes:
    """The file's bytes."""
    posts = sorted((one, number) for number, row in enumerate(rows) for one in set(row.kept))
    places = [place for row in rows for place in row.places]
    kinds = _numbered(["", *(p.kind for p in places)], 255)
    names = _numbered(["", *(p.module for p in places), *(p.function for p in places)], 65_535)
    values = (*_of_posts(posts), *_of_rows(rows), *_of_places(places, list(releases), names, kinds))
    about = {
        "releases": {name: list(versions) for name, versions in releases.items()},
        "kinds": list(kinds),
        "lengths": list(map(len, values)),
    }
    head = json.dumps(about, separators=(",", ":")).encode()
    body = b"".join(array(kind, some).tobytes() for kind, some in zip(_ARRAYS, values, strict=True))
    return MAGIC + struct.pack("<I", len(head)) + head + body + zlib.compress("\n".join(names).encode(), 9)


def _of_posts(posts: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Where each bucket starts, the rest of each number, and its row in two halves."""
    starts = [0] * (_BUCKETS + 1)
    for one, _ in posts:
        starts[(one >> 16) + 1] += 1
    yield list(accumulate(starts))
    yield [one & 0xFFFF for one, _ in posts]
    yield [number & 0xFFFF for _, number in posts]
    yield [number >> 16 for _, number in posts]


def _of_rows(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Key, how many words there were, how many are kept, and the first place of each row."""
    yield [row.key for row in rows]
    yield [row.had for row in rows]
    yield [len(set(row.kept)) | (128 if row.short else 0) for row in rows]
    yield [0, *accumulate(len(row.places) for row in rows)]


def _of_places(
    places: Sequence[Place], packages: list[str], names: Mapping[str, int], kinds: Mapping[str, int]
) -> Iterator[list[int]]:
    numbers = {name: number for number, name in enumerate(packages)}
    yield [numbers[place.package] for place in places]
    yield [names.get(place.module, 0) for place in places]
    yield [names.get(place.function, 0) for place in places]
    yield [kinds.get(place.kind, 0) for place in places]
    yield [place.releases for place in places]


def _numbered(names: Sequence[str], most: int) -> dict[str, int]:
    """A number for each name, the frequent ones first; those beyond the most have none."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    del counts[""]
    ordered = ["", *sorted(counts, key=lambda n: (-counts[n], n))][:most]
    return {name: number for number, name in enumerate(ordered)}
