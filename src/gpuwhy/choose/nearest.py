"""Nearest: the smallest change after which something fits, counted in what it takes to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from gpuwhy.choose.choice import Change, Choice, Part
from gpuwhy.choose.demand import Card, Demand, Wanted
from gpuwhy.choose.names import SUBSTITUTES, framework, is_planned, planned_as
from gpuwhy.choose.search import Market
from gpuwhy.choose.verdicts import parsed, specifier
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.versions import numbers

COSTS: dict[Part, int] = {
    "name": 1,
    "release": 1,
    "python": 2,
    "gpu": 3,
    "system": 4,
    "glibc": 4,
    "driver": 5,
}
"""A line of a file, a new environment, a container or another system, root and a reboot."""
_KEPT = 100


class Try(Protocol):
    """Chooses for a demand; `near` are releases to stay close to."""

    def __call__(self, demand: Demand, near: Mapping[str, str] | None = None) -> Choice | None:
        """The choice, or None."""


class Step(msgspec.Struct, frozen=True):
    """Something that could be given up."""

    parts: tuple[Part, ...]
    demand: Demand
    freed: tuple[Wanted, ...] = ()  # requirements whose release is given up

    @property
    def cost(self) -> int:
        """What it costs at least."""
        frameworks = sum(1 for one in self.freed if framework(one.name))
        kept = sum(_KEPT for part in self.parts if part in self.demand.keep)
        return sum(COSTS[p] for p in self.parts) + max(len(self.freed) - 1, 0) + frameworks + kept


def nearest(demand: Demand, market: Market, attempt: Try, must: str = "") -> Change | None:
    """The cheapest change that helps; `must` is a part that has to change."""
    best: tuple[int, Change | None] = (1000, None)
    steps = [step for step in _steps(demand, market) if not must or must in step.parts]
    for step in sorted(steps, key=lambda step: step.cost):
        if step.cost >= best[0]:
            break
        found = attempt(step.demand, {planned_as(w.name): pinned(w) for w in step.freed})
        if found:
            cost = step.cost + sum(_distance(one, found) for one in step.freed)
            if cost < best[0]:
                best = (cost, Change(step.parts, _text(step, demand, found), found))
    return best[1]


def _steps(demand: Demand, market: Market) -> Iterator[Step]:
    """Every change that makes sense: of the machine, of names, of releases, and of both."""
    others = list(_machines(demand))
    for parts, changed in others:
        yield Step(parts, changed)
    named = tuple(_substituted(one, demand) for one in demand.packages)
    if named != demand.packages:
        yield Step(("name",), _with(demand, named))
        for parts, changed in others:
            yield Step(("name", *parts), _with(changed, named))
    labelled = tuple(one for one in demand.packages if one.build and one.specifier)
    if labelled:  # the same release in the build that exists
        yield Step(("release",), _with(demand, map(_unlabelled, demand.packages)), labelled)
    for freed in _freed(market.held):
        loose = [_loosened(one, freed) for one in demand.packages]
        for parts, changed in [((), demand), *others]:
            yield Step(("release", *parts), _with(changed, loose), freed)


def _with(demand: Demand, packages: Iterator[Wanted] | Sequence[Wanted] | map[Wanted]) -> Demand:
    return msgspec.structs.replace(demand, packages=tuple(packages))


def _substituted(one: Wanted, demand: Demand) -> Wanted:
    other = SUBSTITUTES.get((one.name, demand.system))
    return Wanted(other, where=one.where, text=other) if other else one


def _freed(held: Sequence[Wanted]) -> Iterator[tuple[Wanted, ...]]:
    """One pin alone, then all of companions, then all of them."""
    pins = [one for one in held if one.specifier and (is_planned(one.name) or one.constraint)]
    yield from ((one,) for one in pins)
    beside = tuple(one for one in pins if not framework(one.name))
    if len(beside) > 1 and len(beside) < len(pins):
        yield beside
    if len(pins) > 1:
        yield tuple(pins)
    others = [one for one in held if one.specifier and one not in pins]
    yield from ((one,) for one in others)


def _loosened(one: Wanted, freed: Sequence[Wanted]) -> Wanted:
    loose = any(one is other for other in freed)
    return msgspec.structs.replace(one, specifier="", build="") if loose else one


def _unlabelled(one: Wanted) -> Wanted:
    return msgspec.structs.replace(one, build="")


def _machines(demand: Demand) -> Iterator[tuple[tuple[Part, ...], Demand]]:
    """Other machines that the person could have."""
    fixed = bool(demand.python) and demand.python_fixed
    change = msgspec.structs.replace
    others: list[tuple[Part, bool, Demand]] = [
        ("python", fixed, change(demand, python_fixed=False)),
        ("system", demand.system == "windows", change(demand, system="wsl")),
        ("glibc", bool(demand.glibc), change(demand, glibc="")),
        (
            "driver",
            bool(demand.driver_version),
            change(demand, driver_version=newest_branch(demand)),
        ),
    ]
    for part, sensible, changed in others:
        if not sensible:
            continue
        yield (part,), changed
        if part != "python" and fixed:
            yield (part, "python"), change(changed, python_fixed=False)
    if len({card.capability for card in demand.gpus}) > 1:
        for card in demand.gpus:
            yield ("gpu",), change(demand, gpus=(card,))


def newest_branch(demand: Demand) -> str:
    """The newest driver branch that drives every GPU; "" where today's does."""
    lasts = [archs.last_driver_branch(card.capability) for card in demand.gpus]
    return min((last[1:] for last in lasts if last), key=int, default="")


