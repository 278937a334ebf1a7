"""Pins that exclude each other through what they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge import asked
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import family
from gpuwhy.lint import solving
from gpuwhy.lint.rules import pair_mismatch
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.taking import Asking, Network
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-solution", "error", "pins that exclude each other: the installer finds no releases for all of them")


class Clash(NamedTuple):
    """A demand that nothing satisfies, and who stands against it."""

    asking: Asking
    against: str
    pin: Pin


def check(scope: Scope) -> Iterator[Mistake]:
    """Each command's packages at once, on every Python that it may run on."""
    for step, pins in solving.steps(scope).items():
        if not solving.is_compared(scope, step) or len(pins) < 2:
            continue
        clash = _clash(scope, pins)
        if clash and _is_of_gpus(clash) and not any(pair_mismatch.check(scope)):
            yield _mistake(clash)
            return


def _clash(scope: Scope, pins: list[Pin]) -> Clash | None:
    """What excludes what, where no Python has a solution."""
    found: Clash | None = None
    for python in solving.pythons(scope):
        network = solving.network(pins, python)
        if not network.empty and not network.lacking and not any(solving.is_without_wheel(pin, python) for pin in pins):
            return None
        found = found or _told(network, pins, scope.environment.overridden)
    return found


def _told(network: Network, pins: list[Pin], overridden: frozenset[str]) -> Clash | None:
    """The first demand that can be shown: by a package that the file names, against what is there."""
    named = {pin.name: pin for pin in pins if not pin.limits}
    for asking in network.empty:
        against = next(_against(network, asking, named), "")
        pin = named.get(asking.name) or named.get(asking.other)
        if against and pin and asking.other not in overridden:
            return Clash(asking, against, pin)
    return None


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
    names = (clash.asking.name, clash.asking.other, clash.against.split()[0])
    return any(is_guest(name) or family(name) for name in names)


def _mistake(clash: Clash) -> Mistake:
    asking, pin = clash.asking, clash.pin
    text = f"{asking.name} {asking.version} asks for {asking.other}{asking.wish}; {clash.against}: no release fits both"
    fix = f"leave one of the two free, or ask for a set that works: gpuwhy plan {asking.name} {asking.other}"
    return RULE.mistake(pin.place, text, asked.SOURCE, fix)
