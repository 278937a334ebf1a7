"""Mending: what a fix has to install, in exact releases that work on this machine beside all that is there."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from gpuwhy.knowledge.caps import caps
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import projects
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.plan import Choice, Machine, Proposal, Wish
from gpuwhy.model.repair import name_of
from gpuwhy.model.version import major_minor
from gpuwhy.plan_v0.answer import plan
from gpuwhy.plan_v0.candidates import specifier
from gpuwhy.plan_v0.conflict import series_of
from gpuwhy.plan_v0.machine import BadMachineError, seen
from gpuwhy.plan_v0.names import COMPANIONS, root
from gpuwhy.plan_v0.resolve import split
from gpuwhy.plan_v0.whole import PLACED, Clash, Settled, settle
from gpuwhy.plan_v0.wishes import WishError, from_words

__all__ = ["Clash", "Mend", "is_placed", "mended"]

_NUMBERED_AS_TENSORFLOW = ("tf-keras", "tensorflow-text")


class Mend(msgspec.Struct, frozen=True):
    """What is installed and removed for a fix; nothing where the plan knows no better than the cause."""

    wanted: tuple[str, ...] = ()  # exact requirements
    text: str = ""
    because_of: str = ""  # the package whose own way of installing is taken
    removing: tuple[str, ...] = ()
    why: str = ""
    note: str = ""
    backend: str = ""  # cu126: the builds of PyTorch's own index


def mended(fix: Fix, facts: Facts) -> Mend | Clash:
    """The releases for a fix: another one that works where it wishes for that, else what it names, for all of it."""
    return _other_release(fix, facts) if fix.wishes else _whole(fix, facts)


def is_placed(name: str) -> bool:
    """Whether the plan places a package: the installer alone may then not move it."""
    return bool(name.startswith("nvidia-") or name in PLACED or (root(name) and name != "jaxlib"))


def _machine(facts: Facts) -> Machine:
    """This machine; where only the CUDA is known that the driver speaks (WSL), with the oldest driver that does."""
    machine, speaks = seen(facts, keep=("python",)), facts.driver.driver_cuda
    oldest = floor(speaks.value) if not machine.driver and isinstance(speaks, Known) else None
    return replace(machine, driver=oldest.driver) if oldest else machine


def _working(facts: Facts) -> set[str]:
    """The frameworks whose libraries are all found, and whose symbols are all there."""
    needs, trees = value_or(facts.loads.needs, ()), value_or(facts.loads.trees, ())
    bad = {need.framework for need in needs if not need.optional and isinstance(need.found, Absent)}
    bad |= {tree.framework for tree in trees if tree.unmet}
    names = {one.name for one in value_or(facts.target.frameworks, ())} - bad
    return {"onnxruntime-gpu" if name == "onnxruntime" else name for name in names}


# ---------------------------------------------------------------- the whole environment


def _whole(fix: Fix, facts: Facts) -> Mend | Clash:
    """Exact pins for all GPU packages that have to move, so that nothing else is left behind."""
    try:
        found = _set_for(fix, facts)
    except (BadMachineError, WishError):
        return Mend()
    return _moved(fix, facts, found) if isinstance(found, Settled) else found or Mend()


def _set_for(fix: Fix, facts: Facts) -> Settled | Clash | None:
    machine = _machine(facts)
    stays = {name: version for name, version in machine.installed.items() if name not in fix.uninstall}
    left, works = replace(machine, installed=stays), _working(facts)
    wishes = [wish for wish in from_words(list(fix.install)) if _is_known(wish)]
    if not wishes:
        return None
    # where that very release is not to be had: another of its series
    return settle(left, wishes, works) or settle(left, [series_of(wish) for wish in wishes], works)


def _is_known(wish: Wish) -> bool:
    of_one_cuda = wish.name.startswith("cupy-cuda")  # which CUDA it is for was decided by what fits: no plan swaps it
    return not wish.url and not of_one_cuda and bool(root(wish.name) or wish.name in projects())


def _moved(fix: Fix, facts: Facts, found: Settled) -> Mend:
    """The moves of a set, what the fix asks for besides, and what its limits and unstated needs add."""
    if not found.moves:
        return Mend()
    here = facts.target.releases
    others = [text for text in fix.install if not any(map(_is_known, from_words([text])))]
    limits = [cap.requirement for cap in found.caps if _breaks(cap.requirement, here)]
    unstated = [text for text in _unstated(found.moves) if name_of(text) not in here]
    wanted = (*found.moves, *others, *limits, *unstated)
    return Mend(wanted, fix.text, name_of(fix.install[0]), tuple(fix.uninstall), note=_moves_too(fix, found, here))


def _moves_too(fix: Fix, found: Settled, here: dict[str, str]) -> str:
    named = {name_of(text) for text in fix.install}
    also = [text for text in found.moves if name_of(text) not in named and not text.startswith("nvidia-")]
    told = ", ".join(f"{name_of(text)} {here.get(name_of(text), '–')} → {text.partition('==')[2]}" for text in also)
    return f"moves too, so that all of it fits: {told}" if told else ""


def _unstated(moves: Iterable[str]) -> list[str]:
    """What the releases that come need and do not state: Triton's setuptools."""
    rows = [row for text in moves for row in caps(name_of(text), text.partition("==")[2])]
    return list(dict.fromkeys(row.requirement for row in rows if row.always))


