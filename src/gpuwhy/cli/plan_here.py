"""This machine as a demand of `plan`; on the facts of version 0 until look/ is here."""

from __future__ import annotations

from typing import Any

from gpuwhy.choose import Card, Demand, Wanted
from gpuwhy.choose.demand import System
from gpuwhy.facts.fact import Known, value_or
from gpuwhy.knowledge.versions import numbers
from gpuwhy.plan.describe import python_of
from gpuwhy.plan.evidence import Line

_ARCHES = {"amd64": "x86_64", "arm64": "aarch64", "": "x86_64"}


def here(
    packages: tuple[Wanted, ...],
    folder: str,
    version: str,
    keep: tuple[str, ...],
    least_change: bool,
    manager: str,
) -> tuple[Demand, tuple[Line, ...]]:
    """The demand for this machine, and what was seen of it."""
    from gpuwhy import app

    facts: Any = app.facts_for_plan(app.live_host(), folder)
    return of_facts(facts, packages, version, keep, least_change, manager)


def of_facts(
    facts: Any,
    packages: tuple[Wanted, ...],
    version: str = "",
    keep: tuple[str, ...] = (),
    least_change: bool = False,
    manager: str = "pip",
) -> tuple[Demand, tuple[Line, ...]]:
    """The same for facts that were looked at before."""
    interpreter = value_or(facts.target.interpreter, None)
    own = ".".join(str(n) for n in numbers(interpreter.version)[:2]) if interpreter else ""
    libc = _value(facts.surroundings.libc)
    driver = _value(facts.driver.module_version)
    cards, lines = _cards(facts)
    if driver:
        lines.append(Line("saw", f"driver {driver}", facts.driver.module_version.source))
    if version:
        lines.append(Line("told", f"Python {version}"))
    elif own:
        lines.append(Line("saw", f"Python {own}", facts.target.interpreter.source))
    if libc:
        lines.append(Line("saw", libc, facts.surroundings.libc.source))
    arch = interpreter.machine.lower() if interpreter else ""
    demand = Demand(
        packages,
        _system(facts),
        _ARCHES.get(arch, arch),
        python_of(version) if version else own,
        bool(version) or "python" in keep,
        driver,
        cards,
        libc.removeprefix("glibc ").split(" ")[0],
        manager,
        {one.name: one.version for one in value_or(facts.target.distributions, ())},
        least_change,
        keep,
    )
    return demand, tuple(lines)


def _system(facts: Any) -> System:
    if _value(facts.surroundings.system) == "windows":
        return "windows"
    return "wsl" if isinstance(facts.surroundings.wsl, Known) else "linux"


def _cards(facts: Any) -> tuple[tuple[Card, ...], list[Line]]:
    for fact in (facts.devices.devices, facts.devices.pci):
        if isinstance(fact, Known) and fact.value:
            found = [(_text(one.name), _value(one.capability)) for one in fact.value]
            cards = tuple(
                dict.fromkeys(Card(name.removeprefix("NVIDIA "), cap) for name, cap in found if cap)
            )
            text = "{}, compute capability {}"
            return cards, [
                Line("saw", text.format(card.name, card.capability), fact.source) for card in cards
            ]
    return (), []


def _text(name: Any) -> str:
    return name if isinstance(name, str) else _value(name)


def _value(fact: Any) -> str:
    return str(fact.value) if isinstance(fact, Known) else ""
