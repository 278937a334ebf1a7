"""Fixtures: a healthy machine, and per cause the fields in which each machine differs from it.

`{"known": v}`, `{"absent": where}` and `{"unknown": reason, "kind": …}` stand for the three states,
at any depth.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from gpuwhy.facts.facts import Facts, load
from gpuwhy.facts.finding import Finding, Weight
from gpuwhy.signs.judged import judge

FOLDER = Path(__file__).parent / "fixtures"
ORDER = ("shown", "possible", "undetermined", "ruled-out")


class Fixture(NamedTuple):
    cause: str
    name: str
    state: str
    why: str
    facts: dict[str, Any]


def fixtures() -> list[Fixture]:
    out = []
    for file in sorted(FOLDER.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            out.append(Fixture(file.name.removesuffix(".jsonl"), **json.loads(line)))
    return out


def facts_of(changes: dict[str, Any]) -> Facts:
    healthy = json.loads((FOLDER / "healthy.json").read_text(encoding="utf-8"))
    made: dict[str, Any] = {}
    for path, value in {**healthy, **changes}.items():
        subject, _, field = path.partition(".")
        made.setdefault(subject, {})[field] = expand(value)
    return load(made)


def expand(value: Any) -> Any:
    if isinstance(value, list):
        return [expand(one) for one in value]
    if not isinstance(value, dict):
        return value
    source = {"kind": "file", "where": "fixture"}
    if set(value) == {"known"}:
        return {"state": "known", "value": expand(value["known"]), "source": source}
    if set(value) == {"absent"}:
        return {"state": "absent", "source": {**source, "where": str(value["absent"])}}
    if set(value) in ({"unknown"}, {"unknown", "kind"}):
        reason, kind = value["unknown"], value.get("kind", "")
        return {"state": "unknown", "reason": reason, "kind": kind}
    return {name: expand(one) for name, one in value.items()}


def state_of(facts: Facts, cause: str) -> str:
    """A proof decides, then an observation against, then a strong sign; the best subject counts."""
    judged = judge(facts)
    found: dict[str, list[Finding]] = {}
    for one in judged.findings:
        if one.cause == cause:
            found.setdefault(one.subject, []).append(one)
    unseen = {one.subject for one in judged.undecided if one.cause == cause}
    states = [_state([one.weight for one in found.get(s, ())], s in unseen) for s in {*found, *unseen}]
    return min(states, key=ORDER.index, default="ruled-out")


def _state(weights: list[Weight], unseen: bool) -> str:
    if Weight.PROOF in weights:
        return "shown"
    if Weight.AGAINST in weights:
        return "ruled-out"
    if Weight.STRONG in weights:
        return "shown"
    if unseen:
        return "undetermined"
    return "possible" if Weight.WEAK in weights else "ruled-out"
