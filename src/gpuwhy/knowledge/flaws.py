"""Flaws: releases that do not work as published, or whose PTX was seen to fail on a GPU."""

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import rows


class Flaw(msgspec.Struct, frozen=True):
    """A release that does not work as published."""

    package: str
    version: str
    text: str
    source: Source
    cure: str = ""  # "" where only another release helps
    pythons: tuple[str, ...] = ()  # only on these; () = on all


class LostFolder(msgspec.Struct, frozen=True):
    """A release whose files look for a library in a folder list that lost the wheel's folder."""

    framework: str
    version: str
    library: str
    text: str
    source: Source


class PtxTrouble(msgspec.Struct, frozen=True):
    """Releases [since, until) of a package whose PTX was seen to fail from a capability on."""

    package: str
    since: str
    until: str
    capability: str
    text: str
    source: Source


def flaws() -> tuple[Flaw, ...]:
    """Every release that is known to be flawed."""
    return rows("flaws.jsonl", Flaw)


def flaw(package: str, version: str) -> Flaw | None:
    """The flaw of a release on every Python."""
    mine = (row for row in flaws() if (row.package, row.version) == (package, version))
    return next((row for row in mine if not row.pythons), None)


def flawed_on(package: str, version: str) -> frozenset[str]:
    """The Pythons on which a release is broken, and works on others."""
    mine = (row for row in flaws() if (row.package, row.version) == (package, version))
    return frozenset(python for row in mine for python in row.pythons)


def lost_folder(framework: str, version: str, library: str) -> LostFolder | None:
    """The row of a release that is known to look in the wrong folders for a library."""
    wanted, known = (framework, version, library), rows("lost_folders.jsonl", LostFolder)
    return next((r for r in known if (r.framework, r.version, r.library) == wanted), None)


def ptx_trouble(package: str, version: str, capability: str) -> PtxTrouble | None:
    """The row of a release whose PTX is known to fail on a GPU."""
    for row in rows("ptx_troubles.jsonl", PtxTrouble):
        inside = at_least(version, row.since) and not at_least(version, row.until)
        if row.package == package and inside and at_least(capability, row.capability):
            return row
    return None
