"""Pins that exclude each other through what they ask for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from gpuwhy.knowledge import asked, compiled, published
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import solving
from gpuwhy.lint.index import JUDGED
from gpuwhy.lint.rules import pair_mismatch
from gpuwhy.lint.scope import Scope, span
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.taking import Asking, Network
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, allows, parsed
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import numbers

RULE = Rule("no-solution", "error", "pins that exclude each other: the installer finds no releases for all of them")


_DEEP = 4  # demands of demands that are followed
_MANY = 3  # clashes of one command that are told


_OLDEST = ("3.6",)
"""What a file may be for that names no Python and an old TensorFlow."""


class Clash(NamedTuple):
    """A demand that nothing satisfies, who stands against it, and which package of the file brings who asks."""

    asking: Asking
    against: str
    pin: Pin
    bringer: str

    @property
    def names(self) -> set[str]:
        """The packages that take part."""
        return {self.asking.name, self.asking.other, self.bringer, self.against.split()[0]}

    @property
    def given_up(self) -> set[str]:
        """The packages without whose bounds it is none: the one that the file asks for, else who asks as well."""
        own = " is asked for" in self.against
        return {self.asking.other} if own else {self.asking.other, self.asking.name, self.bringer} - {""}


def check(scope: Scope) -> Iterator[Mistake]:
    """Each command's packages at once, on every Python that it may run on."""
    for step, pins in solving.steps(scope).items():
        if len(pins) < 2 or scope.environment.locked or scope.environment.forked:
            continue
        yield from _twice(scope, pins)
        if not solving.is_compared(scope, step):
            continue
        clash = _clash(scope, pins)
        found = [*_told_apart(scope, pins)] if clash else []
        yield from map(_mistake, found)
        if found:
            return
        if not clash:
            yield from _apart(scope, pins)


def _told_apart(scope: Scope, pins: list[Pin]) -> Iterator[Clash]:
    """The first clash and those that are left without its lines: each would stop the installer by itself.

    What was freed, or is named by its address, may be another release than a demand asks for: nothing is said of it.
    """
    freed = _paired(scope, pins) | {pin.name for pin in scope.environment.pins if pin.reference}
    for _ in range(_MANY):
        clash = _clash(scope, _freed(pins, freed))
        if clash is None:
            return
        if not freed & clash.names and (scope.for_gpus or _is_of_gpus(clash)):
            yield clash
        freed |= clash.given_up


def _paired(scope: Scope, pins: list[Pin]) -> set[str]:
    """The packages of which another rule says already that they do not go with a pin."""
    told = [*pair_mismatch.check(scope)]
    lines = {int(line) for mistake in told for line in re.findall(r"\(line (\d+)\)", mistake.text)}
    lines |= {mistake.place.line for mistake in told if "(line " not in mistake.text}
    return {pin.name for pin in pins if pin.place.line in lines}


def _freed(pins: list[Pin], names: set[str]) -> list[Pin]:
    """The pins, some of them without their bounds."""
    return [msgspec.structs.replace(pin, specifier="") if pin.name in names else pin for pin in pins]


def _twice(scope: Scope, pins: list[Pin]) -> Iterator[Mistake]:
    """One package, asked for twice in one command, by releases that are not the same; once for a package."""
    told: set[str] = set()
    exact = [pin for pin in pins if pin.version and not pin.marker and not pin.limits]
    for pin, other in itertools.product(exact if scope.for_gpus else (), pins):
        other_way = pin.name == other.name and not other.marker and other.place != pin.place
        if other_way and pin.name not in told and not allows(other.specifier.partition("+")[0], pin.version):
            told.add(pin.name)
            late = max(pin, other, key=lambda one: one.place.line)
            first = other if late is pin else pin
            text = f"{late.name}{late.specifier} is asked for, and {first.name}{first.specifier}"
            text += f" (line {first.place.line}): pip and uv refuse both at once"
            yield RULE.mistake(late.place, text, _ONE, f"keep one of the two lines for {pin.name}")


_ONE = source("pip's and uv's resolvers", "one release of a package has to meet all that is asked of it")


class _Taking(NamedTuple):
    """A pinned release, the Pythons that it can be installed on, and why no others."""

    pin: Pin
    pythons: frozenset[str]
    said: str
    built: bool  # whether pip might build it for another one


