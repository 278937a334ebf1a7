"""Line: a node's answer in one line, and the only way to read one.

Whatever the line holds, the reader comes to no harm.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Union

import msgspec

from gpuwhy.answer.text import plain
from gpuwhy.fleet.answer import NODE, Answer, CauseSeen, Value
from gpuwhy.fleet.kinds import kind_of

MOST = 4 << 20
"""The longest line that is read."""
MOST_FACTS, MOST_CAUSES, MOST_FAMILIES = 1024, 64, 16
LONGEST_NAME, LONGEST_VALUE = 128, 400
_CAUSE = re.compile(r"[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,40}")
_FACT = re.compile(r"[a-z][a-z0-9_]{0,20}(?:\.[\w.+-]{1,100})?", re.ASCII)
_STATUS = ("healthy", "broken", "degraded", "unknown")
_NAME = re.compile(r"[\w.@:/+ -]{1,128}", re.ASCII)
BEGINS = re.compile(rb'\{\s*"schema"\s*:\s*"gpuwhy\.node/')
"""How an answer begins, wherever a launcher put it in the line."""


class BadLineError(ValueError):
    """The line is no answer that can be used; the text says why."""


def encoded(
    node: str, time: float, report: dict[str, Any], facts: dict[str, Value], whole: list[str]
) -> str:
    """The one line: no secrets, no names of people, no line ends inside."""
    from gpuwhy.machine.redact import of_this_machine

    value = {
        "schema": NODE,
        "node": node,
        "time": round(time, 3),
        "gpuwhy": report.get("gpuwhy", ""),
        "facts": {name: value for name, value in sorted(facts.items()) if value is not None},
        "unseen": sorted(name for name, value in facts.items() if value is None),
        "whole": whole,
        "report": {**report, "facts": {}},
    }
    hidden = of_this_machine().values(value)
    return json.dumps({**hidden, "node": node}).replace("\x7f", "\\u007f")


class _Report(msgspec.Struct, frozen=True):
    status: str = "unknown"
    headline: str = ""
    causes: list[CauseSeen] = []


class _Line(msgspec.Struct, frozen=True):
    schema: str
    node: str
    time: float = 0.0
    gpuwhy: str = ""
    facts: dict[str, Union[str, int, float, bool, None]] = {}
    whole: list[str] = []
    report: _Report = _Report()
    received: float = 0.0
    label: str = ""


_DECODER = msgspec.json.Decoder(_Line)


def decoded(data: bytes) -> Answer:
    """An answer, cut to size and without what steers a terminal; else raises BadLineError."""
    if len(data) > MOST:
        raise BadLineError(f"longer than {MOST >> 20} MiB")
    try:
        line = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError) as error:
        raise BadLineError(_short(str(error), 160)) from error
    if line.schema != NODE:
        raise BadLineError(f"schema {_short(line.schema, 40)!r}; this gpuwhy reads {NODE!r}")
    if len(line.facts) > MOST_FACTS:
        raise BadLineError(f"{len(line.facts):,} facts; no node has more than {MOST_FACTS:,}")
    values = ((name, _value(name, raw)) for name, raw in line.facts.items() if _is_fact(name))
    causes = (one for one in line.report.causes[:MOST_CAUSES] if _CAUSE.fullmatch(one.id))
    return Answer(
        node=clean_name(line.node),
        time=_finite(line.time),
        gpuwhy=_short(line.gpuwhy, 40),
        status=line.report.status if line.report.status in _STATUS else "unknown",
        headline=_short(line.report.headline, LONGEST_VALUE),
        causes=tuple(map(_cause, causes)),
        own={name: value for name, value in values if value is not None},
        whole=tuple(filter(_is_fact, line.whole[:MOST_FAMILIES])),
        received=_finite(line.received),
        label=clean_name(line.label) if line.label else "",
    )


def _is_fact(name: str) -> bool:
    return _FACT.fullmatch(name) is not None


def _cause(one: CauseSeen) -> CauseSeen:
    confidence = min(1.0, max(0.0, _finite(one.confidence)))
    return CauseSeen(one.id, _short(one.title, LONGEST_VALUE), confidence)


def _finite(number: float) -> float:
    return number if math.isfinite(number) and abs(number) < 1e15 else 0.0


def _value(fact: str, value: Value | bool) -> Value:
    """A value of its kind's type; a number where numbers are compared, or nothing."""
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) and abs(value) < 2**63 else None
    if value is None or (kind_of(fact).worse != "any" and fact != "driver.cuda"):
        return None
    return _short(value, LONGEST_VALUE)


def _short(text: str, most: int) -> str:
    text = plain(text[: most * 2])
    return text if len(text) <= most else text[: most - 1] + "…"


def clean_name(name: str) -> str:
    """A node's name of harmless characters, never empty."""
    if _NAME.fullmatch(name):
        return name.strip() or "?"
    return re.sub(r"[^\w.@:/+-]", "?", plain(name[:LONGEST_NAME]), flags=re.ASCII) or "?"