def _breaks(cap: str, here: dict[str, str]) -> bool:
    """Whether an installed release is outside a limit."""
    name, spec = split(cap)
    return name in here and not specifier(spec).contains(here[name], prereleases=True)


# ---------------------------------------------------------------- another release


def _other_release(fix: Fix, facts: Facts) -> Mend:
    """Where another release would do, the one that works on this machine, beside what is installed."""
    if numbered := _numbered_alike(fix, facts):
        return numbered
    try:
        machine, works = _machine(facts), _working(facts)
        beside = [name for name in COMPANIONS if name in machine.installed and "torch" in fix.wishes]
        beside += [name for name in works if name in machine.installed and name not in fix.wishes]
        answer = plan(from_words([*fix.wishes, *beside]), machine, least_change=True)
    except (BadMachineError, WishError) as error:
        return Mend(note=f"no plan: {error}")
    if answer.proposal is None:
        told = answer.conflict.text if answer.conflict else "nothing fits"
        return Mend(note=f"in this environment nothing else works: {told}; gpuwhy plan shows what is nearest")
    return _chosen(fix, facts, answer.proposal)


def _numbered_alike(fix: Fix, facts: Facts) -> Mend | None:
    """A package that is numbered after TensorFlow: the series says which one, its last release is the installer's."""
    found = (one.version for one in value_or(facts.target.frameworks, ()) if one.name == "tensorflow")
    tensorflow, name = next(found, ""), fix.wishes[0]  # by whichever name its build has
    if not tensorflow or len(fix.wishes) != 1 or name not in _NUMBERED_AS_TENSORFLOW:
        return None
    text = f"Install the {name} that is numbered as TensorFlow {tensorflow}"
    return Mend((f"{name}=={major_minor(tensorflow)}.*",), text, name)


def _chosen(fix: Fix, facts: Facts, proposal: Proposal) -> Mend:
    asked, here = [one for one in proposal.choices if one.asked], facts.target.releases
    if all(here.get(one.package, "").split("+")[0] == one.version for one in asked):
        return Mend()  # the plan sees nothing wrong with what is there: the cause knows better
    return Mend(
        (*(one.requirement for one in asked), *(cap.requirement for cap in proposal.caps)),
        f"Install {' and '.join(f'{one.package} {one.version}' for one in asked)}, which works here",
        fix.wishes[0],
        _giving_way(fix, {one.package for one in asked}),
        _reasons(asked[0]),
        "; ".join(f"needs {part.name} {part.version}: {part.why}" for part in proposal.system),
        next((one.backend for one in asked if one.backend), ""),
    )


def _giving_way(fix: Fix, asked: set[str]) -> tuple[str, ...]:
    """What is uninstalled: what the fix says, and the wishes that come under another name."""
    return tuple(dict.fromkeys((*fix.uninstall, *(name for name in fix.wishes if name not in asked))))


def _reasons(one: Choice) -> str:
    built = f"It is built for CUDA {one.cuda}" if one.cuda else ""
    return "; ".join(filter(None, (built, one.runs)))
