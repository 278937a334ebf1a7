"""Needs: what a release needs of other packages and does not state.

Rows of kind `cap` are of frameworks and read by all, `limit` of packages on them and read by lint,
`compile` where something is compiled against a release, `floor` what a release itself checks.
"""

from functools import cache
from typing import Literal

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge import tables, tried

Kind = Literal["cap", "compile", "limit", "floor"]


class Need(msgspec.Struct, frozen=True):
    """Releases [since, until) of a package need `requirement`; "" = no bound."""

    kind: Kind
    package: str
    requirement: str
    because: str
    source: Source
    since: str = ""
    until: str = ""
    stops: bool = True  # the package cannot be imported, or not be used
    always: bool = False  # it is needed, not only limited where it is installed
    importers: tuple[str, ...] = ()  # what imports the package at its own import: bitsandbytes<0.45
    late: bool = False  # only a part that many never use needs it: told where a program ended there

    @property
    def other(self) -> str:
        """The package that it needs."""
        return split(self.requirement)[0]

    @property
    def floor(self) -> str:
        """The oldest release of it, where the requirement is >= a release."""
        return self.requirement.partition(">=")[2]

    def holds(self, version: str) -> bool:
        """Whether it is about a release; "" = the newest."""
        if not version:
            return not self.until
        begun = not self.since or at_least(version, self.since)
        return begun and not (self.until and at_least(version, self.until))


@cache
def needs(kind: Kind) -> tuple[Need, ...]:
    """Every row of a kind."""
    return tuple(row for row in tables.rows("needs.jsonl", Need) if row.kind == kind)


def _of(kind: Kind, package: str, version: str) -> tuple[Need, ...]:
    return tuple(one for one in needs(kind) if one.package == package and one.holds(version))


def caps(framework: str, version: str) -> tuple[Need, ...]:
    """The caps of one release."""
    return _of("cap", framework, version)


def caps_to_compile(framework: str, version: str) -> tuple[Need, ...]:
    """The caps of one release under which extensions of it are compiled."""
    return _of("compile", framework, version)


def floor(package: str, version: str) -> Need | None:
    """What a release needs of its framework, at least."""
    return next(iter(_of("floor", package, version)), None)


def limits(package: str, version: str) -> tuple[Need, ...]:
    """The limits of a release; those of pairs that were seen to fail where no row is written."""
    written = _of("limit", package, version)
    named = {split(row.requirement)[0] for row in written}
    seen = tried.limits_of(package, version) if version else ()
    return written + tuple(
        Need("limit", package, f"{host}{found.wants}", found.because, found.row.source, version)
        for host, found in seen
        if host not in named
    )


def states(framework: str, version: str) -> dict[str, str]:
    """What a release's own metadata demands of packages that people pin beside it."""
    if framework != "tensorflow" or not at_least(version, "2.6"):
        return {}
    major, minor = numbers(version)[:2]
    newer = f">={major}.{minor}.0rc0,<{major}.{minor + 1}"
    return {"keras": ">=3" if minor >= 16 else newer}


def split(requirement: str) -> tuple[str, str]:
    """protobuf<3.21 → (protobuf, <3.21)."""
    at = next((n for n, c in enumerate(requirement) if c in "<>=!~"), len(requirement))
    return requirement[:at], requirement[at:]
