"""Rules on versions that must go together: NVIDIA's wheels, companions, NumPy, mixtures of CUDA majors."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from gpuwhy.knowledge import caps
from gpuwhy.knowledge import pairs as known_pairs
from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.catalogue import mistake
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, allows, parsed, releases_of, rows, specifier, together
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Severity
from gpuwhy.model.release import Release

_MANY = 12
_MAJORS = source("names of NVIDIA's wheels", "-cu11, -cu12, -cu13: the CUDA major they are built for")


class Demand(NamedTuple):
    """What one release of a pin demands of NVIDIA's wheels."""

    pin: Pin
    title: str
    release: Release | None
    ranges: dict[str, str]


def demands(scope: Scope, pin: Pin) -> list[Demand]:
    """The demands of each release that a pin allows; [] where they are not known or too many."""
    if pin.origin != "pip" or pin.variant or pin.reference or scope.environment.other_index:
        return []
    if library_wheel(pin.name):
        return [Demand(pin, f"{pin.name}{pin.specifier}", None, {pin.name: pin.specifier})]
    return [
        Demand(pin, _title(pin, row), row, row.requires) for row in _demanding(pin) if isinstance(row.requires, dict)
    ]


def _demanding(pin: Pin) -> tuple[Release, ...]:
    """The rows whose demands hold for a pin, with its extras."""
    if pin.name in TENSORFLOW:
        found = allowed(pin.name, pin.specifier) if "and-cuda" in pin.extras else ()
    elif pin.name == "jax":
        extra = next((e for e in pin.extras if e in ("cuda12", "cuda12-pip", "cuda13")), "")
        found = allowed(f"jax-{extra[:6]}-plugin", pin.specifier) if extra else ()
    else:
        found = releases_of(pin) if pin.name == "torch" else ()
    wheels = tuple(row for row in found if row.platform == LINUX)
    return wheels if len(wheels) <= _MANY else ()


def _title(pin: Pin, row: Release) -> str:
    name = "jax" if pin.name == "jax" else row.name
    return f"{name}{'[' + ','.join(pin.extras) + ']' if pin.extras else ''} {row.version}"


def conflicts(scope: Scope) -> Iterator[Mistake]:
    """Two pins of which no releases agree on a wheel of NVIDIA."""
    if scope.environment.forked:
        return
    known = [(pin, demands(scope, pin)) for pin in scope.environment.pins if scope.is_single(pin)]
    asking = [(pin, found) for pin, found in known if found]
    for (one, first), (other, second) in itertools.combinations(asking, 2):
        if not together(one, other) or (library_wheel(one.name) and library_wheel(other.name)):
            continue
        clashes = [_clash(a, b) for a in first for b in second]
        if clashes and all(clashes):
            yield _conflict(first[-1], second[-1], clashes[-1])


def _clash(one: Demand, other: Demand) -> str:
    """The wheel of which no release suits both; '' where there is none."""
    for name in one.ranges.keys() & other.ranges.keys():
        if not _meet(name, one.ranges[name], other.ranges[name]):
            return name
    return ""


def _meet(name: str, one: str, other: str) -> bool:
    if not one or not other or specifier(f"{one},{other}") is None:
        return True
    return not rows(name) or any(allows(f"{one},{other}", row.version) for row in rows(name))


def _conflict(one: Demand, other: Demand, wheel: str) -> Mistake:
    first, second = (one, other) if one.release else (other, one)
    place = max(one.pin.place, other.pin.place, key=lambda p: (p.path == one.pin.place.path, p.line))
    if second.release is None:
        place = second.pin.place
        text = f"{wheel}{second.ranges[wheel]} is pinned, and {first.title} demands {first.ranges[wheel]}"
        fix = f"remove the pin (line {place.line}): {first.title} brings its own, or write {wheel}{first.ranges[wheel]}"
        return mistake("nvidia-pin", place, text, _know(first), fix)
    text = (
        f"{first.title} demands {wheel}{first.ranges[wheel]}, {second.title} demands {wheel}{second.ranges[wheel]}: "
        "pip finds no release for both"
    )
    fix = f"use one environment for each, or let the installer choose: gpuwhy plan {first.pin.name} {second.pin.name}"
    return mistake("framework-conflict", place, text, _know(first), fix)


def _know(demand: Demand) -> Source:
    return evidence_of(demand.release, "requires") if demand.release else _MAJORS


