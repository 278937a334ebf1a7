"""The contract `gpuwhy.plan/1`: a choice as JSON with what it rests on, and its schema."""

from typing import Any, Literal

import msgspec

from gpuwhy.choose.candidates import title as titled
from gpuwhy.choose.choice import Bound, Choice, Needed, Passed, Pick
from gpuwhy.choose.demand import Card, Demand, System, Wanted
from gpuwhy.choose.names import planned_as
from gpuwhy.facts.fact import Source
from gpuwhy.knowledge import tried
from gpuwhy.plan.commands import Way, ways

SCHEMA: Literal["gpuwhy.plan/1"] = "gpuwhy.plan/1"
TITLES = {"linux": "Linux", "windows": "Windows", "wsl": "WSL 2"}


class Line(msgspec.Struct, frozen=True):
    """One sentence: seen on the machine, told by the person, assumed, or known in general."""

    kind: Literal["saw", "told", "assumed", "know"]
    text: str
    source: Source | None = None


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


_NAMES = {"choices": "picks", "caps": "bounds", "system": "needs", "unsure": "doubts"}
"""The fields of a proposal that a Choice calls otherwise."""


def plan_of(choice: Choice, seen: tuple[Line, ...] = (), confirmed: str = "") -> Plan:
    """The contract's value of a choice; `seen` is what was looked at on this machine."""
    demand, near = choice.demand, choice.nearest
    libc = "" if demand.glibc in ("", "musl") else "glibc "
    machine = Machine(
        demand.system,
        demand.arch,
        demand.driver_version,
        demand.gpus,
        demand.python,
        bool(demand.python) and demand.python_fixed,
        demand.keep,
        demand.installed,
        (*(seen or given(demand)), *assumed(demand, bool(seen))),
        f"{libc}{demand.glibc}",
    )
    if choice.fits:
        proposal = _proposal(choice, confirmed)
        return Plan(SCHEMA, "proposal", demand.packages, machine, proposal)
    conflict = Conflict(
        choice.why_not,
        (*machine.lines, *(Line("know", text, source) for text, source in choice.beside)),
        choice.passed,
        near.text if near else "",
        _proposal(near.to) if near else None,
        choice.migration,
    )
    return Plan(SCHEMA, "conflict", demand.packages, machine, None, conflict)


def _proposal(choice: Choice, confirmed: str = "") -> Proposal:
    made: dict[str, Any] = {"lines": known(choice), "ways": ways(choice), "confirmed": confirmed}
    same = (name for name in Proposal.__struct_fields__ if name not in made)
    return Proposal(**{name: getattr(choice, _NAMES.get(name, name)) for name in same}, **made)


def schema() -> dict[str, Any]:
    """The JSON schema, made from the types; docs/plan.schema.json is a copy of it."""
    made = msgspec.json.schema(Plan)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **made}


# What a plan rests on


def given(demand: Demand) -> tuple[Line, ...]:
    """What the person said of the machine."""
    said = [f"driver {demand.driver_version}"] if demand.driver_version else []
    said += [f"{card.name}, compute capability {card.capability}" for card in demand.gpus]
    said += [f"Python {demand.python}"] if demand.python else []
    said += [f"glibc {demand.glibc}"] if demand.glibc else []
    said += [f"{TITLES[demand.system]} on {demand.arch}"]
    return tuple(Line("told", text) for text in said)


def assumed(demand: Demand, seen: bool) -> tuple[Line, ...]:
    """What nobody said, and what then is taken for granted."""
    where = "seen here" if seen else "named"
    driver = f"a driver that is new enough (none is {where}; --driver)"
    gpu = f"a GPU that it has code for (none is {where}; --gpu)"
    out = [] if demand.driver_version else [driver]
    return tuple(Line("assumed", text) for text in (*out, *([] if demand.gpus else [gpu])))


def known(choice: Choice) -> tuple[Line, ...]:
    """What is known of the releases, each with its file."""
    out = []
    for pick in choice.picks:
        who = f"{pick.package} {pick.version}"
        if pick.role != "framework" or not pick.cuda:
            continue
        need = f", which needs driver {pick.driver} or newer" if pick.driver else ""
        out.append(Line("know", f"{who} is built for CUDA {pick.cuda}{need}", pick.source))
        if pick.runs and not pick.doubt:
            text = f"{who} runs on {choice.demand.gpus[0]} by {pick.runs}"
            out.append(Line("know", text, pick.code_source))
        out.append(Line("know", *tried.told(titled(planned_as(pick.package)), pick.version)))
    for bound in choice.bounds:
        out.append(Line("know", f"{bound.requirement}: {bound.because}", bound.source))
    return tuple(out)
