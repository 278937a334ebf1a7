"""Tried: releases and pairs of releases that were installed and imported, and what failed.

Of a release with today's packages `newest` is what an installer takes: every dependency at the
newest that metadata allows; `oldest` is the other end. Of a pair: what failed by the framework's
own doing, where metadata lets the pair in, is a limit; what fails only where it is forced is what
happens then.
"""

from functools import cache
from typing import Literal, NamedTuple

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.tables import rows, source

_OFTEN = 3


class Tried(msgspec.Struct, frozen=True):
    """One release with one end of its dependencies."""

    framework: str
    version: str
    installed: str  # tensorflow-cpu: the build without CUDA of the same release
    python: str
    side: Literal["newest", "oldest"]
    date: str
    outcome: Literal["imports", "fails", "not installed"]
    error: str = ""
    culprit: str = ""  # numpy 2.4.6
    cure: str = ""  # numpy<2
    stand_ins: bool = False  # empty libraries stood in for the driver and CUDA

    @property
    def source(self) -> Source:
        """How it is known."""
        stands = ", empty libraries in place of CUDA" if self.stand_ins else ""
        what = f"{self.installed} {self.version}, Python {self.python}{stands}"
        return source(f"installed and imported, {self.date}", what)


class Pair(msgspec.Struct, frozen=True):
    """One neighbour's release beside one release of its framework, the host."""

    host: str
    on: str
    package: str
    version: str
    python: str
    date: str
    forced: bool  # against what it states
    outcome: Literal["imports", "fails", "forbidden", "not installed"]
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
        what = f"{self.host} {self.on}, Python {self.python}: {self.error or self.outcome}"
        return source(f"installed and imported, {self.date}", f"{' '.join(self.subject)}, {what}")


class Broken(NamedTuple):
    """A release that fails beside a framework's."""

    row: Pair  # with the oldest release of the framework that it was seen to fail beside
    until: str  # the newest release of it that it was seen to import beside; "" where none was

    @property
    def wants(self) -> str:
        """Outside of this it is known to fail; what lies between was not tried: <0.4.30."""
        return f"<{self.row.on}"

    @property
    def because(self) -> str:
        """What was seen, in words."""
        worked = f", and to work beside {self.until}" if self.until else ""
        return f"its import was seen to fail beside {self.row.host} {self.row.on}{worked}"


# ---------------------------------------------------------------- releases


def tried(framework: str, version: str, side: str = "newest") -> Tried | None:
    """The case of a release; of another patch of its minor release where that one was tried."""
    known = rows("imports.jsonl", Tried)
    mine = [row for row in known if row.framework == framework and row.side == side]
    exact = [row for row in mine if row.version == version]
    series = major_minor(version)
    return next(iter(exact or [row for row in mine if major_minor(row.version) == series]), None)


def told(framework: str, version: str) -> tuple[str, Source | None]:
    """What was seen of a release with today's packages, in words."""
    row = tried(framework, version)
    unseen = f"{framework} {version} was not seen working"
    if row is None:
        return f"{unseen}: its import with today's packages was not tried", None
    if row.outcome == "not installed":
        return f"{unseen}: {row.version} could not be installed to try it", row.source
    of = "" if row.version == version else f" (of the series of {version})"
    who = f"{framework} {row.version}{of} was seen to"
    if row.outcome == "imports":
        return f"{who} import with the newest packages that it allows", row.source
    blame = row.culprit or "the newest packages that it allows"
    helps = f", and to work with {row.cure}" if row.cure else "; no single older package cures that"
    return f"{who} fail with {blame}{helps}", row.source


# ---------------------------------------------------------------- pairs


def pairs() -> tuple[Pair, ...]:
    """Every pair that was tried."""
    return rows("neighbours.jsonl", Pair)


@cache
def _failures() -> dict[tuple[str, str], tuple[Pair, ...]]:
    """The failures that speak of the framework, by the package that failed and the framework."""
    out: dict[tuple[str, str], tuple[Pair, ...]] = {}
    for row in pairs():
        if row.outcome == "fails" and row.about:
            key = (row.subject[0], row.host)
            out[key] = (*out.get(key, ()), row)
    return out


def hosts(package: str) -> tuple[str, ...]:
    """The frameworks that a package was seen to fail beside."""
    return tuple(dict.fromkeys(host for name, host in _failures() if name == package))


def broken(package: str, version: str, host: str, on: str) -> Broken | None:
    """The row that says that a release, or a newer patch of it, fails beside a framework's."""
    known = _failures().get((package, host), ())
    mine = [row for row in known if not row.forced and _covers(row.subject[1], version)]
    own = (row for row in pairs() if (row.package, row.host) == (package, host) and not row.forced)
    worked = (r.on for r in own if r.outcome == "imports" and _covers(r.version, version))
    until = max(worked, key=numbers, default="")
    first = min(mine, key=lambda row: numbers(row.on), default=None)
    if first is None or not at_least(on, first.on) or (until and at_least(until, on)):
        return None
    return Broken(first, until)


def limits_of(package: str, version: str) -> tuple[tuple[str, Broken], ...]:
    """The frameworks that a release fails beside from some release on."""
    out = []
    for host in hosts(package):
        newest = max((row.on for row in _failures()[package, host]), key=numbers)
        found = broken(package, version, host, newest)
        out += [(host, found)] if found else []
    return tuple(out)


def forced(package: str, version: str, host: str, on: str) -> Pair | None:
    """What was seen of a pair that metadata forbids: of these, or of the same minor releases."""
    for row in _forced(package, host):
        same = major_minor(row.on) == major_minor(on) and _covers(row.version, version)
        if same and (row.outcome == "imports" or row.about):
            return row
    return None


def always_fails(package: str, host: str) -> Pair | None:
    """A row of a neighbour that failed whenever it was forced, three times or more."""
    seen = _forced(package, host)
    sure = len(seen) >= _OFTEN and all(row.outcome == "fails" and row.about for row in seen)
    return seen[-1] if sure else None


def _forced(package: str, host: str) -> list[Pair]:
    mine = (row for row in pairs() if row.forced and (row.package, row.host) == (package, host))
    return [row for row in mine if row.outcome in ("imports", "fails")]


def _covers(tried: str, version: str) -> bool:
    """Whether what was seen of the last patch of a series holds for a release of it."""
    if major_minor(tried) != major_minor(version) or numbers(version) > numbers(tried):
        return False
    mine, theirs = (*numbers(version), 0, 0)[:3], (*numbers(tried), 0, 0)[:3]
    patches_alone = mine[:2] < (0, 3)  # such a package was tried in steps
    return not patches_alone or mine[2] // 3 == theirs[2] // 3