def pairs(scope: Scope) -> Iterator[Mistake]:
    """torchvision for another torch, xformers for another torch …"""
    if scope.environment.forked:
        return
    for pin in scope.environment.pins:
        found = releases_of(pin) if pin.origin == "pip" and not pin.limits and scope.is_single(pin) else ()
        paired = [row for row in found if isinstance(row.pairs, dict) and row.platform in (LINUX, "any")]
        if not paired or len(paired) != len([r for r in found if r.platform != "source"]) or len(paired) > _MANY:
            continue
        for name in sorted(set[str]().union(*(row.pairs for row in paired if isinstance(row.pairs, dict)))):
            yield from _pair(scope, pin, paired, name)


def _pair(scope: Scope, pin: Pin, paired: list[Release], name: str) -> Iterator[Mistake]:
    for other in scope.environment.pins:
        if (
            not scope.is_single(other)
            or other.name != name
            or not other.specifier
            or other.origin != "pip"
            or other.reference
            or not together(pin, other)
        ):
            continue
        choices = allowed(name, other.specifier.split("+")[0] if other.version else other.specifier)
        wanted = [row.pairs.get(name, "") for row in paired if isinstance(row.pairs, dict)]
        if not choices or any(allows(range_, row.version) for range_ in wanted for row in choices):
            continue
        row = paired[-1]
        asked = f"{name}{other.specifier} is asked for (line {other.place.line})"
        text = f"{pin.name} {row.version} goes with {name}{wanted[-1]}; {asked}"
        fix = f"write {name}{wanted[-1]}" + _fitting(pin.name, name, choices)
        yield mistake("pair-mismatch", pin.place, text, evidence_of(row, "pairs"), fix)
        return


def stated(scope: Scope) -> Iterator[Mistake]:
    """Two exact pins of which one's published metadata excludes the other: jax and its plugin, tensorflow and keras."""
    if scope.environment.forked:
        return
    exact = [p for p in scope.environment.pins if p.version and p.origin == "pip" and not p.reference and not p.limits]
    exact = [p for p in exact if scope.is_single(p)]
    for pin, other in itertools.permutations(exact, 2):
        wishes = _wishes(pin, other)
        if not wishes or not together(pin, other) or any(allows(w.partition(";")[0], other.version) for w in wishes):
            continue
        wanted = wishes[-1].partition(";")[0].strip()
        asked = f"{other.name}=={other.version} is asked for (line {other.place.line})"
        text = f"{pin.name} {pin.version} goes with {other.name}{wanted}; {asked}"
        fits = known_pairs.fitting(pin.name, other.name, other.version.split("+")[0])
        fix = f"write {other.name}{wanted}" + (f", or {pin.name}=={fits}" if fits else "")
        yield mistake("pair-mismatch", pin.place, text, known_pairs.STATED, fix)


def _wishes(pin: Pin, other: Pin) -> tuple[str, ...]:
    """What a pin's release states of another package, unless the harvested rows of the rule above already say it."""
    if any(isinstance(row.pairs, dict) and other.name in row.pairs for row in releases_of(pin)):
        return ()
    said = known_pairs.stated(pin.name, pin.version)
    found = said.get(other.name) or caps.PAIRS.get((pin.name, pin.version), {}).get(other.name, "")
    if not found and _PLUGIN.fullmatch(pin.name) and other.name == "jaxlib":
        found = f"=={pin.version}"
    return (found,) if isinstance(found, str) and found else tuple(found)


_PLUGIN = re.compile(r"jax-cuda\d+-(plugin|pjrt)")


def _fitting(name: str, other: str, choices: tuple[Release, ...]) -> str:
    """The companion's release for the framework that was asked for."""
    for row in reversed(rows(name)):
        wanted = row.pairs.get(other) if isinstance(row.pairs, dict) and row.platform == LINUX else None
        if wanted and not row.yanked and any(allows(wanted, choice.version) for choice in choices):
            return f", or {name}=={row.version} for {other} {choices[-1].version}"
    return ""


def mixed_cuda(scope: Scope) -> Iterator[Mistake]:
    """NVIDIA's wheels of two majors: those that write the same files break each other; the others only puzzle."""
    if scope.environment.forked:
        return
    wheels = [
        pin for pin in scope.environment.pins if library_wheel(pin.name) and pin.origin == "pip" and not pin.limits
    ]
    told: set[int] = set()
    for one, other in itertools.combinations(wheels, 2):
        (family, major), (second, other_major) = library_wheel(one.name), library_wheel(other.name)  # type: ignore[misc]
        if major == other_major or not together(one, other):
            continue
        shared = _shared(one, other) if family == second else ""
        if shared:
            text = f"{other.name} and {one.name} (line {one.place.line}) both install {shared}: the last one wins"
            fix = f"keep the one for the CUDA major of your framework ({major} or {other_major})"
            yield mistake("same-files", other.place, text, _ships(other), fix)
        elif not told and not scope.environment.locked:
            told.add(other_major)
            text = f"{other.name} is for CUDA {other_major}, {one.name} (line {one.place.line}) for CUDA {major}"
            fix = "keep the wheels of one CUDA major, or leave them to the framework's own requirements"
            yield mistake("mixed-cuda", other.place, text, _MAJORS, fix)


