"""Metadata: what installed distributions ask of each other in vain, and which modules they bring."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from gpuwhy.model.facts import Distribution
from gpuwhy.model.repair import Contradiction, name_of
from gpuwhy.repair.patient import Patient

_MOST = 4 << 20  # bytes of a METADATA file
_MODULE = re.compile(r"([A-Za-z_]\w*)(?:\.py|/__init__\.py|\.(?:abi3|cpython-[\w-]+)\.so|\.so)$")
_PRIVATE = ("_", "test", "docs", "examples", "benchmarks")


def asked(one: Distribution) -> list[str]:
    """Its requirements, as its metadata has them."""
    try:
        with open(f"{one.location}/METADATA", encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST)
    except OSError:
        return []
    head = text.partition("\n\n")[0]
    return [line.partition(":")[2].strip() for line in head.splitlines() if line.lower().startswith("requires-dist:")]


def contradictions(patient: Patient) -> tuple[Contradiction, ...]:
    """Every requirement of an installed distribution that what is installed does not meet."""
    versions = {one.name: one.version for one in reversed(patient.distributions)}
    where = _markers(patient)
    found = (text for one in patient.distributions for text in _unmet(one, versions, where))
    return tuple(dict.fromkeys(found))


def _unmet(one: Distribution, versions: Mapping[str, str], where: Mapping[str, str]) -> Iterator[Contradiction]:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion

    for text in asked(one):
        try:
            want = Requirement(text)
            if want.marker is not None and not want.marker.evaluate({**where, "extra": ""}):
                continue
            have = versions.get(re.sub(r"[-_.]+", "-", want.name).lower())
            if have is not None and (want.url or want.specifier.contains(have, prereleases=True)):
                continue
        except (InvalidRequirement, InvalidVersion, ValueError):
            continue
        state = f"{have} is installed" if have else "it is not installed"
        text = f"{one.name} {one.version} asks for {want.name}{want.specifier}; {state}"
        yield Contradiction(one.name, want.name, text, have is None)


def _markers(patient: Patient) -> dict[str, str]:
    """The values that a requirement's condition is asked with: those of the environment's own Python."""
    short = ".".join(patient.version.split(".")[:2])
    return {"python_version": short, "python_full_version": patient.version, "implementation_version": patient.version}


def dependents(patient: Patient, names: Collection[str]) -> set[str]:
    """The distributions whose metadata asks for one of these without a condition."""
    return {
        one.name
        for one in patient.distributions
        if any(name_of(text) in names and "extra" not in text for text in asked(one))
    }


def modules(one: Distribution) -> list[str]:
    """What a distribution lets people import, the module of its own name first."""
    try:
        with open(f"{one.location}/RECORD", encoding="utf-8", errors="replace") as file:
            paths = [line.split(",")[0].strip('"') for line in file]
    except OSError:
        return []
    found = {m[1] for path in paths if path.count("/") <= 1 and (m := _MODULE.match(path))}
    public = sorted(name for name in found if not name.startswith(_PRIVATE))
    own = one.name.replace("-", "_").lower()
    return sorted(public, key=lambda name: (name.lower() != own, name.lower() not in own, name))


def fingerprint(distributions: Sequence[Distribution]) -> dict[str, int]:
    """When each distribution and each folder of packages was last changed: to see that nobody else is at work."""
    places = {os.path.dirname(one.location) for one in distributions} | {one.location for one in distributions}
    out = {}
    for path in places:
        try:
            out[path] = os.stat(path).st_mtime_ns
        except OSError:
            out[path] = -1
    return out
