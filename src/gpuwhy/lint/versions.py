"""Specifiers against the harvested releases, and the systems in which a marker holds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import releases
from gpuwhy.lint.sheet import Pin

Release = Any
"""A row of gpuwhy.knowledge.releases."""
PYTHONS = tuple(f"3.{minor}" for minor in range(6, 16))
LINUX = "linux-x86_64"

_SYSTEMS = (
    ("linux", "Linux", "x86_64"),
    ("linux", "Linux", "aarch64"),
    ("win32", "Windows", "AMD64"),
    ("darwin", "Darwin", "arm64"),
)
_ENDLESS = re.compile(r"\d{40}")
_GRID = tuple(itertools.product(_SYSTEMS, PYTHONS))
_EVERYWHERE = frozenset(range(len(_GRID)))
_ON_LINUX = frozenset(n for n, (system, _) in enumerate(_GRID) if system == _SYSTEMS[0])


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
    here = [row for row in rows(name) if row.platform in (platform, "any", "source")]
    meant = [row for row in here if exact or not _is_set_aside(row)]
    found = tuple(row for row in meant if allows(public, row.version))
    return found or (_of_trial(public, here) if exact else ())


def _of_trial(public: str, here: list[Release]) -> tuple[Release, ...]:
    """Of a trial version (2.3.0rc0) that was not harvested, the release that it became."""
    trial = parsed(public.replace("==", "").strip())
    if trial is None or not trial.is_prerelease or trial.is_devrelease:
        return ()
    return tuple(row for row in here if row.version == trial.base_version)


def _is_set_aside(row: Release) -> bool:
    version = parsed(row.version)
    return version is None or version.is_prerelease or bool(row.yanked)


def releases_of(pin: Pin) -> tuple[Release, ...]:
    """The known releases that a pin allows."""
    return () if pin.reference else allowed(pin.name, pin.specifier)


@lru_cache(maxsize=2048)
def where(marker: str) -> frozenset[int]:
    """The systems and Pythons in which a marker holds; one nobody can evaluate holds everywhere."""
    if not marker:
        return _EVERYWHERE
    try:
        test = Marker(marker)
        return frozenset(n for n, one in enumerate(_GRID) if test.evaluate(_environment(*one)))
    except (ValueError, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        return _EVERYWHERE


def _environment(system: tuple[str, str, str], python: str) -> dict[str, str]:
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system[0],
        "platform_system": system[1],
        "platform_machine": system[2],
        "os_name": "nt" if system[0] == "win32" else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }


@lru_cache(maxsize=4096)
def holds(marker: str, python: str) -> bool:
    """Whether a marker holds on Linux and a Python."""
    here = {n for n in _ON_LINUX if _GRID[n][1] == python}
    return not marker or not here.isdisjoint(where(marker))


def applies(marker: str, pythons: Collection[str]) -> bool:
    """Whether a marker holds on some system with one of these Pythons; any where none is named."""
    here = {n for n, one in enumerate(_GRID) if one[1] in pythons}
    return not marker or not here or not here.isdisjoint(where(marker))


def together(*pins: Pin) -> bool:
    """Whether some system and Python takes all of these pins, and no branch keeps them apart."""
    deepest = max((pin.arms for pin in pins), key=len)
    if any(pin.arms != deepest[: len(pin.arms)] for pin in pins):
        return False
    return bool(frozenset.intersection(*(where(pin.marker) for pin in pins)))


def on_linux(pin: Pin) -> bool:
    """Whether Linux on x86_64 takes a pin."""
    return not pin.marker or bool(where(pin.marker) & _ON_LINUX)


def pythons_in(text: str) -> tuple[str, ...]:
    """The Pythons that a requires-python range holds; () where it is none."""
    wanted = specifier(text)
    if wanted is None:
        return ()
    return tuple(p for p in PYTHONS if any(wanted.contains(f"{p}.{n}") for n in (0, 5, 10, 20)))


def is_pinned(pin: Pin) -> bool:
    """Whether a pin leaves no newer release to come."""
    return bool(pin.version) or any(sign in pin.specifier for sign in ("<", "~=", "*"))


def span(versions: tuple[str, ...]) -> str:
    """Pythons for a sentence: 3.7 to 3.10."""
    plain = [one for one in versions if not one.endswith(("t", "+"))] or list(versions)
    plain.sort(key=numbers)
    if not plain:
        return "none"
    return plain[0] if len(plain) == 1 else f"{plain[0]} to {plain[-1]}"
