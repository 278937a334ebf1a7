"""Evidence: what a plan rests on: what was given, what was assumed, what is known of releases."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.choose import Choice, Demand
from gpuwhy.choose.candidates import title as titled
from gpuwhy.choose.names import planned_as
from gpuwhy.facts.fact import Source
from gpuwhy.knowledge import tried

TITLES = {"linux": "Linux", "windows": "Windows", "wsl": "WSL 2"}


class Line(msgspec.Struct, frozen=True):
    """One sentence: seen on the machine, told by the person, assumed, or known in general."""

    kind: Literal["saw", "told", "assumed", "know"]
    text: str
    source: Source | None = None


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
    out = []
    if not demand.driver_version:
        out.append(f"a driver that is new enough (none is {where}; --driver)")
    if not demand.gpus:
        out.append(f"a GPU that it has code for (none is {where}; --gpu)")
    return tuple(Line("assumed", text) for text in out)


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
            card = choice.demand.gpus[0]
            text = f"{who} runs on {card} by {pick.runs}"
            out.append(Line("know", text, pick.code_source))
        out.append(Line("know", *tried.told(titled(planned_as(pick.package)), pick.version)))
    for bound in choice.bounds:
        out.append(Line("know", f"{bound.requirement}: {bound.because}", bound.source))
    return tuple(out)
