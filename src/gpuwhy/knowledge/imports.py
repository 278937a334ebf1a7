"""Imports: which releases were installed and imported with today's packages, and what failed, seen on 15 November 2026.

`newest` is what an installer takes: every dependency at the newest that metadata allows. `oldest` is the other end.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge import tables

Outcome = Literal["imports", "fails", "not installed"]


class Tried(msgspec.Struct, frozen=True):
    """One release with one end of its dependencies."""

    framework: str
    version: str
    installed: str  # tensorflow-cpu: the build without CUDA of the same release
    python: str
    side: Literal["newest", "oldest"]
    date: str
    outcome: Outcome
    seconds: int
    error: str = ""
    beside: dict[str, str] = {}
    culprit: str = ""  # numpy 2.4.6
    cure: str = ""  # numpy<2
    stand_ins: bool = False  # empty libraries stood in for the driver and CUDA

    @property
    def source(self) -> Source:
        """How it is known."""
        stands = ", empty libraries in place of CUDA" if self.stand_ins else ""
        what = f"{self.installed} {self.version}, Python {self.python}{stands}"
        return tables.source(f"installed and imported, {self.date}", what)


@cache
def table() -> tuple[Tried, ...]:
    """Every case that was tried."""
    return tables.rows("imports.jsonl", Tried)


def tried(framework: str, version: str, side: str = "newest") -> Tried | None:
    """The case of a release; of another patch of its minor release where that one was tried."""
    series = major_minor(version)
    mine = [row for row in table() if row.framework == framework and row.side == side]
    exact = [row for row in mine if row.version == version]
    return next(iter(exact or [row for row in mine if major_minor(row.version) == series]), None)


def told(framework: str, version: str) -> tuple[str, Source | None]:
    """What was seen of a release with today's packages, in words."""
    row = tried(framework, version)
    if row is None:
        return (
            f"{framework} {version} was not seen working: its import with today's packages was not tried",
            None,
        )
    if row.outcome == "not installed":
        return (
            f"{framework} {version} was not seen working: {row.version} could not be installed to try it",
            row.source,
        )
    who = f"{framework} {row.version}" + (
        "" if row.version == version else f" (of the series of {version})"
    )
    if row.outcome == "imports":
        return f"{who} was seen to import with the newest packages that it allows", row.source
    helps = f", and to work with {row.cure}" if row.cure else "; no single older package cures that"
    blame = f" {row.culprit}" if row.culprit else " the newest packages that it allows"
    return f"{who} was seen to fail with{blame}{helps}", row.source
