"""The remedies of a cause: propose, keep, order. `say` puts them into words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gpuwhy.advise.keep import IMPOSSIBLE, names_foreign, possible
from gpuwhy.advise.names import Around
from gpuwhy.advise.observed import case_of
from gpuwhy.advise.place import Place
from gpuwhy.advise.precedents import cures
from gpuwhy.advise.propose import proposed
from gpuwhy.advise.remedy import Remedy
from gpuwhy.advise.tools import ways
from gpuwhy.diagnose.diagnosis import Ranked
from gpuwhy.log.log import Log

if TYPE_CHECKING:
    from gpuwhy.facts.facts import Facts

_SPECIFIC, _STOCK = 4, 1
"""A remedy that fits so well needs no company of one that fits any case of the cause."""
_EVIDENT, _NEAR = 7, 1
"""What the text's own names decide stands beside what fits nearly as well, and nothing else."""
_FOREIGN = 2
"""Steps by which a precedent's cure fits less for each tool that it names and the text does not."""


def remedies(
    ranked: Ranked, log: Log | None, facts: Facts | None, place: Place
) -> tuple[Remedy, ...]:
    """What to do about a cause, the best first."""
    seen = facts if log is None else None
    if log is None:
        log = Log() if facts is None else Log(case=case_of(facts, ranked.subject))
    around = Around(ranked, log, facts, _of_cause(place, ranked.cause))
    cured, alone = _of_precedents(around)
    found = [*cured, *(one for one in proposed(around) if not alone or one.fits >= _EVIDENT)]
    found += [] if alone else ways(around)
    kept = [one for one in found if possible(one, around)]
    kept.sort(key=lambda one: _order(one, place))
    if seen is not None:  # a text may come from another machine
        from gpuwhy.advise.already import changes_nothing

        kept = [one for one in kept if not changes_nothing(one.do, seen)]
    once: list[Remedy] = []
    for one in _without_stock(kept):
        if not any(one.do == other.do or one.text == other.text != "" for other in once):
            once.append(one)
    return tuple(once)


def _order(one: Remedy, place: Place) -> tuple[object, ...]:
    """The best first: it fits this very message, changes something, can be undone, needs no root,
    has a source; else as the rows stand.
    """
    root = one.root and place.root is False
    return (root, -one.fits, not one.changes, not one.reversible, one.root, not one.source)


def _without_stock(found: list[Remedy]) -> list[Remedy]:
    """Without what is said of the whole cause, where a remedy belongs to the very message."""
    if not found or found[0].fits < _SPECIFIC:
        return found
    least = found[0].fits - _NEAR if found[0].fits >= _EVIDENT else _STOCK + 1
    return [one for one in found if one.fits >= least]


def _of_cause(place: Place, cause: str) -> Place:
    """The place, with what the cause itself says of it."""
    if cause.startswith("wsl.") and place.os in ("", "linux"):
        return msgspec.structs.replace(place, os="linux", wsl=True)
    if cause.startswith("container."):
        return msgspec.structs.replace(place, container=True)
    return place


def _of_precedents(around: Around) -> tuple[list[Remedy], bool]:
    """The cures of precedents, and whether the general remedies would mislead beside them."""
    out, alone = [], False
    for cure in cures(around.ranked.cause, around.log.excerpt, around.log.case):
        foreign = names_foreign(cure.names, around)
        if foreign < IMPOSSIBLE:
            fits = cure.remedy.fits - _FOREIGN * foreign
            out.append(msgspec.structs.replace(cure.remedy, fits=fits))
            alone = alone or cure.only
    return out, alone
