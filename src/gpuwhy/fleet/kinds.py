"""Kinds: the facts that nodes are compared by, and what a difference can do."""

from __future__ import annotations

from functools import cache

from gpuwhy.fleet.answer import Kind
from gpuwhy.fleet.tables import table

KINDS = tuple(
    Kind(name, **{**row, "causes": tuple(row.get("causes", ()))})
    for name, row in table("kinds").items()
)
_EXACT = {kind.name: kind for kind in KINDS}
_PREFIXES = sorted(
    (kind for kind in KINDS if kind.name.endswith((".", "_"))), key=lambda kind: -len(kind.name)
)
_OTHER = Kind("", "", 0)


@cache
def kind_of(fact: str) -> Kind:
    """The kind of a fact by its name; what nobody knows has no weight."""
    if fact in _EXACT:
        return _EXACT[fact]
    return next((kind for kind in _PREFIXES if fact.startswith(kind.name)), _OTHER)


def title(fact: str) -> str:
    """What a fact is called: "NCCL", "variable NCCL_IB_HCA"."""
    kind = kind_of(fact)
    if not kind.name or kind.name == fact:
        return kind.title or fact
    return f"{kind.title} {fact.split('.', 1)[1]}"
