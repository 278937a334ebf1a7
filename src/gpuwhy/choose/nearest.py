"""Nearest: the smallest change after which something fits, counted in what it takes to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from gpuwhy.choose.choice import Change, Choice, Part
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.names import SUBSTITUTES, framework, is_planned, planned_as
from gpuwhy.choose.verdicts import parsed, specifier
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import archs

COSTS: dict[Part, int] = {"name": 1, "release": 1, "python": 2, "gpu": 3, "system": 4, "glibc": 4}
_DRIVER, _KEPT = 5, 100
"""A line of a file, a new environment, a container or another system; root and a reboot."""

Try = Callable[[Demand, Mapping[str, str]], "Choice | None"]
"""Chooses for a demand, close to the releases that are named."""


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
        parts = sum(COSTS.get(part, _DRIVER) for part in self.parts)
        return parts + max(len(self.freed) - 1, 0) + frameworks + kept


def nearest(demand: Demand, held: Sequence[Wanted], attempt: Try, must: str = "") -> Change | None:
    """The cheapest change that helps; `must` is a part that has to change."""
    best: tuple[int, Change | None] = (1000, None)
    steps = [step for step in _steps(demand, held) if not must or must in step.parts]
    for step in sorted(steps, key=lambda step: step.cost):
        if step.cost >= best[0]:
            break
        found = attempt(step.demand, {planned_as(w.name): pinned(w) for w in step.freed})
        if found:
            cost = step.cost + sum(_distance(one, found) for one in step.freed)
            if cost < best[0]:
                best = (cost, Change(step.parts, _text(step, demand, found), found))
    return best[1]


def _steps(demand: Demand, held: Sequence[Wanted]) -> Iterator[Step]:
    """Every change that makes sense: of the machine, of names, of releases, and of both."""
    machines = [((), demand), *_machines(demand)]
    named = [_substituted(one, demand) for one in demand.packages]
    for parts, changed in machines:
        if parts:
            yield Step(parts, changed)
        if named != list(demand.packages):
            yield Step(("name", *parts), _with(changed, named))
        for freed in _freed(held):
            loose = (_loosened(one) if one in freed else one for one in demand.packages)
            yield Step(("release", *parts), _with(changed, loose), freed)
    labelled = tuple(one for one in demand.packages if one.build and one.specifier)
    if labelled:  # the same release in the build that exists
        bare = (msgspec.structs.replace(one, build="") for one in demand.packages)
        yield Step(("release",), _with(demand, bare), labelled)


def _with(demand: Demand, packages: Iterable[Wanted]) -> Demand:
    return msgspec.structs.replace(demand, packages=tuple(packages))


def _substituted(one: Wanted, demand: Demand) -> Wanted:
    other = SUBSTITUTES.get((one.name, demand.system))
    return Wanted(other, where=one.where, text=other) if other else one


def _loosened(one: Wanted) -> Wanted:
    return msgspec.structs.replace(one, specifier="", build="")


def _freed(held: Sequence[Wanted]) -> Iterator[tuple[Wanted, ...]]:
    """One limit alone, then those of companions, then all of them."""
    limited = [one for one in held if one.specifier]
    yield from ((one,) for one in limited)
    pins = [one for one in limited if is_planned(one.name) or one.constraint]
    beside = [one for one in pins if not framework(one.name)]
    yield from (tuple(some) for some in (beside, pins) if len(some) > 1)


def _machines(demand: Demand) -> Iterator[tuple[tuple[Part, ...], Demand]]:
    """Other machines that the person could have."""
    fixed = bool(demand.python) and demand.python_fixed
    change = msgspec.structs.replace
    others: list[tuple[Part, bool, Demand]] = [
        ("python", fixed, change(demand, python_fixed=False)),
        ("system", demand.system == "windows", change(demand, system="wsl")),
        ("glibc", bool(demand.glibc), change(demand, glibc="")),
        ("driver", bool(demand.driver_version), change(demand, driver_version=_branch(demand))),
    ]
    for part, sensible, changed in others:
        if sensible:
            yield (part,), changed
            if part != "python" and fixed:
                yield (part, "python"), change(changed, python_fixed=False)
    if len({card.capability for card in demand.gpus}) > 1:
        for card in demand.gpus:
            yield ("gpu",), change(demand, gpus=(card,))


def _branch(demand: Demand) -> str:
    """The newest driver branch that drives every GPU; "" where today's does."""
    lasts = [archs.last_driver_branch(card.capability) for card in demand.gpus]
    return min((last[1:] for last in lasts if last), key=int, default="")


def pinned(one: Wanted) -> str:
    """The release that a requirement names, or comes nearest to."""
    clauses = specifier(one.specifier)
    return max((clause.version.removesuffix(".*") for clause in clauses), key=parsed)


def _distance(one: Wanted, found: Choice) -> int:
    """How much of a program a change of release touches."""
    root = planned_as(one.name)
    version = next((p.version for p in found.picks if planned_as(p.package) == root), "")
    if not version:
        return 0
    mine, theirs = (*numbers(version), 0), (*numbers(pinned(one)), 0)
    return 4 if mine[0] != theirs[0] else min(abs(mine[1] - theirs[1]), 4)


def _text(step: Step, demand: Demand, found: Choice) -> str:
    """What is given up, in words."""
    moved = {planned_as(one.name) for one in step.freed}
    moves = [f"{p.package} {p.version}" for p in found.picks if planned_as(p.package) in moved]
    moves += [f"{w.name} without {w.specifier}" for w in step.freed if not is_planned(w.name)]
    build = "build" if step.freed and all(one.build for one in step.freed) else "release"
    glibc = max((pick.glibc for pick in (*found.picks, *found.libraries)), key=numbers, default="")
    names = {pick.package for pick in found.picks}
    other = [
        f"{new} instead of {old}"
        for (old, system), new in SUBSTITUTES.items()
        if system == demand.system and new in names
    ]
    words: dict[Part, str] = {
        "python": f"Python {found.python} instead of {demand.python}",
        "name": ", ".join(other),
        "release": f"another {build}: " + ", ".join(moves),
        "driver": f"driver {_driver(demand, found)} instead of {demand.driver_version}",
        "system": "WSL 2 instead of native Windows",
        "glibc": f"a distribution or container with glibc {glibc} or newer",
        "gpu": _alone(demand, step.demand) if step.demand.gpus else "",
    }
    kept = ",".join(part for part in step.parts if part in demand.keep)
    given_up = f" (this gives up --keep {kept})" if kept else ""
    return " and ".join(words[part] for part in step.parts) + given_up


def _driver(demand: Demand, found: Choice) -> str:
    """The driver that the nearest set needs."""
    branch = _branch(demand)
    firsts = [archs.first_driver_branch(c.capability, demand.system) for c in demand.gpus]
    needs = [pick.driver for pick in found.picks if pick.role == "framework" and pick.driver]
    oldest = max([*needs, *(str(first) for first in firsts if first)], key=parsed, default="")
    if branch and numbers(oldest)[:1] >= (int(branch),):
        return f"{branch} (the newest branch that drives the GPU)"
    return f"{oldest} or newer" + (f", up to {branch}" if branch else "")


def _alone(demand: Demand, step: Demand) -> str:
    others = ", ".join(str(card) for card in demand.gpus if card not in step.gpus)
    hide = "alone (CUDA_VISIBLE_DEVICES)"
    return f"{step.gpus[0]} {hide}; an environment of its own for {others}"
