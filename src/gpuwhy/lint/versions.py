"""Specifiers, markers and what an installer takes, against the harvested releases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import asked, releases
from gpuwhy.lint.sheet import PYTORCH, Pin, holds_only

Release = Any
"""A row of gpuwhy.knowledge.releases."""
PYTHONS = tuple(f"3.{minor}" for minor in range(6, 16))
LINUX = "linux-x86_64"

_ENDLESS = re.compile(r"\d{40}")
_EVERYWHERE = frozenset(PYTHONS)
_ROUNDS = 40


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


def releases_of(pin: Pin) -> tuple[Release, ...]:
    """The known releases that a pin allows."""
    return () if pin.reference else allowed(pin.name, pin.specifier)


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


def together(*pins: Pin) -> bool:
    """Whether some Python takes all of these pins, and no branch keeps them apart."""
    deepest = max((pin.arms for pin in pins), key=len)
    if any(pin.arms != deepest[: len(pin.arms)] for pin in pins):
        return False
    return bool(frozenset.intersection(*(where(pin.marker) for pin in pins)))


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
    return " to ".join(dict.fromkeys((plain[0], plain[-1]))) if plain else "none"


class Clash(NamedTuple):
    """A package of which no release is left, and the last one that asks for another."""

    name: str
    by: str
    version: str
    wish: str


class Taken(NamedTuple):
    """The release of each package on one Python; a clash where no release is left."""

    releases: Mapping[str, str]
    clash: Clash | None
    lacking: bool = False  # a named release does not take this Python


def solve(pins: Iterable[Pin], python: str) -> Taken:
    """What pip takes for these pins at once: the newest release of each that fits the others."""
    wanted: dict[str, list[str]] = {}
    limited: dict[str, list[str]] = {}
    for pin in pins:
        if pin.origin != "pip" or pin.reference or not holds(pin.marker, python):
            continue
        elsewhere = any(holds_only(index.url) == "torch" for index in pin.indexes)
        if pin.version:
            spec = pin.specifier.partition("+")[0]  # without a local label
        else:  # which torch comes, another index decides
            spec = "" if pin.name in PYTORCH and elsewhere else pin.specifier
        (limited if pin.limits else wanted).setdefault(pin.name, []).append(spec)
    specs = ((name, [*of, *limited.get(name, ())]) for name, of in wanted.items())
    return _taken(tuple((name, ",".join(filter(None, of))) for name, of in specs), python)


@lru_cache(maxsize=512)
def _taken(wanted: tuple[tuple[str, str], ...], python: str) -> Taken:
    """Exact pins narrow the rest first; then each package takes the newest release that fits."""
    possible: dict[str, int] = {}
    for name, spec in wanted:
        named = asked.allowed(name, spec) if asked.knows(name) else 0
        bits = asked.on_python(name, python) & named if named else 0
        if named and not bits:
            return Taken({}, None, lacking=True)
        possible |= {name: bits} if bits else {}
    order = sorted(possible, key=lambda name: possible[name].bit_count() != 1)
    chosen: dict[str, str] = {}
    guessed: set[str] = set()  # narrowed by one of several releases that pip may take
    for _ in range(_ROUNDS):
        before = dict(possible)
        for name in dict.fromkeys((*order, *possible)):
            bits, clash = _fitting(name, possible, python)
            if clash:
                own = dict(wanted).get(clash.name)
                sure = own and guessed.isdisjoint((clash.by, clash.name))
                return Taken(chosen, clash if sure else None)
            chosen[name] = asked.newest(name, bits)
            for other, demand in _asks(name, bits, python).items():
                now = possible.get(other, asked.on_python(other, python))
                if now & ~demand.bits and (name in guessed or bits != possible[name]):
                    guessed.add(other)
                possible |= {other: now & demand.bits} if now & demand.bits else {}
        if possible == before:
            break
    return Taken(chosen, None)


def _fitting(name: str, possible: dict[str, int], python: str) -> tuple[int, Clash | None]:
    """The newest possible releases of a package whose demands can be met; else what stops them."""
    clash = None
    for group in reversed(asked.project(name).groups):
        bits = group.bits & possible[name]
        asks = _asks(name, bits, python) if bits else {}
        lost = next((one for one in asks if not possible.get(one, -1) & asks[one].bits), "")
        if bits and not lost:
            return bits, None
        if bits and not clash:
            clash = Clash(lost, name, asked.newest(name, bits), asks[lost].wish)
    return possible[name], clash


def _asks(name: str, bits: int, python: str) -> dict[str, asked.Demand]:
    """What the newest of some releases asks for."""
    top = 1 << (bits.bit_length() - 1)
    groups = asked.project(name).groups
    at = next((at for at, group in enumerate(groups) if group.bits & top), None)
    return asked.demands(name, at, python) if at is not None else {}
