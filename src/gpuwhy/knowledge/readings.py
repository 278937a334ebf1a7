"""Readings: which releases read which environment variable, and XLA's flags.

tools/variables writes variables.json from the published wheels: Python sources by their syntax
trees, libraries by their strings, XLA's flags by asking each release.
"""

from functools import cache
from typing import Any

import msgspec

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import load

FAMILIES = {
    **{one: one for one in ("tensorflow", "torch", "triton", "cupy", "numba", "onnxruntime")},
    **dict.fromkeys(("jax", "jaxlib", "jax-cuda-pjrt"), "jax"),
}
"""Harvested family: the framework whose release decides; NCCL, Keras … have their own releases."""


class Reader(msgspec.Struct, frozen=True):
    """One family that reads a variable: the releases that do, and what its source shows."""

    family: str
    releases: tuple[str, ...]  # those that were read, oldest first
    reads: str  # per release: 1 reads it, 0 does not, ? was not read far enough
    type: str = ""  # bool, int, float, string, enum
    values: tuple[str, ...] = ()
    where: str = ""
    same: str = ""  # per release: 1 where it shows this type; "" = wherever it reads it

    def at(self, release: str) -> str:
        """1, 0 or ? of the newest release read that is not newer; ? before the first."""
        return self._mark(self.reads, release) or "?"

    def like(self, release: str) -> bool:
        """Whether the newest release read that is not newer shows the same type."""
        return self._mark(self.same or self.reads, release) == "1"

    def _mark(self, marks: str, release: str) -> str:
        both = zip(self.releases, marks, strict=True)
        return ([mark for one, mark in both if at_least(release, one)] or [""])[-1]


class Flag(msgspec.Struct, frozen=True):
    """One flag of XLA in one release's table."""

    name: str
    type: str  # bool, int32, int64, string, float …
    default: str


class Flags(msgspec.Struct, frozen=True):
    """XLA's flags in the nearest release read before one (or itself), and in the next after it."""

    before: dict[str, Flag]
    after: dict[str, Flag]
    release: str  # whose flags `before` are; "" where nothing so old was read


def _data() -> dict[str, Any]:
    return load("variables.json", dict[str, Any])


@cache
def known_names() -> frozenset[str]:
    """Every variable that some release of some family reads."""
    return frozenset(_data()["variables"])


def families(name: str) -> frozenset[str]:
    """The frameworks of which some release reads a variable."""
    return frozenset(FAMILIES.get(family, "") for family in _data()["variables"].get(name, ()))


def readers(name: str) -> tuple[Reader, ...]:
    """The families that read a variable."""
    data = _data()
    return tuple(
        Reader(
            family,
            tuple(data["families"][family]["releases"]),
            row["in"],
            row.get("type", ""),
            tuple(row.get("values", ())),
            row.get("where", ""),
            row.get("as", ""),
        )
        for family, row in data["variables"].get(name, {}).items()
    )


def source(reader: Reader) -> str:
    """The newest wheel that shows it, and the member."""
    files = _data()["families"][reader.family]["files"]
    marked = zip(files[::-1], reader.reads[::-1], strict=True)
    file = next((row[0] for row, mark in marked if mark == "1"), "")
    return f"{file}, {reader.where}" if reader.where else str(file)


@cache
def flags(family: str, release: str) -> Flags:
    """The flags of jaxlib or tensorflow around a release."""
    table = _data()["flags"].get(family) or {"releases": [], "flags": {}}
    releases: list[str] = table["releases"]
    older = [place for place, one in enumerate(releases) if at_least(release, one)]
    newer = [place for place, one in enumerate(releases) if at_least(one, release)]
    before, after = older[-1:], newer[:1]

    def of(places: list[int]) -> dict[str, Flag]:
        rows = table["flags"].items() if places else ()
        return {name: Flag(name, *row[1:]) for name, row in rows if row[0][places[0]] == "1"}

    return Flags(of(before), of(after), releases[before[0]] if before else "")


@cache
def every_flag() -> frozenset[str]:
    """The name of every flag of XLA in any release read."""
    return frozenset(name for table in _data()["flags"].values() for name in table["flags"])
