"""Conflict: the smallest part of the demands that cannot be met, in words, and the nearest set that works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.migrations import crossed
from gpuwhy.knowledge.releases import projects
from gpuwhy.model.plan import Conflict, Line, Machine, Passed, Proposal, Wish
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.plan.candidates import fitting_driver, named_gpu, oldest_glibc, parsed, rows_of, specifier
from gpuwhy.plan.names import root
from gpuwhy.plan.resolve import Impossible

Attempt = Callable[[Sequence[Wish], Machine], "Proposal | Impossible"]
_ASIDE = ("preview", "yanked", "gone", "broken")
_RANK = (
    "gpu",
    "driver",
    "libc",
    "python",
    "platform",
    "cpu",
    "pin",
    "library",
    "broken",
    "yanked",
    "gone",
    "preview",
    "version",
)


def conflict(wishes: Sequence[Wish], machine: Machine, found: Impossible, attempt: Attempt) -> Conflict:
    """Say why nothing works, and what comes nearest."""
    core = [] if old_driver(machine) else smallest(wishes, machine, attempt)
    inner = attempt(core, machine) if core else found
    blame = inner if isinstance(inner, Impossible) else found
    text = _text(core, machine, blame) + _series(core, machine, blame, attempt) + _apart(core, machine, attempt)
    given_up, nearest = _nearest(core, wishes, machine, attempt)
    moves: tuple[str, ...] = ()
    if nearest is not None:
        moves = tuple(dict.fromkeys(m for wish in core for m in _migration(wish, nearest)))
    lines = (*machine.lines, *(Line("know", _group(p)) for p in _ordered(blame.passed)[:6]))
    return Conflict(text, lines, blame.passed, given_up, nearest, moves)


def smallest(wishes: Sequence[Wish], machine: Machine, attempt: Attempt) -> list[Wish]:
    """The wishes that cannot be met together: one after the other is left out as long as it still fails."""
    kept = [w for w in wishes if root(w.name) or w.name in projects() or w.constraint]
    for wish in list(kept):
        rest = [w for w in kept if w is not wish]
        if any(not w.constraint for w in rest) and isinstance(attempt(rest, machine), Impossible):
            kept = rest
    return kept


def _ordered(passed: Sequence[Passed]) -> list[Passed]:
    return sorted(passed, key=lambda p: (_RANK.index(p.kind) if p.kind in _RANK else 99, -len(p.versions)))


def _text(core: Sequence[Wish], machine: Machine, blame: Impossible) -> str:
    told = old_driver(machine)
    if told:
        return told
    names = list(dict.fromkeys(root(w.name) or w.name for w in core if not w.constraint))
    blocked = [name for name in names if _all_passed(name, core, blame)]
    if blocked:
        mine = [p for p in blame.passed if p.package == blocked[0]]
        return _sentence(_ordered(mine), machine)
    if len(names) > 1:
        return f"{' and '.join(names)} cannot be in one environment here: {_clash(blame)}"
    return f"{names[0] if names else 'this'} cannot be installed here: {_clash(blame)}"


def _all_passed(name: str, core: Sequence[Wish], blame: Impossible) -> bool:
    return (
        any(by == "asked" and package == name for by, package, _ in blame.causes)
        and len({package for _, package, _ in blame.causes}) == 1
        and any(p.package == name for p in blame.passed)
    )


def _sentence(groups: list[Passed], machine: Machine) -> str:
    """The reason that stops most releases; where one stops the newest alone, both are said."""
    if not groups:
        return "no release that is known for this platform meets what is asked"
    first = max(groups, key=lambda p: len(p.versions))
    if first.kind == "platform":
        return first.why
    have = {"driver": f"; the driver is {machine.driver}", "libc": f"; the machine has {machine.libc}"}
    text = f"{first.package} {first.versions[0]} {first.why}{have.get(first.kind, '')}"
    others = [p for p in groups if p is not first and p.kind != first.kind and p.kind not in _ASIDE]
    if others:
        text += f"; {_group(others[0])}"
    return text


def _series(core: Sequence[Wish], machine: Machine, blame: Impossible, attempt: Attempt) -> str:
    """That the whole series of a pinned release has no code for the GPU, where that is so."""
    pinned = [w for w in core if w.specifier.startswith("==") and not w.constraint]
    if len(pinned) != 1 or not any(p.kind == "gpu" for p in blame.passed):
        return ""
    major = numbers(pinned[0].specifier.removeprefix("=="))[0]
    whole = [msgspec.structs.replace(w, specifier=f"=={major}.*") if w is pinned[0] else w for w in core]
    free = msgspec.structs.replace(machine, python="", fixed_python=False, driver="")
    return f": no {major}.x release runs there" if isinstance(attempt(whole, free), Impossible) else ""


def _group(passed: Passed) -> str:
    """What is said of some releases; a platform's sentence stands for itself."""
    return f"{passed.package} {_span(passed)}{':' if passed.kind == 'platform' else ''} {passed.why}"


