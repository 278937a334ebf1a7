"""The contract `gpuwhy.plan/1`: a choice as JSON, and its schema."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gpuwhy.choose import Bound, Card, Choice, Demand, Needed, Passed, Pick, Wanted
from gpuwhy.choose.demand import System
from gpuwhy.plan.commands import Way, ways
from gpuwhy.plan.evidence import Line, assumed, given, known

SCHEMA: Literal["gpuwhy.plan/1"] = "gpuwhy.plan/1"


class Machine(msgspec.Struct, frozen=True):
    """What the set has to work on; "" and () are not known, and then not checked."""

    system: System = "linux"
    machine: str = "x86_64"
    driver: str = ""
    gpus: tuple[Card, ...] = ()
    python: str = ""
    fixed_python: bool = False
    keep: tuple[str, ...] = ()
    installed: dict[str, str] = {}
    lines: tuple[Line, ...] = ()
    libc: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """A set that works together on the machine."""

    python: str
    pythons: tuple[str, ...]
    choices: tuple[Pick, ...]
    libraries: tuple[Pick, ...]
    others: tuple[Wanted, ...] = ()
    caps: tuple[Bound, ...] = ()
    system: tuple[Needed, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    passed: tuple[Passed, ...] = ()
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    unsure: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()  # named packages that no table knows
    certain: bool = False  # every named package was planned, and nothing is in doubt
    confirmed: str = ""  # what the installer said of the pins, with --resolve


class Conflict(msgspec.Struct, frozen=True):
    """Why nothing works, and what comes nearest."""

    text: str
    lines: tuple[Line, ...]
    passed: tuple[Passed, ...] = ()
    gives_up: str = ""
    nearest: Proposal | None = None
    migration: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True):
    """The answer: exactly one of `proposal` and `conflict`."""

    schema: Literal["gpuwhy.plan/1"]
    status: Literal["proposal", "conflict"]
    wishes: tuple[Wanted, ...]
    machine: Machine
    proposal: Proposal | None = None
    conflict: Conflict | None = None


def plan_of(choice: Choice, seen: tuple[Line, ...] = (), confirmed: str = "") -> Plan:
    """The contract's value of a choice; `seen` is what was looked at on this machine."""
    demand = choice.demand
    machine = _machine(demand, (*(seen or given(demand)), *assumed(demand, bool(seen))))
    if choice.fits:
        proposal = _proposal(choice, confirmed)
        return Plan(SCHEMA, "proposal", demand.packages, machine, proposal)
    near = choice.nearest
    beside = tuple(Line("know", text, source) for text, source in choice.beside)
    conflict = Conflict(
        choice.why_not,
        (*machine.lines, *beside),
        choice.passed,
        near.text if near else "",
        _proposal(near.to) if near else None,
        choice.migration,
    )
    return Plan(SCHEMA, "conflict", demand.packages, machine, None, conflict)


def _machine(demand: Demand, lines: tuple[Line, ...]) -> Machine:
    musl = demand.glibc == "musl"
    return Machine(
        demand.system,
        demand.arch,
        demand.driver_version,
        demand.gpus,
        demand.python,
        bool(demand.python) and demand.python_fixed,
        demand.keep,
        demand.installed,
        lines,
        "musl" if musl else f"glibc {demand.glibc}" if demand.glibc else "",
    )


def _proposal(choice: Choice, confirmed: str = "") -> Proposal:
    return Proposal(
        choice.python,
        choice.pythons,
        choice.picks,
        choice.libraries,
        choice.others,
        choice.bounds,
        choice.needs,
        choice.environment,
        choice.passed,
        known(choice),
        choice.notes,
        ways(choice),
        choice.doubts,
        choice.removes,
        choice.unplanned,
        choice.certain,
        confirmed,
    )


def schema() -> dict[str, Any]:
    """The JSON schema, made from the types; docs/plan.schema.json is a copy of it."""
    made = msgspec.json.schema(Plan)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **made}
