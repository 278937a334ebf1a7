"""Condition: an environment before or after a repair, measured in the same way, for the two to be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from gpuwhy.knowledge.flavours import flavour, is_follower
from gpuwhy.knowledge.releases import projects
from gpuwhy.knowledge.settings import TITLES
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Distribution, Facts
from gpuwhy.model.repair import Action, Condition, Contradiction, name_of
from gpuwhy.model.report import Layer, Report, Shown
from gpuwhy.repair import imports, metadata
from gpuwhy.repair.patient import Patient

MOST = 16
"""Modules that are imported; frameworks first, then what is built on them."""


def gpu_packages(facts: Facts, patient: Patient) -> list[Distribution]:
    """Frameworks, what is compiled against them, and what asks for them in its metadata."""
    first = [one.distribution for one in value_or(facts.target.frameworks, ())]
    built = [one.distribution for one in value_or(facts.loads.extensions, ())]
    first += [name for one in value_or(facts.target.damage, ()) if flavour(name := one.owner.partition(" ")[0])]
    names = list(dict.fromkeys([*first, *built, *sorted(metadata.dependents(patient, set(first)))]))
    known = {one.name: one for one in reversed(patient.distributions)}
    return [known[name] for name in names if name in known]


def modules_of(found: Sequence[Distribution]) -> list[str]:
    """The module that each of them is imported by."""
    return list(dict.fromkeys(names[0] for one in found if (names := metadata.modules(one))))[:MOST]


def meant(facts: Facts, patient: Patient, actions: Sequence[Action]) -> set[str]:
    """The modules that a repair is about: frameworks of their own kind, and what it installs."""
    own = {one.distribution for one in value_or(facts.target.frameworks, ()) if not is_follower(one.name)}
    touched = own | {name_of(text) for action in actions for text in action.install}
    return {name for one in patient.distributions if one.name in touched for name in metadata.modules(one)[:1]}


def condition(
    facts: Facts,
    report: Report,
    layers: Sequence[Layer],
    patient: Patient,
    modules: Sequence[str],
    environ: Mapping[str, str],
) -> Condition:
    """What there is to compare, `layers` without a GPU; runs the environment's own Python, once for each module."""
    tried, judged = _imported(facts, patient, modules, environ), (*report.causes, *report.asides)
    return Condition(
        tried,
        tuple(_lacking(one) for one in metadata.contradictions(patient)),
        lost(facts),
        (*layers, *report.stairs),
        tuple(name for c in judged if not c.with_gpu for name in _named(c)),
        unjudged(facts, tried),
        frozenset(name for c in judged if not c.found for name in _named(c)),
        not isinstance(facts.target.imports, Known),
    )


def _imported(facts: Facts, patient: Patient, modules: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """How each import ended; what the look at the environment has imported already is not imported again."""
    well = {one.module for one in value_or(facts.target.imports, ()) if one.ended == "well" and not one.blame}
    ended = imports.tried(patient.python, [name for name in modules if name not in well], environ)
    return {name: ended.get(name, "") for name in modules}


def _named(cause: Shown) -> list[str]:
    """By its id and each thing that it is about: which things are told together changes with what else is told."""
    return [f"{cause.id} ({one})" for one in cause.subject.split(", ")] if cause.subject else [cause.id]


def unjudged(facts: Facts, tried: Mapping[str, str]) -> frozenset[str]:
    """The frameworks whose own files are not whole, or whose import fails: what comes after that could not be seen."""
    damage = [one for one in value_or(facts.target.damage, ()) if one.what not in ("other size", "other hash")]
    owners = {one.owner.partition(" ")[0] for one in damage}
    found = value_or(facts.target.frameworks, ())
    stopped = {one.title for one in found if tried.get(one.path.rpartition("/")[2])}
    lost = {TITLES.get(known.module, "") for name in owners if (known := flavour(name))} - {one.title for one in found}
    return frozenset(stopped | lost - {""} | {one.title for one in found if one.distribution in owners})


def _lacking(one: Contradiction) -> Contradiction:
    """A contradiction, marked where a GPU package is short of something."""
    lacks = one.lacks and (one.by in projects() or one.by == "jax")
    return msgspec.structs.replace(one, lacks=lacks)


def lost(facts: Facts) -> dict[str, tuple[str, ...]]:
    """The required libraries that the loader does not find, for each framework that could be asked what it opens."""
    needs = [need for need in value_or(facts.loads.needs, ()) if not need.optional]
    unseen = unjudged(facts, {})
    titles = {one.name: one.title for one in value_or(facts.target.frameworks, ()) if one.title not in unseen}
    return {
        title: tuple(need.name for need in needs if need.framework == name and isinstance(need.found, Absent))
        for name, title in titles.items()
    }


def removed(facts: Facts, patient: Patient, actions: Sequence[Action], now: Collection[str]) -> set[str]:
    """Modules and frameworks that go on purpose: nothing that stays brings them."""
    back = {name_of(text) for action in actions for text in action.install}
    gone = {name for action in actions for name in action.uninstall} - back - set(now)
    stay = _modules(one for one in patient.distributions if one.name not in gone)
    out = _modules(one for one in patient.distributions if one.name in gone) - stay
    frameworks = [one for one in value_or(facts.target.frameworks, ()) if one.distribution in gone]
    return out | {one.title for one in frameworks if one.name in out}


def _modules(distributions: Iterable[Distribution]) -> set[str]:
    return {module for one in distributions for module in metadata.modules(one)}
