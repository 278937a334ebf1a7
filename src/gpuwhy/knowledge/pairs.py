"""Pairs: which releases go together: what they state of each other, and who refuses whom.

`check` and `run` read what is stated from the installed metadata, `lint` and `plan` from here.
"""

import re
from functools import cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor
from gpuwhy.knowledge import packages, tables

STATED = tables.source(
    "METADATA of the published wheels", "knowledge/data/stated.json, by tools/harvest/stated.py"
)
EXACT_SINCE = "0.5.3"
"""From this jaxlib on a CUDA plugin of any other release is left aside (installs.EXACT_PLUGIN)."""


class Refusal(msgspec.Struct, frozen=True):
    """A package that looks at another's version when it is imported, and what it does then."""

    by: str  # expression
    name: str  # expression
    effect: str
    source: Source
    stops: bool = True  # False: it goes on without it


class Table(msgspec.Struct, frozen=True):
    """pairs.json."""

    unstated: tuple[tuple[str, str, dict[str, str]], ...]  # companions whose metadata names none
    torchcodec: dict[str, str]  # its release: the torch it is compiled for (table in its README)
    neighbours: str  # run on a GPU through a framework: what they ask for counts as what it asks
    left_to_loader: str  # what other causes judge by its files, or a platform may lack
    refusals: tuple[Refusal, ...]


def _pairs() -> Table:
    return tables.load("pairs.json", Table)


def _table() -> dict[str, list[tuple[list[str], dict[str, list[str]]]]]:
    shape = tables.Packages[list[tuple[list[str], dict[str, list[str]]]]]
    return tables.load("stated.json", shape).packages


def is_neighbour(name: str) -> bool:
    """Whether people run a package on a GPU through a framework."""
    return re.fullmatch(_pairs().neighbours, name) is not None


def is_left_to_loader(name: str) -> bool:
    """Whether causes of their own judge a package by the files that would be loaded."""
    return re.fullmatch(_pairs().left_to_loader, name) is not None


def refusal(by: str, name: str) -> Refusal | None:
    """The row of a package that looks at another's version itself."""
    mine = (row for row in _pairs().refusals if re.fullmatch(row.by, by))
    return next((row for row in mine if re.fullmatch(row.name, name)), None)


def unstated(name: str, version: str) -> dict[str, str]:
    """What a companion needs whose metadata names no torch: torchaudio 2.11.0."""
    rows = _pairs().unstated
    return next((asks for *one, asks in rows if one == [name, version]), {})


def torchcodec(version: str) -> str:
    """The torch that a release of torchcodec is compiled for; "" where it is not known."""
    return _pairs().torchcodec.get(major_minor(version), "")


@cache
def stated(name: str, version: str) -> dict[str, tuple[str, ...]]:
    """What a release states of others: alternatives, `<2,>=1.23` or with a marker behind `;`."""
    for versions, said in _table().get(name, ()):
        if version in versions:
            return {other: tuple(wishes) for other, wishes in said.items()}
    return {}


def fitting(name: str, other: str, version: str) -> str:
    """The newest release whose metadata goes with a release of another; "" where none is known."""
    every = [one for versions, _ in _table().get(name, ()) for one in versions]
    for candidate in reversed(every):
        for wish in stated(name, candidate).get(other, ()):
            tight = any(sign in wish for sign in ("<", "==", "~="))  # so that being inside tells
            if tight and allows(wish.partition(";")[0], version):
                return candidate
    return ""


@cache
def allows(wish: str, version: str) -> bool:
    """Whether `<2,>=1.23` lets a version in, as pip reads it; local parts and previews included."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    try:
        return SpecifierSet(wish.strip()).contains(Version(version), prereleases=True)
    except ValueError:  # no specifier, no version, or thousands of digits
        return True


@cache
def providers(name: str) -> frozenset[str]:
    """The distributions that answer for a requirement: tensorflow-cpu is a tensorflow."""
    own = packages.flavour(name)
    same = (other for other, one in packages.ALL.items() if own and one.module == own.module)
    return frozenset({name, *same})


def plugin_left_aside(jaxlib: str) -> bool:
    """Whether this jaxlib goes on without a plugin of another release, rather than failing."""
    return at_least(jaxlib, EXACT_SINCE)
