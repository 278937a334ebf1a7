"""Candidates: other releases to try in a copy, one after another, where a repair left an import that still fails."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from gpuwhy.knowledge.modules import IMPORTED_AS
from gpuwhy.model.facts import Imported
from gpuwhy.model.repair import Action
from gpuwhy.model.version import numbers
from gpuwhy.model.words import normal

MOST = 12
"""Tries of one repair."""
STAY = frozenset({"torch", "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "jax", "jaxlib", "pip", "setuptools"})
_BACK = (0, 1, 3, 7, 15)
"""By how many series a package is taken back: each step is twice as wide."""
_NAMED = re.compile(
    r"module '(?P<a>[\w.]+)' has no attribute|cannot import name '[^']+' from (?:partially initialized module )?"
    r"'(?P<b>[\w.]+)'|No module named '(?P<c>\w+)\.[\w.]+'"
)
"""The package that lacks what another takes of it."""


def candidates(one: Imported, releases: Mapping[str, str], staying: Collection[str] = ()) -> list[Action]:
    """The partner that a failure names taken back; what was imported brought up, then back; the partner brought up."""
    own = _distribution(one.top, releases)
    near = [name for name in _near(one, releases) if name != own]
    partner = next((name for name in near if name not in STAY and name not in staying), "")
    own = "" if own in STAY or own in staying else own
    found = [*_older(partner, releases), *_newest(own), *_older(own, releases), *_newest(partner)]
    return found[:MOST]


def _near(one: Imported, releases: Mapping[str, str]) -> Iterator[str]:
    """The distributions that a failure names, and those of the files that it went through, the innermost first."""
    said = _NAMED.search(one.words)
    named = [next(filter(None, said.groups())).partition(".")[0]] if said else []
    inside = (path.rpartition("-packages/") for path in (one.source, *one.files))
    ways = [rest.partition("/")[0].removesuffix(".py") for _, found, rest in inside if found]
    yield from dict.fromkeys(name for module in (*named, *ways) if (name := _distribution(module, releases)))


def _distribution(module: str, releases: Mapping[str, str]) -> str:
    """The installed distribution that a module is of; "" where its name does not tell."""
    meant = [name for name in releases if IMPORTED_AS.get(name) == module]
    return next((name for name in (normal(module), *meant) if name in releases), "")


def _newest(name: str) -> list[Action]:
    return [Action((name,), upgrade=True)] if name else []


def _older(name: str, releases: Mapping[str, str]) -> list[Action]:
    """Before this series, the one before it, and so on with wider steps; then before this major release."""
    release = (*numbers(releases.get(name, "")), 0)
    major, minor = release[0], release[1] if len(release) > 2 else 0
    if not name or not releases.get(name):
        return []
    bounds = [f"{major}.{minor - back}" for back in _BACK if minor - back > 0]
    bounds += [str(major - back) for back in _BACK[: 1 if bounds else 4] if major - back > 0]
    return [Action((f"{name}<{bound}",)) for bound in bounds[:5]]
