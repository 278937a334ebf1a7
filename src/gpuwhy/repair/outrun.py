"""Outrun: wheels of NVIDIA's for the CUDA major that a repair leaves behind, whose files those of the new one are."""

from __future__ import annotations

from collections.abc import Mapping

from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.model.repair import name_of
from gpuwhy.repair.metadata import asked
from gpuwhy.repair.patient import Patient


def outrun(patient: Patient, exact: Mapping[str, str], kept: Mapping[str, str]) -> list[str]:
    """Installed wheels that write the same files as one of another CUDA major that comes, and that nobody asks for.

    nvidia-cudnn-cu12 beside -cu13: whichever is written last has its way, and removing one breaks the other.
    """
    here = {one.name for one in patient.distributions}
    coming = {found for name in exact if name not in here and (found := library_wheel(name))}
    families = dict(coming)
    mine = {name: found for name in here if (found := library_wheel(name)) and name in (exact.keys() | kept.keys())}
    behind = [name for name, (family, major) in mine.items() if families.get(family, major) != major]
    wanted = _asked_for(patient, exact, kept) if behind else set()
    return [name for name in behind if name not in wanted]


def _asked_for(patient: Patient, exact: Mapping[str, str], kept: Mapping[str, str]) -> set[str]:
    """What the releases that stay ask for without an extra."""
    stay = [one for one in patient.distributions if exact.get(one.name, kept.get(one.name)) == kept.get(one.name)]
    return {name_of(text) for one in stay for text in asked(one) if "extra ==" not in text}
