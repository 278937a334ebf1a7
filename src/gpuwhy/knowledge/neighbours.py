"""Neighbours: which packages were seen to import beside which releases of a framework, seen in November 2026.

A neighbour seldom states the newest framework that it works with. What failed by the framework's own doing, where
metadata lets the pair in, is a limit of that release; what fails only where it is forced is what happens then.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import tables

_OFTEN = 3
Outcome = Literal["imports", "fails", "forbidden", "not installed"]


class Seen(msgspec.Struct, frozen=True):
    """One neighbour's release beside one release of its framework."""

    host: str
    on: str
    package: str
    version: str
    python: str
    date: str
    forced: bool  # against what it states
    outcome: Outcome
    error: str = ""
    raised: str = ""  # the distribution whose file was at work: a neighbour's own neighbour, maybe
    release: str = ""
    about: str = ""  # the host, where the error speaks of it

    @property
    def subject(self) -> tuple[str, str]:
        """The release that a failure is of."""
        return (self.raised or self.package, self.release if self.raised else self.version)

    @property
    def source(self) -> Source:
        """How it is known."""
        name, version = self.subject
        what = f"{name} {version}, {self.host} {self.on}, Python {self.python}: {self.error or self.outcome}"
        return tables.source(f"installed and imported, {self.date}", what)


class Broken(NamedTuple):
    """A release that fails beside a framework's, what it was seen to work with, and the row that shows it."""

    row: Seen  # the oldest release of the framework that it was seen to fail beside
    until: str  # the newest release of the framework that it was seen to import beside; "" where none was

    @property
    def wants(self) -> str:
        """The range outside of which it is known to fail; what lies between the two was not tried: <0.4.30."""
        return f"<{self.row.on}"

    @property
    def because(self) -> str:
        """What was seen, in words."""
        worked = f", and to work beside {self.until}" if self.until else ""
        return f"its import was seen to fail beside {self.row.host} {self.row.on}{worked}"


@cache
def table() -> tuple[Seen, ...]:
    """Every pair that was tried."""
    return tables.rows("neighbours.jsonl", Seen)


@cache
def _failures() -> dict[tuple[str, str], tuple[Seen, ...]]:
    """The failures that speak of the framework, by the package that failed and the framework."""
    out: dict[tuple[str, str], list[Seen]] = {}
    for row in table():
        if row.outcome == "fails" and row.about:
            out.setdefault((row.subject[0], row.host), []).append(row)
    return {key: tuple(rows) for key, rows in out.items()}


def hosts(package: str) -> tuple[str, ...]:
    """The frameworks that a package was seen to fail beside."""
    return tuple(dict.fromkeys(host for name, host in _failures() if name == package))


def broken(package: str, version: str, host: str, on: str) -> Broken | None:
    """The row that says that a release fails beside this release of a framework, by itself or a newer patch of it."""
    mine = [
        row
        for row in _failures().get((package, host), ())
        if not row.forced and _covers(row.subject[1], version)
    ]
    until = _worked(package, version, host)
    first = min(mine, key=lambda row: numbers(row.on), default=None)
    if first is None or not at_least(on, first.on) or (until and at_least(until, on)):
        return None
    return Broken(first, until)


def limits_of(package: str, version: str) -> tuple[tuple[str, Broken], ...]:
    """The frameworks that a release fails beside from some release on, each with what it was seen to work with."""
    out = []
    for host in hosts(package):
        newest = max((row.on for row in _failures()[package, host]), key=numbers)
        found = broken(package, version, host, newest)
        out += [(host, found)] if found else []
    return tuple(out)


def forced(package: str, version: str, host: str, on: str) -> Seen | None:
    """What was seen of a pair that metadata forbids: of these two, or of the same minor releases."""
    for row in table():
        if (
            row.forced
            and (row.package, row.host) == (package, host)
            and row.outcome in ("imports", "fails")
        ):
            same = major_minor(row.on) == major_minor(on) and _covers(row.version, version)
            if same and (row.outcome == "imports" or row.about):
                return row
    return None


def always_fails(package: str, host: str) -> Seen | None:
    """A row of a neighbour that failed whenever it was forced beside another minor release, three times or more."""
    tried = [row for row in table() if row.forced and (row.package, row.host) == (package, host)]
    seen = [row for row in tried if row.outcome in ("imports", "fails")]
    sure = len(seen) >= _OFTEN and all(row.outcome == "fails" and row.about for row in seen)
    return seen[-1] if sure else None


def working(package: str, host: str, on: str, above: str) -> str:
    """The oldest release above this one that was seen to import beside this framework release or a newer one."""
    found = [
        row.version
        for row in table()
        if (row.package, row.host, row.outcome, row.forced) == (package, host, "imports", False)
        and at_least(row.on, on)
        and numbers(row.version) > numbers(above)
    ]
    return min(found, key=numbers, default="")


def _worked(package: str, version: str, host: str) -> str:
    """The newest framework release that a release, or a newer patch of it, was seen to import beside."""
    found = [
        row.on
        for row in table()
        if (row.package, row.host, row.outcome, row.forced) == (package, host, "imports", False)
        and _covers(row.version, version)
    ]
    return max(found, key=numbers, default="")


def _covers(tried: str, version: str) -> bool:
    """Whether what was seen of the last patch of a series holds for a release: an older patch of it, or itself."""
    if major_minor(tried) != major_minor(version) or numbers(version) > numbers(tried):
        return False
    mine, theirs = (*numbers(version), 0, 0)[:3], (*numbers(tried), 0, 0)[:3]
    return (
        mine[:2] >= (0, 3) or mine[2] // 3 == theirs[2] // 3
    )  # a package of patches only was tried in steps
