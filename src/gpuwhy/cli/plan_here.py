"""This machine as a demand of `plan`."""

from __future__ import annotations

from typing import Any

from gpuwhy.choose import Card, Demand, Wanted
from gpuwhy.choose.demand import System
from gpuwhy.facts.fact import Known, source_of, value_or
from gpuwhy.facts.facts import Facts
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
    from gpuwhy.look.look import Options, look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    subjects = ("system", "environment", "driver", "devices")
    facts = look(RecordingMachine(LiveMachine()), Options(python=folder, folder="."), subjects)
    return of_facts(facts, packages, version, keep, least_change, manager)


def of_facts(
    facts: Facts,
    packages: tuple[Wanted, ...],
    version: str = "",
    keep: tuple[str, ...] = (),
    least_change: bool = False,
    manager: str = "pip",
) -> tuple[Demand, tuple[Line, ...]]:
    """The same for facts that were looked at before."""
    interpreter = value_or(facts.environment.python, None)
    own = ".".join(str(n) for n in numbers(interpreter.version)[:2]) if interpreter else ""
    libc = value_or(facts.system.libc, None)
    glibc = libc.version if libc and libc.name == "glibc" else ""
    driver = _value(facts.driver.module_version)
    cards, lines = _cards(facts)
    if driver:
        lines.append(Line("saw", f"driver {driver}", source_of(facts.driver.module_version)))
    if version:
        lines.append(Line("told", f"Python {version}"))
    elif own:
        lines.append(Line("saw", f"Python {own}", source_of(facts.environment.python)))
    if glibc:
        lines.append(Line("saw", f"glibc {glibc}", source_of(facts.system.libc)))
    arch = interpreter.machine.lower() if interpreter else ""
    demand = Demand(
        packages,
        _system(facts),
        _ARCHES.get(arch, arch),
        python_of(version) if version else own,
        bool(version) or "python" in keep,
        driver,
        cards,
        glibc,
        manager,
        {one.name: one.version for one in facts.environment.by_name.values()},
        least_change,
        keep,
    )
    return demand, tuple(lines)


def _system(facts: Facts) -> System:
    if _value(facts.system.os) == "windows":
        return "windows"
    return "wsl" if isinstance(facts.system.wsl, Known) else "linux"


def _cards(facts: Facts) -> tuple[tuple[Card, ...], list[Line]]:
    several: tuple[Any, ...] = (facts.devices.gpus, facts.devices.pci)
    for fact in several:
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
