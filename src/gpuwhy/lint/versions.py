"""Versions: specifiers against the harvested releases, and where a marker holds."""

from __future__ import annotations

import itertools
import re
from functools import cache, lru_cache

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge import releases
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.release import Release

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
EVERYWHERE = frozenset(range(len(_GRID)))
ON_LINUX = frozenset(n for n, (system, _) in enumerate(_GRID) if system[0] == "linux" and system[2] == "x86_64")
ON_WINDOWS = frozenset(n for n, (system, _) in enumerate(_GRID) if system[0] == "win32")


@lru_cache(maxsize=4096)
def specifier(text: str) -> SpecifierSet | None:
    """A specifier set; None for what is none, or has a number that no release has (and Python would not read)."""
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
    """Whether a specifier allows a version (local parts and previews included); what is no specifier allows all."""
    wanted, found = specifier(text), parsed(version)
    if wanted is None or found is None:
        return True
    return wanted.contains(found, prereleases=True)


@cache
def rows(name: str) -> tuple[Release, ...]:
    """Every row of a project, oldest first; () where nothing is known."""
    known = releases.family(name)
    return known.rows if known else ()


@lru_cache(maxsize=4096)
def allowed(name: str, text: str, platform: str = LINUX) -> tuple[Release, ...]:
    """The releases of a platform that a specifier allows, oldest first; previews and yanked ones if it names them."""
    public = text.split("+")[0] if "==" in text and "," not in text else text
    exact = "==" in text and "*" not in text
    there = [row for row in rows(name) if row.platform in (platform, "any", "source")]
    meant = [row for row in there if (version := parsed(row.version)) and (exact or not _set_aside(row, version))]
    found = tuple(row for row in meant if allows(public, row.version))
    return found or (_of_trial(public, there) if exact else ())


def _of_trial(public: str, there: list[Release]) -> tuple[Release, ...]:
    """Of a trial version (2.3.0rc0) that was not harvested, the release that it became."""
    trial = parsed(public.replace("==", "").strip())
    if trial is None or not trial.is_prerelease or trial.is_devrelease:
        return ()
    return tuple(row for row in there if row.version == trial.base_version)


def _set_aside(row: Release, version: Version) -> bool:
    return version.is_prerelease or bool(row.yanked)


def releases_of(pin: Pin, platform: str = LINUX) -> tuple[Release, ...]:
    """The known releases that a pin allows."""
    return () if pin.reference else allowed(pin.name, pin.specifier, platform)


@lru_cache(maxsize=2048)
def where(marker: str) -> frozenset[int]:
    """The combinations of system and Python in which a marker holds; one nobody can evaluate holds everywhere."""
    if not marker:
        return EVERYWHERE
    try:
        test = Marker(marker)
        return frozenset(n for n, place in enumerate(_GRID) if test.evaluate(_environment(*place)))
    except (ValueError, UndefinedComparison, UndefinedEnvironmentName, RecursionError):  # or thousands of digits
        return EVERYWHERE


@lru_cache(maxsize=4096)
def holds(marker: str, python: str) -> bool:
    """Whether a marker holds on Linux and a Python."""
    here = {n for n in ON_LINUX if _GRID[n][1] == python}
    return not marker or not here.isdisjoint(where(marker))


def together(*pins: Pin) -> bool:
    """Whether some system and Python takes all of these pins, and no branch of a script may keep them apart.

    Two branches of different `if`s may hang on the same variable: whether they meet is not known, and not said.
    """
    deepest = max((pin.arms for pin in pins), key=len)
    if any(pin.arms != deepest[: len(pin.arms)] for pin in pins):
        return False
    return bool(frozenset.intersection(*(where(pin.marker) for pin in pins)))


def on_linux(pin: Pin) -> bool:
    """Whether Linux on x86_64 takes a pin."""
    return not pin.marker or bool(where(pin.marker) & ON_LINUX)


def _environment(system: tuple[str, str, str], python: str) -> dict[str, str]:
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system[0],
        "platform_system": system[1],
        "platform_machine": system[2],
        "os_name": "nt" if system[0] == "win32" else "posix",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_version": "",
        "extra": "",
    }


def pythons_in(text: str) -> tuple[str, ...]:
    """The Pythons that a requires-python range holds; () where it is none."""
    wanted = specifier(text)
    if wanted is None:
        return ()
    return tuple(p for p in PYTHONS if any(wanted.contains(f"{p}.{patch}") for patch in (0, 5, 10, 20)))
