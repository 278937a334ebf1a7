"""Order: one key."""

from __future__ import annotations

from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import Remedy


def order(found: list[Remedy], place: Place) -> list[Remedy]:
    """The remedies, the best first: fits this very message, changes something, can be undone,
    needs no root, has a source; else as the rows stand.
    """
    return sorted(found, key=lambda one: _key(one, place))


def _key(one: Remedy, place: Place) -> tuple[object, ...]:
    root = one.root and place.root is False
    return (root, -one.fits, not one.changes, not one.reversible, one.root, not one.source)
