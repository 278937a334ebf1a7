"""The index behind "paste an error": the messages of the catalogue and of the rooms, with the causes they speak for.

The page weighs them in the reader's browser as `reason/tally.py` does, only more simply: a clue with a condition counts
half, a message that has only such clues does not take the place of a plainer one, and there are no facts. It leads to a
cause's page; `gpuwhy explain` is what answers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from gpuwhy.knowledge import codes
from gpuwhy.model.signature import Signature
from gpuwhy.model.symptom import always
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.rooms import clues
from gpuwhy.symptoms.catalogue import signatures

CONDITIONAL = 0.5
_NAMED = re.compile(r"\(\?P<(\w+)>")
_EMPTY = re.compile(r"(?<!\\)\[(\^?)\]")


def index() -> dict[str, Any]:
    """What the page loads."""
    weights = _weights()
    rows = [_row(one, weights) for one in signatures() if not one.table and one.role != "told"]
    return {
        "causes": {one.id: one.title for one in CAUSES},
        "messages": [row for row in rows if row["for"] or row["yields"] or row["covers"]],
        "statuses": _statuses(weights),
    }


def _weights() -> dict[str, dict[str, float]]:
    """Signature, or a family of them, to the weight of each cause: the heaviest of its clues."""
    out: dict[str, dict[str, float]] = {}
    for clue in clues():
        weight = clue.weight * (1.0 if clue.when is always else CONDITIONAL)
        causes = out.setdefault(clue.signature, {})
        causes[clue.cause] = max(causes.get(clue.cause, -9.0), weight)
    return out


def _row(one: Signature, weights: dict[str, dict[str, float]]) -> dict[str, Any]:
    return {
        "id": one.id,
        "re": browser(one.pattern),
        "any": list(one.anchors),
        "role": one.role,
        "covers": list(one.covers),
        "sure": _sure(one.id),
        "yields": one.yields,
        "for": _for(one.id, weights),
    }


@cache
def _unconditional() -> frozenset[str]:
    return frozenset(clue.signature for clue in clues() if clue.when is always)


def _sure(name: str) -> bool:
    """Whether a message speaks for a cause whatever stands around it; one without clues explains its line away."""
    mine = {clue.signature for clue in clues() if clue.signature == name}
    return not mine or name in _unconditional()


def _for(name: str, weights: dict[str, dict[str, float]]) -> dict[str, float]:
    """The causes that a message speaks for: by itself, and as one of its family."""
    found: dict[str, float] = {}
    for said, causes in weights.items():
        if said == name or (said.endswith((".", "_")) and name.startswith(said)):
            found |= {cause: max(weight, found.get(cause, -9.0)) for cause, weight in causes.items()}
    return found


def _statuses(weights: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """The names of statuses, and what their APIs print for them, with their causes."""
    rows = []
    for one in codes.everything():
        names = [text.lower() for text in (*one.names, *one.says) if len(text) > 6]
        found = _for(codes.signature(one), weights) if names else {}
        rows += [{"id": codes.signature(one), "names": names, "for": found}] if found else []
    return rows


def browser(pattern: str) -> str:
    """A Python expression as a browser reads it; names of groups are of no use there."""
    pattern = _NAMED.sub("(", pattern).replace("(?-i:", "(?:")
    return _EMPTY.sub(lambda found: f"[{found[1]}\\]", pattern).replace("\\Z", "$").replace("\\A", "^")
