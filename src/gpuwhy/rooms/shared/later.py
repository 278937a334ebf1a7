"""Libraries that other libraries open when first used: the parts of cuDNN, and what NVRTC compiles with."""

from __future__ import annotations

from gpuwhy.knowledge.libraries import opened_later
from gpuwhy.model.fact import Unknown, value_or
from gpuwhy.model.facts import Facts, MissingLibrary, NeededLibrary
from gpuwhy.rooms.shared.needs import base_name


def refused(facts: Facts) -> list[NeededLibrary]:
    """Those whose file is there and is no library that this process can load, each file once."""
    found: dict[str, NeededLibrary] = {}
    for tree in value_or(facts.loads.trees, ()):
        for one in tree.missing:
            if one.refused and opened_later(base_name(one.name)):
                found.setdefault(one.refused, _needed(tree.framework, one))
    return list(found.values())


def _needed(framework: str, one: MissingLibrary) -> NeededLibrary:
    name = base_name(one.name)
    why = Unknown(f"{name}: {one.why}", kind="refused")
    return NeededLibrary(framework, name, False, one.needed_by, why, "", (), (), (), one.refused)


def loaded(facts: Facts) -> set[str]:
    """The files of those that a process loads."""
    libraries = (one for tree in value_or(facts.loads.trees, ()) for one in tree.libraries)
    return {one.path for one in libraries if opened_later(one.name)}
