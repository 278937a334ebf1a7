"""Through: what a pinned release brings along that no Python of today can take, by what it asks for itself."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from gpuwhy.knowledge import asked, compiled, published
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.version import numbers

_COMPILED = ("tokenizers", "numba", "llvmlite", "faiss-gpu", "spacy", "torchtext", "torchdata")
"""Packages that fail as a rule where pip has to compile them for a newer Python."""


class Brought(NamedTuple):
    """A dependency, its newest release that is allowed, and the newest Python that any of these has a wheel for."""

    name: str
    version: str
    newest: str


def ended(pin: Pin, named: frozenset[str]) -> Brought | None:
    """What a pinned release asks for that ended before the Pythons of today, and that the file does not name itself."""
    told = asked.asks(pin.name, pin.version) if pin.installed and pin.version and not pin.indexes else {}
    for name in _COMPILED:
        if name in told and name not in named and len(told[name]) == 1 and ";" not in told[name][0]:
            found = _ended(name, told[name][0])
            if found:
                return found
    return None


@lru_cache(maxsize=1024)
def _ended(name: str, demand: str) -> Brought | None:
    try:
        wanted = SpecifierSet(demand)
    except InvalidSpecifier:
        return None
    fitting = [version for version in published.releases(name) if wanted.contains(version)]
    pythons = [compiled.newest_python(name, str(version)) for version in fitting]
    if not fitting or not all(pythons):
        return None
    return Brought(name, str(max(fitting)), max(pythons, key=numbers))