def pinned(one: Wanted) -> str:
    """The release that a requirement names, or comes nearest to."""
    return max(
        (clause.version.removesuffix(".*") for clause in specifier(one.specifier)), key=parsed
    )


def _distance(one: Wanted, found: Choice) -> int:
    """How much of a program a change of release touches."""
    pick = _pick_for(one, found)
    if pick is None:
        return 0
    mine, theirs = (*numbers(pick), 0), (*numbers(pinned(one)), 0)
    return 4 if mine[0] != theirs[0] else min(abs(mine[1] - theirs[1]), 4)


def _pick_for(one: Wanted, found: Choice) -> str | None:
    root = planned_as(one.name)
    return next((p.version for p in found.picks if planned_as(p.package) == root), None)


def _text(step: Step, demand: Demand, found: Choice) -> str:
    """What is given up, in words."""
    moved = {planned_as(one.name) for one in step.freed}
    picks = [f"{p.package} {p.version}" for p in found.picks if planned_as(p.package) in moved]
    freed = [
        f"{one.name} without {one.specifier}" for one in step.freed if not is_planned(one.name)
    ]
    glibc = max((pick.glibc for pick in (*found.picks, *found.libraries)), key=numbers, default="")
    names = {pick.package for pick in found.picks}
    words: dict[Part, str] = {
        "python": f"Python {found.python} instead of {demand.python}",
        "name": ", ".join(
            f"{new} instead of {old}"
            for (old, system), new in SUBSTITUTES.items()
            if system == demand.system and new in names
        ),
        "release": "another release: " + ", ".join(picks + freed),
        "driver": f"driver {_driver(demand, found)} instead of {demand.driver_version}",
        "system": "WSL 2 instead of native Windows",
        "glibc": f"a distribution or container with glibc {glibc} or newer",
        "gpu": _alone(demand, step.demand.gpus) if step.demand.gpus else "",
    }
    if step.freed and all(one.build for one in step.freed):
        words["release"] = "another build: " + ", ".join(picks)
    kept = ",".join(part for part in step.parts if part in demand.keep)
    given_up = f" (this gives up --keep {kept})" if kept else ""
    return " and ".join(words[part] for part in step.parts) + given_up


def _driver(demand: Demand, found: Choice) -> str:
    """The driver that the nearest set needs."""
    branch = newest_branch(demand)
    firsts = [archs.first_driver_branch(c.capability, demand.system) for c in demand.gpus]
    needs = [pick.driver for pick in found.picks if pick.role == "framework" and pick.driver]
    oldest = max([*needs, *(str(first) for first in firsts if first)], key=parsed, default="")
    if branch and numbers(oldest)[:1] >= (int(branch),):
        return f"{branch} (the newest branch that drives the GPU)"
    return f"{oldest} or newer" + (f", up to {branch}" if branch else "")


def _alone(demand: Demand, only: Sequence[Card]) -> str:
    others = ", ".join(str(card) for card in demand.gpus if card not in only)
    return f"{only[0]} alone (CUDA_VISIBLE_DEVICES); an environment of its own for {others}"
