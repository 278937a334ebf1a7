"""Which releases read which environment variable, and XLA's flags: data/variables.json, loaded when first asked.

tools/variables writes it from the published wheels: Python sources by their syntax trees, libraries by their strings,
XLA's flags by asking each release.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import load

FAMILIES: dict[str, str] = {
    "tensorflow": "tensorflow", "torch": "torch", "jax": "jax", "jaxlib": "jax", "jax-cuda-pjrt": "jax",
    "triton": "triton", "cupy": "cupy", "numba": "numba", "onnxruntime": "onnxruntime",
}  # fmt: skip
"""The framework whose release decides, of each harvested family; others (NCCL, Keras …) have their own releases."""


class Reader(msgspec.Struct, frozen=True):
    """One family that reads a variable: the releases that do, and what its source shows of the value."""

    family: str
    releases: tuple[str, ...]  # those that were read, oldest first
    reads: str  # per release: 1 reads it, 0 does not, ? was not read far enough
    type: str = ""  # bool, int, float, string, enum
    default: str | None = None
    values: tuple[str, ...] = ()
    where: str = ""
    same: str = ""  # per release: 1 where it shows this type; "" = wherever it reads it

    def like(self, release: str) -> bool:
        """Whether the newest release read that is not newer than this one shows the same type."""
        older = [
            mark
            for one, mark in zip(self.releases, self.same or self.reads, strict=True)
            if at_least(release, one)
        ]
        return bool(older) and older[-1] == "1"

    def at(self, release: str) -> str:
        """1, 0 or ? of the newest release read that is not newer than this one; ? before the first."""
        older = [
            mark
            for one, mark in zip(self.releases, self.reads, strict=True)
            if at_least(release, one)
        ]
        return older[-1] if older else "?"

    @property
    def last(self) -> str:
        """The newest release that reads it."""
        return next(
            (
                r
                for r, mark in zip(self.releases[::-1], self.reads[::-1], strict=True)
                if mark == "1"
            ),
            "",
        )

    @property
    def first(self) -> str:
        """The oldest release that reads it."""
        return next(
            (r for r, mark in zip(self.releases, self.reads, strict=True) if mark == "1"), ""
        )


class Flag(msgspec.Struct, frozen=True):
    """One flag of XLA in one release's table."""

    name: str
    type: str  # bool, int32, int64, string, float …
    default: str


@cache
def _data() -> dict[str, Any]:
    return load("variables.json", dict[str, Any])


def known_names() -> frozenset[str]:
    """Every variable that some release of some family reads."""
    return frozenset(_data()["variables"])


def families(name: str) -> frozenset[str]:
    """The frameworks of which some release reads a variable."""
    return frozenset(FAMILIES.get(family, "") for family in _data()["variables"].get(name, ()))


def readers(name: str) -> tuple[Reader, ...]:
    """The families that read a variable."""
    data = _data()
    out = []
    for family, row in data["variables"].get(name, {}).items():
        releases = tuple(data["families"][family]["releases"])
        told = (
            row.get("type", ""),
            row.get("default"),
            tuple(row.get("values", ())),
            row.get("where", ""),
            row.get("as", ""),
        )
        out.append(Reader(family, releases, row["in"], *told))
    return tuple(out)


def source(reader: Reader) -> str:
    """The newest wheel that shows it, and the member."""
    rows = _data()["families"][reader.family]["files"]
    file = next(
        (row[0] for row, mark in zip(rows[::-1], reader.reads[::-1], strict=True) if mark == "1"),
        "",
    )
    return f"{file}, {reader.where}" if reader.where else str(file)


class Table(msgspec.Struct, frozen=True):
    """XLA's flags around one release: in the nearest one read before it (or itself), and in the next after it."""

    before: dict[str, Flag]
    after: dict[str, Flag]
    release: str  # whose flags `before` are; "" where nothing so old was read


@cache
def flags(family: str, release: str) -> Table:
    """The flags of jaxlib or tensorflow around a release."""
    table = _data()["flags"].get(family) or {"releases": [], "flags": {}}
    releases: list[str] = table["releases"]
    older = [place for place, one in enumerate(releases) if at_least(release, one)]
    newer = [place for place, one in enumerate(releases) if at_least(one, release)]
    before, after = older[-1:], newer[:1]

    def of(places: list[int]) -> dict[str, Flag]:
        return {
            n: Flag(n, *row[1:])
            for n, row in table["flags"].items()
            if places and row[0][places[0]] == "1"
        }

    return Table(of(before), of(after), releases[before[0]] if before else "")


@cache
def every_flag() -> frozenset[str]:
    """The name of every flag of XLA in any release read."""
    return frozenset(name for table in _data()["flags"].values() for name in table["flags"])
