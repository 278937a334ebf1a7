"""Rivals: of all files that two distributions claim, the claims that matter to the GPU, and who won."""

from __future__ import annotations

from gpuwhy.knowledge.flavours import flavour, library_wheel
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Conflict, Facts
from gpuwhy.model.version import major_minor


def names(one: Conflict) -> tuple[str, ...]:
    """The owners without their versions."""
    return tuple(owner.split(" ")[0] for owner in one.owners)


def winner(one: Conflict) -> str:
    """Whose files are on disk, '' when nobody can tell; several, with counts, when they lie mixed."""
    return value_or(one.winner, "")


def is_mixed(one: Conflict) -> bool:
    """Files of several owners lie side by side, as after an installer that works in parallel."""
    return " and " in winner(one)


def module(one: Conflict) -> str:
    """The import name that flavours share."""
    return next((f.module for name in names(one) if (f := flavour(name))), one.module)


def flavours(facts: Facts) -> list[Conflict]:
    """Conflicts between flavours of one framework: tensorflow and tensorflow-cpu."""
    found = facts.target.conflicts.need() or ()
    return [one for one in found if _alike([f.module for name in names(one) if (f := flavour(name))])]


def of_two_series(one: Conflict) -> bool:
    """Whether the owners are of different minor releases: the files of one cannot stand in for the other's."""
    return len({major_minor(owner.split(" ")[1]) for owner in one.owners if " " in owner}) > 1


def in_name_only(facts: Facts) -> frozenset[str]:
    """Flavours that lie over one another in different series: what their metadata asks for decides nothing."""
    mixed = [one for one in flavours(facts) if of_two_series(one)] if isinstance(facts.target.conflicts, Known) else []
    return frozenset(name for one in mixed for name in names(one))


def wheels(facts: Facts) -> list[Conflict]:
    """Conflicts between wheels of one library for several CUDA majors: nvidia-cudnn-cu12 and nvidia-cudnn-cu13."""
    found = facts.target.conflicts.need() or ()
    return [one for one in found if _alike([w[0] for name in names(one) if (w := library_wheel(name))])]


def _alike(kinds: list[str]) -> bool:
    return len(kinds) > 1 and len(set(kinds)) == 1
