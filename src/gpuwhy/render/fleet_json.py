"""The fleet as JSON: the contract `gpuwhy.fleet/1` (docs/fleet.schema.json). Fields may be added, never renamed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpuwhy.border.shared import as_json
from gpuwhy.model.fleet import SCHEMA, CauseSeen, Fleet, Odd


def fleet_dict(fleet: Fleet) -> dict[str, Any]:
    """The comparison in plain values, in the contract's shape."""
    return {
        "schema": SCHEMA,
        "groups": [
            {
                "nodes": list(group.nodes),
                "status": group.status,
                "headline": group.headline,
                "describes": group.describes,
                "causes": _causes(group.causes),
            }
            for group in fleet.groups
        ],
        "odd": [_odd(one) for one in fleet.odd],
        "silent": [one.node for one in fleet.silent],
        "why_silent": {one.node: one.why for one in fleet.silent if one.why},
        "exclude": list(fleet.bad),
        "scattered": [{"fact": one.fact, "values": one.values, "example": one.example} for one in fleet.scattered],
        "unseen": fleet.unseen,
        "repeated": fleet.repeated,
        "unreadable": {"count": fleet.unreadable_count, "lines": list(fleet.unreadable)},
        "baseline": fleet.baseline or None,
        "gpuwhy": list(fleet.versions),
    }


def _odd(one: Odd) -> dict[str, Any]:
    return {
        "node": one.node,
        "status": one.status,
        "differs": [
            {
                "fact": row.fact,
                "value": row.value,
                "others": row.others,
                "explains": row.explains or None,
                "weight": row.weight,
                "shown": row.shown,
                "same": row.same,
                "of": row.known,
            }
            for row in one.differs
        ],
        "causes": _causes(one.causes),
    }


def _causes(causes: Iterable[CauseSeen]) -> list[dict[str, Any]]:
    return [{"id": one.id, "title": one.title, "confidence": one.confidence} for one in causes]


def render(fleet: Fleet) -> str:
    """Indented JSON, ending in a newline."""
    return as_json(fleet_dict(fleet), nodes=True)