def _apart(scope: Scope, pins: list[Pin]) -> Iterator[Mistake]:
    """Two pinned releases of which no Python takes both; frameworks first."""
    if not scope.for_gpus or scope.environment.pythons or scope.environment.in_image:
        return
    found = [one for pin in pins if pin.version and not pin.marker and (one := _taking(pin))]
    for one, other in itertools.combinations(sorted(found, key=lambda each: (each.built, each.pin.place.line)), 2):
        if not one.pythons & other.pythons:
            late, first = sorted((one, other), key=lambda each: each.pin.name in JUDGED)
            text = f"{late.said}; {first.said} (line {first.pin.place.line}): no Python takes both"
            fix = f"take a {late.pin.name} and a {first.pin.name} of the same time"
            yield RULE.mistake(late.pin.place, text, published.SOURCE, fix, "warning" if other.built else "error")
            return


def _taking(pin: Pin) -> _Taking | None:
    """The Pythons of a pinned release: by its wheels where it is a framework or fails to build, else by its demand."""
    said = f"{pin.name} {pin.version}"
    if pin.name in JUDGED:
        pythons = _of_wheels(pin)
        return (
            _Taking(pin, frozenset(pythons), f"{said} has wheels for Python {span(pythons)}", False)
            if pythons
            else None
        )
    version = parsed(pin.version)
    row = published.releases(pin.name).get(version) if version else None
    newest = compiled.newest_python(pin.name, pin.version) or published.last_python(pin.name, pin.version)
    if row is None or not (newest or row.python):
        return None
    takes = [python for python in PYTHONS if not row.python or allows(row.python, f"{python}.99")]
    if newest:
        until = frozenset(python for python in takes if numbers(python) <= numbers(newest))
        return _Taking(pin, until, f"{said} has wheels up to Python {newest}", row.sources)
    return _Taking(pin, frozenset(takes), f"{said} asks for Python {row.python}", False)


def _of_wheels(pin: Pin) -> tuple[str, ...]:
    rows = [row for row in allowed(pin.name, f"=={pin.version.partition('+')[0]}") if row.platform == LINUX]
    return tuple(python for python in PYTHONS if any(has_python(row, python) for row in rows))


def _clash(scope: Scope, pins: list[Pin]) -> Clash | None:
    """What excludes what, where no Python has a solution."""
    found: Clash | None = None
    named = scope.environment.pythons or scope.hinted
    for python in (*solving.pythons(scope), *(() if named else _OLDEST)):
        network = solving.network(pins, python)
        if not network.empty and not network.lacking and not any(solving.is_without_wheel(pin, python) for pin in pins):
            return None
        found = found or _told(network, pins, scope.environment.overridden)
    return found


def _told(network: Network, pins: list[Pin], overridden: frozenset[str]) -> Clash | None:
    """The first demand that can be shown: by a package that the file names or brings, against what is there."""
    named = {pin.name: pin for pin in pins if not pin.limits}
    for asking in network.empty:
        against = next(_against(network, asking, named), "")
        bringer = "" if asking.name in named else _bringer(network, asking.name, named)
        pin = named.get(asking.name) or named.get(bringer)
        if against and pin and asking.other not in overridden:
            return Clash(asking, against, pin, bringer)
    return None


def _bringer(network: Network, name: str, named: dict[str, Pin]) -> str:
    """The package of the file that brings another, by what the newest possible release of each asks for."""
    for first in named:
        reached = {first}
        for _ in range(_DEEP):
            reached |= {other for one in reached if one in network.sets for other in network.asks(one)}
        if name in reached:
            return first
    return ""


def _against(network: Network, asking: Asking, named: dict[str, Pin]) -> Iterator[str]:
    """Who keeps the package from what is wanted: the file, or another package of it."""
    wanted = asked.allowed(asking.other, asking.wish)
    own = named.get(asking.other)
    if own and not wanted & asked.allowed(asking.other, network.wanted.get(asking.other, "")):
        yield f"{asking.other}{own.specifier} is asked for (line {own.place.line})"
    for name in network.sure:
        wish = network.asks(name).get(asking.other, "") if name != asking.name else ""
        if wish and not wanted & asked.allowed(asking.other, wish):
            where = f" (line {named[name].place.line})" if name in named else ""
            yield f"{name} {asked.newest(name, network.sets[name])}{where} asks for {asking.other}{wish}"


def _is_of_gpus(clash: Clash) -> bool:
    """Whether a framework, or something that runs on one, takes part."""
    return any(is_guest(name) or family(name) for name in clash.names)


def _mistake(clash: Clash) -> Mistake:
    asking, pin = clash.asking, clash.pin
    who = f"{asking.name} {asking.version}" + (f", which {clash.bringer} brings," if clash.bringer else "")
    text = f"{who} asks for {asking.other}{asking.wish}; {clash.against}: no release fits both"
    fix = f"leave one of the two free, or ask for a set that works: gpuwhy plan {pin.name} {asking.other}"
    return RULE.mistake(pin.place, text, asked.SOURCE, fix)
