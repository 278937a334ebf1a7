"""The JSON Schemas of the contracts, as they ship: copies of docs/*.schema.json that tools/docs.py writes."""

from __future__ import annotations

from importlib import resources
from typing import Any

import msgspec


def schema(name: str) -> dict[str, Any]:
    """The schema of a contract: report, plan, releases …; an object at the top, as the readers of tools want it."""
    found = resources.files("gpuwhy.schemas").joinpath(f"{name}.schema.json").read_bytes()
    value: dict[str, Any] = msgspec.json.decode(found)
    inner = str(value.get("$ref", "")).removeprefix("#/$defs/")
    if inner:
        value = {**{k: v for k, v in value.items() if k != "$ref"}, **value["$defs"][inner]}
    return value


def bare(value: Any) -> Any:
    """A schema without what explains it to people."""
    if isinstance(value, dict):
        kept = {
            k: bare(v)
            for k, v in value.items()
            if not (k in ("description", "title") and isinstance(v, str))
        }
        return {k: v for k, v in kept.items() if k not in ("$id", "$schema")}
    return [bare(one) for one in value] if isinstance(value, list) else value
