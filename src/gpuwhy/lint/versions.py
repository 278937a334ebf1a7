"""Specifiers and markers, against the harvested releases."""

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import releases

Release = Any
"""A row of gpuwhy.knowledge.releases."""
PYTHONS = tuple(f"3.{minor}" for minor in range(6, 16))
LINUX = "linux-x86_64"

_ENDLESS = re.compile(r"\d{40}")
_EVERYWHERE = frozenset(PYTHONS)


def normal(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def major(version: object) -> int:
    """The first number of a version; 0 where it is not known."""
    return (numbers(version) or (0,))[0] if isinstance(version, str) else 0


@lru_cache(maxsize=4096)
def specifier(text: str) -> SpecifierSet | None:
    """A specifier set; None for what is none, or has a number that no release has."""
    try:
        return None if _ENDLESS.search(text) else SpecifierSet(text)
    except InvalidSpecifier:
        return None


@lru_cache(maxsize=4096)
def parsed(text: str) -> Version | None:
    """A version; None for what is none."""
    try:
        return None if _ENDLESS.search(text) else Version(text)
    except InvalidVersion:
        return None


def allows(text: str, version: str) -> bool:
    """Whether a specifier allows a version; what is no specifier allows all."""
    wanted, found = specifier(text), parsed(version)
    return wanted is None or found is None or wanted.contains(found, prereleases=True)


def meets_one(wishes: Collection[str], version: str) -> bool:
    """Whether one of several wishes, each perhaps with a marker, allows a version."""
    return any(allows(wish.partition(";")[0], version) for wish in wishes)


@cache
def rows(name: str) -> tuple[Release, ...]:
    """Every row of a project, oldest first; () where nothing is known."""
    known = releases.family(name)
    return known.rows if known else ()


@lru_cache(maxsize=4096)
def allowed(name: str, text: str, platform: str = LINUX) -> tuple[Release, ...]:
    """The releases of a platform that a specifier allows, oldest first."""
    public = text.split("+")[0] if "==" in text and "," not in text else text
    exact = "==" in text and "*" not in text
    out = []
    for row in rows(name):
        version = parsed(row.version)
        aside = not exact and (version is None or version.is_prerelease or row.yanked)
        here = row.platform in (platform, "any", "source")
        if here and not aside and allows(public, row.version):
            out.append(row)
    return tuple(out)


@lru_cache(maxsize=4096)
def where(marker: str) -> frozenset[str]:
    """The Pythons on which a marker holds on Linux; one nobody can evaluate holds on all."""
    here = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}
    here |= {"os_name": "posix", "implementation_name": "cpython", "extra": ""}
    here |= {"platform_python_implementation": "CPython"}
    out = set()
    try:
        test = Marker(marker) if marker else None
        for one in PYTHONS:
            full = {**here, "python_version": one, "python_full_version": f"{one}.0"}
            if test is None or test.evaluate(full):
                out.add(one)
    except (ValueError, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        return _EVERYWHERE
    return frozenset(out)


def holds(marker: str, python: str) -> bool:
    """Whether a marker holds on a Python that is known, or on one that is not."""
    return python in where(marker) or (not marker or python not in PYTHONS)


def applies(marker: str, pythons: Collection[str]) -> bool:
    """Whether a marker holds on one of these Pythons; on any where none is named."""
    return not where(marker).isdisjoint(_EVERYWHERE.intersection(pythons) or _EVERYWHERE)


def pythons_in(text: str) -> tuple[str, ...]:
    """The Pythons that a requires-python range holds; () where it is none."""
    wanted = specifier(text)
    if wanted is None:
        return ()
    return tuple(p for p in PYTHONS if any(wanted.contains(f"{p}.{n}") for n in (0, 5, 10, 20)))


def span(versions: tuple[str, ...]) -> str:
    """Pythons for a sentence: 3.7 to 3.10."""
    plain = [one for one in versions if not one.endswith(("t", "+"))] or list(versions)
    plain.sort(key=numbers)
    return " to ".join(dict.fromkeys((plain[0], plain[-1]))) if plain else "none"
