"""Nearest: the smallest change after which something works, counted in what its user has to touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from gpuwhy.knowledge import archs
from gpuwhy.model.plan import Gpu, Machine, Proposal, Wish
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.plan_v0.candidates import fitting_driver, named_gpu, oldest_glibc, parsed, rows_of, specifier
from gpuwhy.plan_v0.names import SUBSTITUTES, planned_as, root
from gpuwhy.plan_v0.resolve import Impossible

COSTS = {"name": 1, "version": 1, "python": 2, "gpu": 3, "system": 4, "libc": 4, "driver": 5}
"""What it takes to change a part: a line of a file, a new environment, a container or system, root and a reboot."""

KEPT = 100


class Attempt(Protocol):
    """Tries to meet wishes on a machine; `near` are releases to stay close to."""

    def __call__(
        self, wishes: Sequence[Wish], machine: Machine, near: Mapping[str, str] | None = None
    ) -> Proposal | Impossible:
        """A proposal, or what stood against it."""


class Step(msgspec.Struct, frozen=True):
    """Something that could be given up."""

    parts: tuple[str, ...]
    wishes: tuple[Wish, ...]
    machine: Machine
    freed: tuple[Wish, ...] = ()  # wishes whose pin is given up

    @property
    def least(self) -> int:
        """What it costs at least."""
        frameworks = sum(1 for wish in self.freed if root(wish.name))
        return sum(COSTS[part] for part in self.parts) + max(len(self.freed) - 1, 0) + frameworks


def nearest(
    core: Sequence[Wish], wishes: Sequence[Wish], machine: Machine, attempt: Attempt, only: str = ""
) -> tuple[str, Proposal | None]:
    """The cheapest change that helps, in words, and what can then be installed; `only` is a part that must change."""
    best: tuple[int, str, Proposal | None] = (1000, "", None)
    steps = [step for step in _steps(core, wishes, machine) if not only or only in step.parts]
    for step in sorted(steps, key=lambda step: step.least + _keeping(step, machine)):
        if step.least + _keeping(step, machine) >= best[0]:
            break
        found = attempt(step.wishes, step.machine, {planned_as(w.name): _pin(w) for w in step.freed})
        if isinstance(found, Proposal):
            cost = step.least + _keeping(step, machine) + sum(_distance(wish, found) for wish in step.freed)
            best = min(best, (cost, _told(step, machine, found), found), key=lambda each: each[0])
    return best[1], best[2]


def _keeping(step: Step, machine: Machine) -> int:
    """What the user asked to keep is given up last."""
    return KEPT if any(part in machine.keep for part in step.parts) else 0


def _steps(core: Sequence[Wish], wishes: Sequence[Wish], machine: Machine) -> Iterator[Step]:
    """Every change that makes sense: of pins, of the machine, and of both."""
    machines = list(_machines(machine))
    for parts, changed in machines:
        yield Step(parts, tuple(wishes), changed)
    named = tuple(_substituted(wish, machine) for wish in wishes)
    if named != tuple(wishes):
        yield Step(("name",), named, machine)
        yield from (Step(("name", *parts), named, changed) for parts, changed in machines)
    labelled = tuple(wish for wish in wishes if wish.build and wish.specifier)
    if labelled:  # the same release in the build that there is
        yield Step(("version",), tuple(map(_unlabelled, wishes)), machine, labelled)
    for freed in _freed(core, wishes):
        loose = tuple(_loosened(wish, freed) for wish in wishes)
        for parts, changed in [((), machine), *machines]:
            yield Step(("version", *parts), loose, changed, freed)


def _substituted(wish: Wish, machine: Machine) -> Wish:
    other = SUBSTITUTES.get((wish.name, machine.system))
    return Wish(other, where=wish.where, text=other) if other else wish


def _freed(core: Sequence[Wish], wishes: Sequence[Wish]) -> Iterator[tuple[Wish, ...]]:
    """One pin alone, then all of them, then the frameworks' pins too, which may fail as these do."""
    pinned = [wish for wish in core if wish.specifier]
    yield from ((wish,) for wish in pinned)
    if len(pinned) > 1:
        yield tuple(pinned)
    others = [wish for wish in wishes if wish.specifier and root(wish.name) and not any(wish is one for one in pinned)]
    if pinned and others:
        yield (*pinned, *others)


def _loosened(wish: Wish, freed: Sequence[Wish]) -> Wish:
    return msgspec.structs.replace(wish, specifier="") if any(wish is one for one in freed) else wish


def _unlabelled(wish: Wish) -> Wish:
    public = wish.specifier.partition("+")[0] if wish.specifier.startswith("==") else wish.specifier
    return msgspec.structs.replace(wish, specifier=public, build="") if wish.build else wish


