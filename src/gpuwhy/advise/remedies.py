"""The remedies of a cause: propose, keep, order. `say` puts them into words."""

from __future__ import annotations

import msgspec

from gpuwhy.advise.keep import names_foreign, possible
from gpuwhy.advise.names import Around
from gpuwhy.advise.order import order
from gpuwhy.advise.place import Place
from gpuwhy.advise.propose import precedented, proposed
from gpuwhy.advise.remedy import Remedy
from gpuwhy.diagnose.diagnosis import Ranked
from gpuwhy.facts.facts import Facts
from gpuwhy.log.log import Log

_SPECIFIC, _STOCK = 4, 1
"""A remedy that fits so well needs no company of one that fits any case of the cause."""
_FOREIGN = 2
"""Steps by which a precedent's cure fits less for each tool that it names and the text does not."""


def remedies(
    ranked: Ranked, log: Log | None, facts: Facts | None, place: Place
) -> tuple[Remedy, ...]:
    """What to do about a cause, the best first."""
    around = Around(ranked, log or Log(), facts, place)
    found = [] if log is None else _of_precedents(around)
    only = any(one.fits > 90 for one in found)
    if not only:
        found += proposed(around)
    kept = order([one for one in found if possible(one, around)], place)
    return tuple(_once(_without_stock(kept)))


def _without_stock(found: list[Remedy]) -> list[Remedy]:
    """Without what is said of the whole cause, where a remedy belongs to the very message."""
    if not found or found[0].fits < _SPECIFIC:
        return found
    return [one for one in found if one.fits > _STOCK]


def _of_precedents(around: Around) -> list[Remedy]:
    out = []
    for cure in precedented(around):
        foreign = names_foreign(cure.names, around)
        if foreign < 9:
            fits = cure.remedy.fits - _FOREIGN * foreign
            out.append(msgspec.structs.replace(cure.remedy, fits=fits))
    return out


def _once(found: list[Remedy]) -> list[Remedy]:
    """Every remedy once, by what it does."""
    seen: list[Remedy] = []
    for one in found:
        if not any(one.do == other.do or one.text == other.text != "" for other in seen):
            seen.append(one)
    return seen
