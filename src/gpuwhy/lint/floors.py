"""Floors: packages that need a newer framework than the one that is pinned, and do not say so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge import asked, limits
from gpuwhy.knowledge.releases import has_python
from gpuwhy.lint import ending, holding, solving
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allowed, together
from gpuwhy.model.lint import Place
from gpuwhy.model.version import at_least

_NAMES = {
    "tensorflow": ("tensorflow", "tensorflow-gpu", "tensorflow-cpu"),
    "torch": ("torch",),
    "transformers": ("transformers",),
    "paddlepaddle-gpu": ("paddlepaddle-gpu",),
}


_HOSTED = re.compile(r"DATABRICKS_RUNTIME|\bdbutils\.|/databricks/")


class Below(NamedTuple):
    """A package whose release wants more than the framework that is there."""

    place: Place
    package: str
    version: str
    row: limits.Floor
    there: str  # torch==1.13.1 (line 3)
    since: str  # the first release that wants more than is there


class _There(NamedTuple):
    """The framework's release, in words, and the pin that names it."""

    version: str
    said: str
    pin: Pin | None


def below(scope: Scope) -> Iterator[Below]:
    """Each such package that the file names or that one of its packages brings."""
    if scope.environment.forked or scope.environment.locked or scope.environment.includes_unknown:
        return
    if scope.kind == "notebook" and _HOSTED.search(scope.read(scope.environment.path) or ""):
        return  # a machine that holds packages of its own
    for package, framework in dict.fromkeys((row.package, row.other) for row in limits.FLOORS):
        there = _there(scope, framework)
        own = _own(scope, package, there) if there else None
        if there and own and _meet(own, there.pin):
            yield from _below(scope, package, there, own.place)


def _own(scope: Scope, package: str, there: _There) -> Pin | None:
    """The pin to speak of: the package's own, else the framework's; of conda's and the image's, who asks for it."""
    named = next((pin for pin in scope.pins if pin.name == package), None)
    if named is not None or there.pin is None:
        return named or _bringing(scope, package)
    return _asking(scope, package) if there.pin.origin == "conda" else there.pin


def _asking(scope: Scope, package: str) -> Pin | None:
    """The pin of pip's that asks for a package."""
    return next((p for p in scope.pins if p.installed and package in scope.asks(p)), None)


def _bringing(scope: Scope, package: str) -> Pin | None:
    """The pin that brings a package into an image whose framework it then finds too old."""
    found = [end.packages[package].pin for end in ending.ends(scope) if package in end.packages]
    return found[-1] if found else None


def _there(scope: Scope, framework: str) -> _There | None:
    """The framework's release: pinned by pip, or of the image."""
    pins = [pin for pin in scope.pins if pin.name in _NAMES[framework]]
    held = holding.torch(scope) if framework == "torch" else None
    if held:
        return _There(held.version, held.said, held.pin)
    if pins:
        return _pinned(pins[0]) if len(pins) == 1 else None
    base = scope.base
    known = base.framework == framework and base.version and base.family in ("pytorch", "tensorflow", "ngc", "aws")
    if not known or any(change.name == framework for end in ending.ends(scope) for change in end.changes):
        return None  # or a neighbour's demand puts another in its place
    return _There(base.version, f"{framework} {base.version} of the image", None)


def _pinned(pin: Pin) -> _There | None:
    if pin.name == "paddlepaddle-gpu" and not pin.version and not pin.indexes and not pin.reference:
        newest = asked.newest(pin.name, asked.allowed(pin.name, pin.specifier) or 1)  # 3.x is on Paddle's own index
        return _There(newest, f"{pin.name} of the package index ends with {newest} (line {pin.place.line})", pin)
    exact = pin.version and pin.origin == "pip" and not pin.arms
    said = f"{pin.name}=={pin.version} (line {pin.place.line})"
    return _There(pin.version.partition("+")[0], said, pin) if exact else None


def _meet(own: Pin, framework: Pin | None) -> bool:
    """Whether pip takes a package by its name, beside the framework."""
    return own.origin == "pip" and not own.reference and (framework is None or together(own, framework))


def _below(scope: Scope, package: str, there: _There, place: Place) -> Iterator[Below]:
    """Where every Python that comes into question gets a release that wants more."""
    found = list(solving.taken(scope, package, _pythons(scope, there)))
    rows = [(taken, limits.floor(package, taken)) for taken in found]
    short = [(taken, row) for taken, row in rows if row and not at_least(there.version, row.floor)]
    if short and len(short) == len(rows):
        same = (one for one in limits.FLOORS if (one.package, one.other) == (package, short[-1][1].other))
        first = next(one.since for one in same if not at_least(there.version, one.floor))
        yield Below(place, package, *short[-1], there.said, first)


_OF_TODAY = "3.11"
"""The oldest Python that a machine of today has, where nobody names one; 3.10 ended in October 2026."""


def _pythons(scope: Scope, there: _There) -> list[str]:
    """The Pythons of the file, else those that today's users have and that the framework's release has wheels for."""
    if scope.environment.pythons:
        return list(solving.pythons(scope))
    rows = (
        allowed("torch" if there.pin.name == "pytorch" else there.pin.name, f"=={there.version}") if there.pin else ()
    )
    recent = [python for python in solving.pythons(scope) if at_least(python, "3.9")]
    fitting = [python for python in recent if not rows or any(has_python(row, python) for row in rows)]
    return [python for python in fitting if scope.hinted or at_least(python, _OF_TODAY)] or fitting