def _machines(machine: Machine) -> Iterator[tuple[tuple[str, ...], Machine]]:
    """Other machines that the user could have, with what differs."""
    free = msgspec.structs.replace(machine, fixed_python=False)
    others = {
        "python": (machine.fixed_python, free),
        "system": (machine.system == "windows", msgspec.structs.replace(machine, system="wsl")),
        "libc": (bool(machine.libc), msgspec.structs.replace(machine, libc="")),
        "driver": (bool(machine.driver), msgspec.structs.replace(machine, driver=newest_driver(machine))),
    }
    for part, (sensible, changed) in others.items():
        if not sensible:
            continue
        yield (part,), changed
        if part != "python" and machine.fixed_python:
            yield (part, "python"), msgspec.structs.replace(changed, fixed_python=False)
    if len({card.capability for card in machine.gpus}) > 1:
        for card in machine.gpus:
            yield ("gpu",), msgspec.structs.replace(machine, gpus=(card,))


def _pin(wish: Wish) -> str:
    return max((clause.version.removesuffix(".*") for clause in specifier(wish.specifier)), key=parsed)


def _distance(wish: Wish, found: Proposal) -> int:
    """How much of a program a change of release touches: nothing within a minor release, more with each."""
    name = planned_as(wish.name)
    choice = next((c for c in found.choices if planned_as(c.package) == name), None)
    if choice is None:
        return 0
    mine, theirs = (*numbers(choice.version), 0), (*numbers(_pin(wish)), 0)
    if mine[0] != theirs[0]:
        return 4
    return min(abs(mine[1] - theirs[1]), 4)


def series_of(wish: Wish) -> Wish:
    """A pinned release as any of its minor series: ==2.15.0 → ==2.15.*."""
    pin = wish.specifier.removeprefix("==")
    if not wish.specifier.startswith("==") or "," in pin or pin.endswith(".*") or len(numbers(pin)) < 3:
        return wish
    return msgspec.structs.replace(wish, specifier=f"=={major_minor(pin)}.*")


def _told(step: Step, machine: Machine, found: Proposal) -> str:
    """What is given up, in words."""
    moved = {planned_as(wish.name) for wish in step.freed}
    names = [f"{c.package} {c.version}" for c in found.choices if planned_as(c.package) in moved]
    said = {
        "python": f"Python {found.python} instead of {machine.python}",
        "name": ", ".join(_exchanged(machine, found)),
        "version": f"another {'build' if _same(step, found) else 'release'}: " + ", ".join(names),
        "driver": f"driver {_driver(machine, found)} instead of {machine.driver}",
        "system": "WSL 2 instead of native Windows",
        "libc": f"a distribution or container with {_glibc(found, machine)} or newer instead of {machine.libc}",
        "gpu": _alone(machine, step.machine.gpus[0]) if step.machine.gpus else "",
    }
    kept = [part for part in step.parts if part in machine.keep]
    tail = f" (this gives up --keep {','.join(kept)})" if kept else ""
    return " and ".join(said[part] for part in step.parts) + tail


def _same(step: Step, found: Proposal) -> bool:
    """Whether the releases are those that were asked for, in other builds."""
    pins = {planned_as(wish.name): _pin(wish).partition("+")[0] for wish in step.freed if wish.build}
    return bool(pins) and all(pins.get(planned_as(c.package), c.version) == c.version for c in found.choices)


def _exchanged(machine: Machine, found: Proposal) -> list[str]:
    packages = {choice.package for choice in found.choices}
    here = {old: new for (old, system), new in SUBSTITUTES.items() if system == machine.system}
    return [f"{new} instead of {old}" for old, new in here.items() if new in packages]


def _alone(machine: Machine, card: Gpu) -> str:
    others = ", ".join(named_gpu(one) for one in machine.gpus if one != card)
    return f"{named_gpu(card)} alone (CUDA_VISIBLE_DEVICES); an environment of its own for {others}"


def _driver(machine: Machine, found: Proposal) -> str:
    """The driver that the nearest set needs."""
    branch = newest_driver(machine)
    floors = [fitting_driver(c.cuda, machine.system) for c in found.choices if c.cuda and c.role == "framework"]
    firsts = [
        str(first) for card in machine.gpus if (first := archs.first_driver_branch(card.capability, machine.system))
    ]
    oldest = max(filter(None, [*floors, *firsts]), key=parsed, default="")
    return f"{branch} (the newest branch that drives the GPU)" if branch else f"{oldest} or newer"


def newest_driver(machine: Machine) -> str:
    """The newest branch that drives every GPU; '' where today's does."""
    lasts = [last for card in machine.gpus if (last := archs.last_driver_branch(card.capability))]
    return min((last[1:] for last in lasts), key=int) if lasts else ""


def _glibc(found: Proposal, machine: Machine) -> str:
    """The glibc that a set needs."""
    names = [("jaxlib" if c.package == "jax" else c.package, c.version) for c in (*found.choices, *found.libraries)]
    rows = [row for name, version in names for row in rows_of(name, machine.platform) if row.version == version]
    return f"glibc {max((oldest_glibc(row.systems) for row in rows), key=numbers, default='')}".rstrip()