def _apart(core: Sequence[Wish], machine: Machine, attempt: Attempt) -> str:
    """That each of several wishes works in an environment of its own, where that is so."""
    asked = [w for w in core if not w.constraint]
    alone = len(asked) > 1 and all(isinstance(attempt([w], machine), Proposal) for w in asked)
    return "; each works in an environment of its own" if alone else ""


def _span(passed: Passed) -> str:
    versions = passed.versions
    return versions[0] if len(versions) == 1 else f"{versions[-1]} … {versions[0]}"


def _clash(blame: Impossible) -> str:
    said = [
        f"{'you ask for' if by == 'asked' else f'{by} needs'} {_package(package)} {_values(spec)}"
        for by, package, spec in blame.causes
        if spec and spec.count(",") < 9
    ]
    return "; ".join(dict.fromkeys(said)) or "no combination of their releases meets all demands"


def _values(spec: str) -> str:
    """Pythons in order, without the free-threaded ones; a specifier as it is."""
    words = spec.split(", ")
    plain = [word for word in words if not word.endswith("t")]
    return " or ".join(sorted(plain, key=parsed)) if len(words) > 1 else spec


def _package(name: str) -> str:
    return {"cuda": "CUDA", "python": "Python"}.get(name, name)


def old_driver(machine: Machine) -> str:
    """A driver that does not drive the GPU at all."""
    for card in machine.gpus:
        last = archs.last_driver_branch(card.capability)
        if last and machine.driver and numbers(machine.driver)[0] > int(last[1:]):
            arch = archs.of(card.capability)
            return (
                f"driver {machine.driver} does not drive {named_gpu(card)}: {last} is the last branch for "
                f"{arch.name if arch else 'it'}"
            )
        first = archs.first_driver_branch(card.capability, machine.system)
        if first and machine.driver and numbers(machine.driver)[0] < first - archs.LAUNCH:
            return f"driver {machine.driver} is older than {named_gpu(card)}, which R{first} or newer drives"
    return ""


def _nearest(
    core: Sequence[Wish], wishes: Sequence[Wish], machine: Machine, attempt: Attempt
) -> tuple[str, Proposal | None]:
    for said, changed_wishes, changed in _relaxed(core, wishes, machine):
        found = attempt(changed_wishes, changed)
        if isinstance(found, Proposal):
            return said(found), found
    return "", None


