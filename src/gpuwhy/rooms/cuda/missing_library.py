"""cuda.missing_library: the loader finds no copy of a CUDA library that the framework opens."""

from __future__ import annotations

import re

from msgspec import structs

from gpuwhy.knowledge.installs import wheel_of
from gpuwhy.model.cause import Case, Cause, Finding, Fix, mild, strong
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import NeededLibrary
from gpuwhy.model.version import at_least, numbers
from gpuwhy.rooms.shared import needs
from gpuwhy.rooms.shared.commands import change, together
from gpuwhy.rooms.shared.lost import installing, pointing


def nowhere(case: Case) -> Finding | None:
    """No copy of that name anywhere; some may be there in another version, as long as most are not."""
    found = needs.unfound(case, needs.is_cuda)
    if not found or needs.outdated(case, needs.is_cuda):
        return None
    said = needs.say_nowhere(case, found)
    return structs.replace(said, evidence=(*said.evidence, *needs.saw_variables(case)))


def displaced(case: Case) -> Finding | None:
    """A copy in the framework's own environment, in a folder that the framework does not search."""
    found = needs.lost(case, needs.is_cuda, "displaced")
    return needs.say_displaced(case, found) if found else None


def parts_lost(case: Case) -> Finding | None:
    """CuPy opens its mathematical libraries one by one: what needs one that is not found fails, the rest works."""
    if needs.the(case).name != "cupy" or needs.required_lost(case, needs.is_cuda) or needs.irrelevant(case):
        return None
    if lost := _late(case, "nowhere"):
        text = f"{needs.named(case)} opens {needs.listed(lost)} when first used, and no copy is {needs.place(case)}"
        return mild(strong(text, *(needs.saw_search(one) for one in lost[:2])))
    aside = _late(case, "displaced")
    if not aside:
        return None
    text = f"{needs.named(case)} opens {needs.listed(aside)} when first used, and does not look where it is installed"
    return mild(strong(text, *(needs.saw_search(one) for one in aside[:2])))


def _late(case: Case, story: needs.Story) -> list[NeededLibrary]:
    """The mathematical libraries that CuPy opens when it first uses them, by what became of them."""
    mine = [one for one in case.facts.loads.needs.need() or () if one.framework == "cupy" and one.optional]
    return [one for one in mine if _MATHS.match(one.name) and needs.story(case, one) == story]


_MATHS = re.compile(r"(?i)(lib)?cu(fft|rand|solver|sparse)(64)?[._]")


def all_found(case: Case) -> Finding | None:
    """What rules it out."""
    if parts_lost(case):
        return None
    nowhere_too = () if needs.outdated(case, needs.is_cuda) else ("nowhere",)
    return needs.nothing_lost(case, needs.is_cuda, "displaced", *nowhere_too)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Point the loader at what is there; install what is not."""
    found = together(pointing(case, needs.is_cuda), installing(case, needs.is_cuda))
    return found or _parts(case)


def _parts(case: Case) -> tuple[Fix, ...]:
    """NVIDIA's wheels for the parts; CuPy 14 and newer finds them by itself."""
    lost, aside = _late(case, "nowhere"), _late(case, "displaced")
    if aside and not lost:
        return (needs.export(case, needs.folders_of(case, aside)),)
    cuda = numbers(value_or(needs.the(case).built_for_cuda, ""))
    wheels = dict.fromkeys(filter(None, (wheel_of(one.name, cuda[0] if cuda else None) for one in lost)))
    whole = Fix("Install all libraries of the CUDA toolkit; an image: start from nvidia/cuda with runtime in its tag")
    if not wheels:
        return (whole,)
    if not at_least(needs.the(case).version, "14"):
        return (whole, *_newer(case))
    text = "Install the wheels that hold them"
    return change(case.facts, text, *wheels, because_of=needs.the(case).distribution), whole


def _newer(case: Case) -> tuple[Fix, ...]:
    name = needs.the(case).distribution
    if not re.fullmatch(r"cupy-cuda1[2-9]x", name):
        return ()
    return (change(case.facts, "Or install CuPy 14, which finds NVIDIA's wheels, with them", f"{name}[ctk]>=14"),)


CAUSE = Cause(
    id="cuda.missing_library",
    title="a CUDA library that the framework needs is not found",
    signs=(nowhere, displaced, parts_lost, all_found),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
