"""Demands: what releases demand of NVIDIA's wheels, and where two of them cannot agree."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.releases import evidence_of, has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, allowed, allows, releases_of, rows, specifier, together
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Place
from gpuwhy.model.release import Release

MANY = 12


MAJORS = source("names of NVIDIA's wheels", "-cu11, -cu12, -cu13: the CUDA major they are built for")


class Demand(NamedTuple):
    """What one release of a pin demands of NVIDIA's wheels."""

    pin: Pin
    title: str
    release: Release | None
    ranges: dict[str, str]


def demands(scope: Scope, pin: Pin) -> list[Demand]:
    """The demands of each release that a pin allows; [] where they are not known or too many."""
    if not from_index(scope, pin):
        return []
    if library_wheel(pin.name):
        return [Demand(pin, f"{pin.name}{pin.specifier}", None, {pin.name: pin.specifier})]
    return [
        Demand(pin, _title(pin, row), row, row.requires) for row in _demanding(pin) if isinstance(row.requires, dict)
    ]


def newest(scope: Scope, pin: Pin) -> list[Demand]:
    """The demands of the newest release of a framework that nothing else in its environment holds back."""
    if not _from_the_index(scope, pin):
        return []
    environment = scope.environment
    fitting = [row for row in _wheels(pin) if all(has_python(row, p) for p in environment.pythons)]
    row = fitting[-1] if fitting else None
    if row is None or any(_holds(p, pin.name, row.version) for p in environment.pins if p.name != pin.name):
        return []
    return [Demand(pin, _title(pin, row), row, row.requires)] if isinstance(row.requires, dict) else []


def _from_the_index(scope: Scope, pin: Pin) -> bool:
    """Whether pip takes it from the default index, whatever others are named."""
    return from_index(scope, pin) and not any(holds_only(index.url) in ("", "torch") for index in pin.indexes)


def _holds(pin: Pin, framework: str, version: str) -> bool:
    """Whether a package that asks for a framework is pinned, or the newest of it keeps that from a version."""
    if framework == "torch" and pin.name in ("torchvision", "torchaudio", "xformers", "torchtext", "vllm"):
        return pin.name not in ("torchvision", "torchaudio") or bool(pin.specifier.strip("0123456789.>="))
    rows_ = guests(pin.name)
    asked = (rows_[-1].asks or {}).get(framework, "") if rows_ else ""
    return bool(asked) and (bool(pin.specifier) or not allows(asked, version))


def _demanding(pin: Pin) -> tuple[Release, ...]:
    """The rows whose demands hold for a pin; () where they are too many to speak of all."""
    found = _wheels(pin)
    return found if len(found) <= MANY else ()


def _wheels(pin: Pin) -> tuple[Release, ...]:
    """The rows whose demands hold for a pin, with its extras."""
    if pin.name in TENSORFLOW:
        found = allowed(pin.name, pin.specifier) if "and-cuda" in pin.extras else ()
    elif pin.name == "jax":
        extra = next((e for e in pin.extras if e in ("cuda12", "cuda12-pip", "cuda13")), "")
        found = allowed(f"jax-{extra[:6]}-plugin", pin.specifier) if extra else ()
    else:
        found = releases_of(pin) if pin.name == "torch" else ()
    return tuple(row for row in found if row.platform == LINUX)


def _title(pin: Pin, row: Release) -> str:
    name = "jax" if pin.name == "jax" else row.name
    return f"{name}{'[' + ','.join(pin.extras) + ']' if pin.extras else ''} {row.version}"


def clash(one: Demand, other: Demand) -> str:
    """The wheel of which no release suits both; '' where there is none."""
    for name in (name for name in one.ranges if name in other.ranges):  # in one order, whatever the run
        if not _meet(name, one.ranges[name], other.ranges[name]):
            return name
    return ""


def _meet(name: str, one: str, other: str) -> bool:
    if not one or not other or specifier(f"{one},{other}") is None:
        return True
    return not rows(name) or any(allows(f"{one},{other}", row.version) for row in rows(name))


def evidence(demand: Demand) -> Source:
    """Where a demand was read."""
    return evidence_of(demand.release, "requires") if demand.release else MAJORS


def ships(pin: Pin) -> Source:
    """Where the files of a wheel were read."""
    row = next((r for r in reversed(releases_of(pin)) if r.ships is not UNSET), None)
    return evidence_of(row, "ships") if row else MAJORS


def shared_file(one: Pin, other: Pin) -> str:
    """A file that some allowed release of each installs."""
    left, right = (
        set(row.ships) if row and isinstance(row.ships, tuple) else set()
        for row in (next((r for r in reversed(releases_of(p)) if r.platform == LINUX), None) for p in (one, other))
    )
    return min((file for file in left & right if _SONAME.search(file)), default="")


_SONAME = re.compile(r"^(?!libnv(ToolsExt|tx)).*\.so\.\d")
"""Files that a framework opens by their name; those without a number are for tools beside them (CUPTI's).

NVTX has one interface, whatever the CUDA: either copy serves both."""


class TwoMajors(NamedTuple):
    """Two of NVIDIA's wheels for different CUDA majors, and a file that both install ('' = none)."""

    one: Pin
    other: Pin
    major: int
    other_major: int
    file: str


def wheels_of_two_majors(scope: Scope) -> Iterator[TwoMajors]:
    """Every such pair that can meet in one installation."""
    if scope.environment.forked:
        return
    pins = scope.environment.pins
    wheels = [pin for pin in pins if library_wheel(pin.name) and pin.origin == "pip" and not pin.limits]
    for one, other in itertools.combinations(wheels, 2):
        (family, major), (second, other_major) = library_wheel(one.name), library_wheel(other.name)  # type: ignore[misc]
        if major != other_major and together(one, other):
            yield TwoMajors(one, other, major, other_major, shared_file(one, other) if family == second else "")


class Conflict(NamedTuple):
    """Two demands that no release of a wheel satisfies."""

    first: Demand
    second: Demand
    wheel: str
    place: Place


def conflicts(scope: Scope) -> Iterator[Conflict]:
    """Two pins of which no releases agree on a wheel of NVIDIA; a framework's demand first."""
    if scope.environment.forked:
        return
    known = [(pin, demands(scope, pin)) for pin in scope.environment.pins if scope.is_single(pin)]
    asking = [(pin, found) for pin, found in known if found]
    for (one, first), (other, second) in itertools.combinations(asking, 2):
        wheels = library_wheel(one.name) and library_wheel(other.name)
        clashes = [] if wheels or not together(one, other) else [clash(a, b) for a in first for b in second]
        if clashes and all(clashes):
            yield _conflict(first[-1], second[-1], clashes[-1])


def _conflict(one: Demand, other: Demand, wheel: str) -> Conflict:
    first, second = (one, other) if one.release else (other, one)
    place = max(one.pin.place, other.pin.place, key=lambda p: (p.path == one.pin.place.path, p.line))
    return Conflict(first, second, wheel, place if second.release else second.pin.place)
