"""Companions: which release of a package goes with a release of PyTorch, by what the harvested releases ask for."""

from __future__ import annotations

from functools import lru_cache

from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge.caps import PAIRS
from gpuwhy.knowledge.release import Release
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.versions import meets

PLATFORM = "linux-x86_64"


def going_with(package: str, torch: str, platform: str = PLATFORM) -> str:
    """The newest release of a package whose own metadata takes this torch; '' where no row tells."""
    fit = [
        (numbers(row.version), at, row.version)
        for at, row in enumerate(_rows(package, platform))
        if _takes(row, torch)
    ]
    return max(fit, default=((), 0, ""))[2]


def _takes(row: Release, torch: str) -> bool:
    return meets(torch, _wants(row))


def _wants(row: Release) -> str:
    pairs = row.pairs if isinstance(row.pairs, dict) else PAIRS.get((row.name, row.version), {})
    return pairs.get("torch", "")


@lru_cache(maxsize=64)
def _rows(package: str, platform: str) -> tuple[Release, ...]:
    """The rows that say which torch they are for; withdrawn ones and previews are none to recommend."""
    known = family(package)
    return tuple(
        row
        for row in (known.rows if known else ())
        if row.platform == platform
        and not row.yanked
        and not row.gone
        and _wants(row)
        and _is_final(row.version)
    )


def _is_final(version: str) -> bool:
    return not any(mark in version for mark in ("rc", "a", "b", "dev")) and at_least(version, "0")


def with_build(package: str, cuda: str, platform: str = PLATFORM) -> str:
    """The releases of a package that have a library for a CUDA release: >=0.43.1 where all newer ones have."""
    known = family(package)
    rows = (
        [row for row in known.rows if row.platform == platform and not (row.yanked or row.gone)]
        if known
        else []
    )
    has = [
        (row.version, cuda in row.also.get("builds", "").split())
        for row in rows
        if isinstance(row.also, dict)
    ]
    first = next((at for at in range(len(has) - 1, -1, -1) if not has[at][1]), -1) + 1
    if first < len(has):
        return f">={has[first][0]}"
    return next((f"=={version}" for version, one in reversed(has) if one), "")
