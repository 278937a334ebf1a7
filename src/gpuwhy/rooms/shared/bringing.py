"""Bringing: what is installed, or brought to another release, so that an import works that was tried and failed."""

from __future__ import annotations

import re

from msgspec import structs

from gpuwhy.knowledge.limits import broken, split
from gpuwhy.knowledge.times import beside, of_its_time
from gpuwhy.model.cause import Case, Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Imported
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.rooms.shared import imported
from gpuwhy.rooms.shared.commands import change

FRAMEWORKS = ("torch", "tensorflow", "jax", "jaxlib")
"""Packages that stay as they are where another one does not fit them."""


def for_the_import(case: Case, one: Imported) -> tuple[Fix, ...]:
    """Install what is not there; else bring what lacks something up to date."""
    missing = imported.misses(case, one)
    if missing:
        text = f"Install {missing}, which {one.deed} asks for"
        return (
            *_other_backend(case, one, missing),
            change(case.facts, text, missing, because_of=one.framework, until=until(case)),
        )
    used = [one.top] if one.module.startswith("use:") else []
    ways = [*used, *imported.packages_of(case, one)]
    names = [text.partition(" ")[0] for text in imported.distributions_of(case, ways)]
    lacking = next((name for name in names if name not in FRAMEWORKS), "")
    if not lacking:
        look = Fix("See which releases contradict each other", "pip check", safe=True, role="look")
        return _within_limit(case, one) or (look,)
    both = [name for name in dict.fromkeys(names) if name not in FRAMEWORKS][:2]
    if len(both) == 2 and not used and not imported.with_framework(case, one):
        text = f"Bring {' and '.join(both)} to releases that go together"  # which of them is behind, nothing tells
        return (change(case.facts, text, *both, because_of=both[0], upgrade=True),)
    text = f"Bring {lacking} to a release that {one.deed} works with"
    if used:
        text = f"Bring {lacking} to a release with which this works: {one.deed}"
    partner = _taken_back(case, one, lacking)
    newest = change(case.facts, text, lacking, because_of=one.framework, upgrade=True)
    day = _of_the_framework(case, one)
    if not day:
        return (newest, *partner)
    dated = f"{text}: one of the time of {one.framework}, published by {day}"
    first = change(case.facts, dated, lacking, because_of=one.framework, upgrade=True, until=day)
    return first, structs.replace(newest, text=f"Or bring {lacking} to its newest release"), *partner


BACKENDS = ("jax", "torch", "tensorflow")
"""What Keras 3 stands on, one of them."""


def _other_backend(case: Case, one: Imported, missing: str) -> tuple[Fix, ...]:
    """Keras 3 without the backend that it takes by default, beside another that is installed."""
    there = {found.name: found.version for found in value_or(case.facts.target.distributions, ())}
    keras = numbers(there.get("keras", ""))[:1] == (3,)
    other = next((name for name in BACKENDS if name in there and name != missing), "")
    if one.top != "keras" or missing not in BACKENDS or not keras or not other:
        return ()
    return (Fix(f"Let Keras take {other}, which is installed", f"export KERAS_BACKEND={other}", safe=True),)


def _taken_back(case: Case, one: Imported, lacking: str) -> tuple[Fix, ...]:
    """The package that lacks a name, before its present series: it may have had that name once."""
    for text in imported.distributions_of(case, imported.names_partner(one)):
        name, _, version = text.partition(" ")
        if name != lacking and name not in FRAMEWORKS:
            series = major_minor(version) if numbers(version)[:1] < (5,) else str(numbers(version)[0])
            told = f"Or take {name} back before {series}, which lacks that name"
            return (change(case.facts, told, f"{name}<{series}", because_of=name),)
    return ()


def _within_limit(case: Case, one: Imported) -> tuple[Fix, ...]:
    """What failed names a package of which a limit is known that the framework does not state."""
    about = next((f for f in value_or(case.facts.target.frameworks, ()) if f.name == one.framework), None)
    kept = broken(about.distribution, about.version, case.facts.target.releases) if about else ()
    for limit in kept:
        name = split(limit.requirement)[0]
        if about and re.search(rf"\b{re.escape(name)}\b", f"{one.deed}\n{one.text}"):
            text = f"Change {name} to one that {about.distribution} {about.version} goes with: {limit.because}"
            return (change(case.facts, text, limit.requirement, because_of=about.distribution),)
    return ()


def _of_the_framework(case: Case, one: Imported) -> str:
    """The day until which what goes with the framework was published; "" where that is not known."""
    about = next((f for f in value_or(case.facts.target.frameworks, ()) if f.name == one.framework), None)
    return of_its_time(about.distribution, about.version) if about else ""


def until(case: Case) -> str:
    """The day until which what is missing was probably published, by the frameworks that are there."""
    return beside(case.facts.target.releases, [f.distribution for f in value_or(case.facts.target.frameworks, ())])