def _ships(pin: Pin) -> Source:
    row = next((r for r in reversed(releases_of(pin)) if r.ships is not UNSET), None)
    return evidence_of(row, "ships") if row else _MAJORS


def _shared(one: Pin, other: Pin) -> str:
    """A file that some allowed release of each installs."""
    left, right = (
        set(row.ships) if row and isinstance(row.ships, tuple) else set()
        for row in (next((r for r in reversed(releases_of(p)) if r.platform == LINUX), None) for p in (one, other))
    )
    return min(left & right, default="")


def implied_files(scope: Scope) -> Iterator[Mistake]:
    """Two frameworks whose own requirements bring one library in two majors into the same folder."""
    if scope.environment.forked or scope.environment.locked:
        return
    asking = [(pin, found) for pin in scope.pins if (found := demands(scope, pin)) and not library_wheel(pin.name)]
    for (_, first), (_, second) in itertools.combinations(asking, 2):
        one, other = first[-1], second[-1]
        for left, right in itertools.product(one.ranges, other.ranges):
            a, b = library_wheel(left), library_wheel(right)
            if a and b and a[0] == b[0] and a[1] != b[1] and (file := _shared(_as(one, left), _as(other, right))):
                text = (
                    f"{one.title} brings {left} and {other.title} brings {right}: both install {file} in one folder, "
                    "and the last one installed wins"
                )
                both = f"gpuwhy plan {one.pin.name} {other.pin.name}"
                fix = f"use one environment for each, or releases for one CUDA major: {both}"
                yield mistake("same-files", other.pin.place, text, _know(other), fix, "warning")
                break


def _as(demand: Demand, name: str) -> Pin:
    return Pin(name, demand.pin.place, demand.ranges[name])


def unstated_limit(scope: Scope) -> Iterator[Mistake]:
    """A NumPy or protobuf that a release cannot use, and does not forbid."""
    if scope.environment.forked:
        return
    for pin in scope.pins:
        row = scope.taken(pin) if pin.origin == "pip" else None
        for cap in caps.caps(_framework(pin.name), row.version) if row else ():
            name, _, limit = cap.requirement.partition("<")
            other = next((p for p in scope.pins if p.name == name and together(pin, p)), None)
            if row and other and name in _NEWER and _beyond(scope, other, f"<{limit}"):
                asked = f"{name}{other.specifier}" if other.specifier else f"{name} without a limit"
                text = f"{pin.name} {row.version} needs {cap.requirement}; {asked} lets newer ones in: {cap.because}"
                severity: Severity = "error" if _forces(other, f"<{limit}") else "warning"
                yield mistake("unstated-limit", other.place, text, cap.source, f'write "{cap.requirement}"', severity)


_NEWER = {"numpy": ("2.0.2", "2.2.6", "2.3.5"), "protobuf": ("4.25.8", "5.29.5", "6.33.0")}
_OLDER = {"numpy": ("1.16.6", "1.19.5", "1.21.6", "1.24.4", "1.26.4"), "protobuf": ("3.8.0", "3.19.6", "3.20.3")}


def _framework(name: str) -> str:
    return {"tensorflow-gpu": "tensorflow"}.get(name, name)


def _forces(pin: Pin, limit: str) -> bool:
    """Whether a pin allows nothing within a limit."""
    return not any(
        allows(f"{pin.specifier},{limit}".strip(","), version) for version in (*_OLDER[pin.name], pin.version)
    )


def _beyond(scope: Scope, pin: Pin, limit: str) -> bool:
    """Whether the newest one that a pin allows is past a limit; NumPy 2 needs Python 3.9."""
    if pin.version:
        return parsed(pin.version) is not None and not allows(limit, pin.version)
    pythons = scope.environment.pythons
    if pin.name == "numpy" and pythons and all(p in ("3.6", "3.7", "3.8") for p in pythons):
        return False
    return any(allows(pin.specifier, version) and not allows(limit, version) for version in _NEWER[pin.name])
