"""Conflict: the smallest part of the demands that cannot be met, in words, and the nearest set that works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.floors import BESIDE_THE_INDEX, OF_NVIDIA
from gpuwhy.knowledge.migrations import crossed
from gpuwhy.model.plan import Conflict, Line, Machine, Passed, Proposal, Wish
from gpuwhy.model.version import numbers
from gpuwhy.plan_v0.candidates import named_gpu, parsed, specifier
from gpuwhy.plan_v0.catalogue import has_wheels, platform_named
from gpuwhy.plan_v0.names import is_planned, planned_as, root
from gpuwhy.plan_v0.nearest import Attempt, nearest
from gpuwhy.plan_v0.nearest import series_of as series_of
from gpuwhy.plan_v0.resolve import Impossible

_ASIDE = ("preview", "yanked", "gone", "broken", "unknown")
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
    "unknown",
    "version",
)


def conflict(wishes: Sequence[Wish], machine: Machine, found: Impossible, attempt: Attempt) -> Conflict:
    """Say why nothing works, and what comes nearest."""
    core = [] if old_driver(machine) else smallest(wishes, machine, attempt)
    inner = attempt(core, machine) if core else found
    blame = inner if isinstance(inner, Impossible) else found
    text = (
        _cards(core, machine, attempt)
        + _text(core, machine, blame)
        + _series(core, machine, blame, attempt)
        + _apart(core, machine, attempt)
    )
    given_up, found_near = nearest(core, wishes, machine, attempt, "driver" if old_driver(machine) else "")
    moves = _moves(core, found_near) if found_near is not None else ()
    lines = (*machine.lines, *(Line("know", _group(p)) for p in _ordered(blame.passed)[:6]), *_beside(core, machine))
    return Conflict(text, lines, blame.passed, given_up, found_near, moves)


def _moves(core: Sequence[Wish], near: Proposal) -> tuple[str, ...]:
    return tuple(dict.fromkeys(move for wish in core for move in _migration(wish, near)))


def _beside(core: Sequence[Wish], machine: Machine) -> list[Line]:
    """Builds that are published elsewhere than on the index."""
    if machine.system == "windows":
        return []
    known = [Line("know", *BESIDE_THE_INDEX[wish.name]) for wish in core if wish.name in BESIDE_THE_INDEX]
    new = any(gpu.capability and numbers(gpu.capability) >= (8, 0) for gpu in machine.gpus)
    return [*known, Line("know", *OF_NVIDIA)] if new and any(map(_is_first_series, core)) else known


def _is_first_series(wish: Wish) -> bool:
    """Whether a wish leaves TensorFlow 1 alone."""
    named = wish.name in ("tensorflow", "tensorflow-gpu") and bool(wish.specifier)
    return named and not any(specifier(wish.specifier).contains(one) for one in ("2.0.0", "2.10.0", "2.20.0"))


def smallest(wishes: Sequence[Wish], machine: Machine, attempt: Attempt) -> list[Wish]:
    """The wishes that cannot be met together: one after the other is left out as long as it still fails."""
    kept = [w for w in wishes if is_planned(w.name) or w.constraint]
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
    names = list(dict.fromkeys(planned_as(wish.name) for wish in core if not wish.constraint))
    nowhere = next((name for name in names if not has_wheels(name, machine)), "")
    if nowhere:
        return f"{nowhere} has no wheel for {platform_named(machine)}"
    blocked = next((name for name in names if _all_passed(name, core, blame)), None)
    if blocked is not None:
        return _sentence(_ordered([one for one in blame.passed if one.package == blocked]), machine)
    if len(names) > 1:
        return f"{' and '.join(names)} cannot be in one environment here: {_clash(blame)}"
    return f"{next(iter(names), 'this')} cannot be installed here: {_clash(blame)}"


def _cards(core: Sequence[Wish], machine: Machine, attempt: Attempt) -> str:
    """That every GPU could be served, but not all together, where that is so."""
    if len({card.capability for card in machine.gpus}) < 2 or old_driver(machine):
        return ""
    alone = [attempt(core, msgspec.structs.replace(machine, gpus=(card,))) for card in machine.gpus]
    if not all(isinstance(found, Proposal) for found in alone):
        return ""
    cards = " and ".join(named_gpu(card) for card in machine.gpus)
    names = " and ".join(dict.fromkeys(wish.name for wish in core if not wish.constraint))
    return f"no release of {names} serves {cards} together, each alone is served: "


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
    groups = [p for p in groups if p.kind not in _ASIDE] or groups
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
    return "; ".join(dict.fromkeys(said)) or "no combination of their releases was found that meets all demands"


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


def _migration(wish: Wish, found: Proposal) -> Iterator[str]:
    name = root(wish.name)
    choice = next((c for c in found.choices if planned_as(c.package) == name), None)
    if choice is None or not wish.specifier:
        return
    before = max((clause.version.removesuffix(".*") for clause in specifier(wish.specifier)), key=parsed)
    yield from (row.text for row in crossed(name, before, choice.version))
