"""Facts for cause fixtures: a healthy machine, and a fixture's differences from it.

A fixture is JSON: {"why": …, "base": "healthy", "facts": {"driver.module_version": {"absent": "/proc/…"}}}.
{"known": v}, {"absent": where}, {"unknown": reason, "kind": …} stand for the three states, at any depth. A path may go
through tuples by number: "devices.devices.0.compute_mode". {"log": …} is the output of a program, in our own words
around its message: then the text decides, together with the facts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.model.facts import Facts

HERE = Path(__file__).parent


def expand(value: Any) -> Any:
    """Write the three states out in full."""
    if isinstance(value, dict):
        if set(value) == {"known"}:
            return {"state": "known", "value": expand(value["known"]), "source": {"kind": "file", "where": "fixture"}}
        if set(value) == {"absent"}:
            return {"state": "absent", "source": {"kind": "file", "where": str(value["absent"])}}
        if set(value) in ({"unknown"}, {"unknown", "kind"}):
            return {"state": "unknown", "reason": value["unknown"], "kind": value.get("kind", "")}
        return {k: expand(v) for k, v in value.items()}
    if isinstance(value, list):
        return [expand(v) for v in value]
    return value


def change(facts: Any, path: str, value: Any) -> None:
    """Replace what `path` names inside facts given as plain values; records refuse a field that they do not have."""
    *way, last = path.split(".")
    for step in way:
        facts = _inside(facts)
        facts = facts[int(step)] if isinstance(facts, list) else facts[step]
    facts = _inside(facts)
    key: Any = int(last) if isinstance(facts, list) else last
    facts[key] = expand(value)


def _inside(facts: Any) -> Any:
    return facts["value"] if isinstance(facts, dict) and "state" in facts else facts


def base(name: str) -> Any:
    """The named base as plain values, every field present."""
    written = expand(json.loads((HERE / f"{name}.json").read_text()))
    return json.loads(msgspec.json.encode(msgspec.convert(written, type=Facts)))


def load(fixture: Path) -> tuple[str, Facts]:
    """A fixture's argument and its facts."""
    described = json.loads(fixture.read_text())
    plain = base(described.get("base", "healthy"))
    for path, value in described["facts"].items():
        change(plain, path, value)
    return described["why"], msgspec.convert(plain, type=Facts)


def log_of(fixture: Path) -> str:
    """The program's output that a fixture carries, or ""."""
    return str(json.loads(fixture.read_text()).get("log", ""))