def _relaxed(
    core: Sequence[Wish], wishes: Sequence[Wish], machine: Machine
) -> Iterator[tuple[Callable[[Proposal], str], Sequence[Wish], Machine]]:
    """What could be given up, the cheapest first; what is to be kept comes last."""
    free = [msgspec.structs.replace(w, specifier="") if any(w is c for c in core) else w for w in wishes]
    pinned = any(w.specifier for w in core)
    near = [series_of(w) if any(w is c for c in core) else w for w in wishes]
    other = msgspec.structs.replace(machine, python="", fixed_python=False)
    newest = msgspec.structs.replace(machine, driver=_newest_driver(machine))
    both = msgspec.structs.replace(newest, python="", fixed_python=False)
    linux = msgspec.structs.replace(machine, system="wsl")
    newer = msgspec.structs.replace(machine, libc="")
    fixed = machine.fixed_python
    steps: list[tuple[tuple[str, ...], bool, Sequence[Wish], Machine]] = [
        (("version",), near != list(wishes), near, machine),
        (("python",), fixed, wishes, other),
        (("version",), pinned, free, machine),
        (("version", "python"), pinned and fixed, free, other),
        (("system",), machine.system == "windows", wishes, linux),
        (("libc",), bool(machine.libc), wishes, newer),
        (("driver",), bool(machine.driver), wishes, newest),
        (("driver", "python"), bool(machine.driver) and fixed, wishes, both),
        (
            ("system", "version", "python"),
            machine.system == "windows",
            free,
            msgspec.structs.replace(other, system="wsl"),
        ),
        (("driver", "version"), bool(machine.driver) and pinned, free, newest),
        (("driver", "version", "python"), bool(machine.driver), free, both),
    ]
    if old_driver(machine):
        steps = [step for step in steps if "driver" in step[0]]
    steps.sort(key=lambda step: any(part in machine.keep for part in step[0]))
    for parts, sensible, changed_wishes, changed in steps:
        if sensible:
            yield _teller(parts, machine), changed_wishes, changed


def series_of(wish: Wish) -> Wish:
    """A pinned release as any of its minor series: ==2.15.0 → ==2.15.*."""
    pin = wish.specifier.removeprefix("==")
    if not wish.specifier.startswith("==") or "," in pin or pin.endswith(".*") or len(numbers(pin)) < 3:
        return wish
    return msgspec.structs.replace(wish, specifier=f"=={major_minor(pin)}.*")


def _teller(parts: tuple[str, ...], machine: Machine) -> Callable[[Proposal], str]:
    def tell(found: Proposal) -> str:
        said = {
            "python": f"Python {found.python} instead of {machine.python}",
            "version": "another release: " + ", ".join(f"{c.package} {c.version}" for c in found.choices if c.asked),
            "driver": f"driver {_driver(machine, found)} instead of {machine.driver}",
            "system": "WSL 2 instead of native Windows",
            "libc": f"a distribution or container with {_glibc(found, machine)} or newer instead of {machine.libc}",
        }
        kept = [part for part in parts if part in machine.keep]
        tail = f" (this gives up --keep {','.join(kept)})" if kept else ""
        return " and ".join(said[part] for part in parts) + tail

    return tell


def _driver(machine: Machine, found: Proposal) -> str:
    """The driver that the nearest set needs."""
    branch = _newest_driver(machine)
    floors = [fitting_driver(c.cuda, machine.system) for c in found.choices if c.cuda and c.role == "framework"]
    branches = [archs.first_driver_branch(card.capability, machine.system) for card in machine.gpus]
    firsts = [str(first) for first in branches if first]
    oldest = max(filter(None, [*floors, *firsts]), key=parsed, default="")
    return f"{branch} (the newest branch that drives the GPU)" if branch else f"{oldest} or newer"


def _glibc(found: Proposal, machine: Machine) -> str:
    """The glibc that a set needs."""
    names = [("jaxlib" if c.package == "jax" else c.package, c.version) for c in (*found.choices, *found.libraries)]
    rows = [row for name, version in names for row in rows_of(name, machine.platform) if row.version == version]
    return f"glibc {max((oldest_glibc(row.systems) for row in rows), key=numbers, default='')}".rstrip()


def _newest_driver(machine: Machine) -> str:
    """The newest branch that drives every GPU; '' where today's does."""
    lasts = [last for card in machine.gpus if (last := archs.last_driver_branch(card.capability))]
    return min((last[1:] for last in lasts), key=int) if lasts else ""


def _migration(wish: Wish, nearest: Proposal) -> Iterator[str]:
    name = root(wish.name)
    choice = next((c for c in nearest.choices if (root(c.package) or c.package) == name), None)
    if choice is None or not wish.specifier:
        return
    before = max((clause.version.removesuffix(".*") for clause in specifier(wish.specifier)), key=parsed)
    yield from (row.text for row in crossed(name, before, choice.version))
