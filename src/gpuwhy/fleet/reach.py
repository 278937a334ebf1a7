"""Reach: what the nodes say of their way to the rendezvous, each in a line, put together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import msgspec

from gpuwhy.border.plain import one_line
from gpuwhy.fleet.line import clean_name
from gpuwhy.fleet.read import label_of

SCHEMA = "gpuwhy.reach/1"
BEGINS = b'{"schema":"gpuwhy.reach/1"'
MOST = 1 << 16


class Steered(msgspec.Struct, frozen=True):
    """What a variable leaves of the interfaces, and whether the way goes over one of them."""

    value: str = ""
    leaves: list[str] = []
    fits: Union[bool, None] = None


class Reached(msgspec.Struct, frozen=True):
    """One node's side."""

    schema: str
    node: str
    role: str = "reach"
    ok: bool = False
    stage: str = ""
    text: str = ""
    interface: str = ""
    ms: float = 0.0
    came: list[str] = []
    steered: dict[str, Steered] = {}


_DECODER = msgspec.json.Decoder(Reached)


def take(line: bytes | None) -> tuple[str, Reached] | None:
    """A node's name and its answer; None for a line that is none."""
    place = line.find(BEGINS) if line and len(line) <= MOST else -1
    if place < 0 or line is None:
        return None
    try:
        said = _DECODER.decode(line[place:])
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return None
    return label_of(line[:place].decode("utf-8", "replace")) or clean_name(said.node), said


def together(answers: Iterable[tuple[str, Reached]], where: str) -> dict[str, Any]:
    """All of them in plain values (`gpuwhy.reached/1`): who listened, who came through, who did not and why."""
    listened, reached, failed, steered = [], [], [], []
    for name, said in answers:
        if said.role == "listen":
            listened.append({"node": name, "ok": said.ok, "came": len(said.came), "text": _short(said.text)})
        elif said.ok:
            reached.append({"node": name, "interface": _short(said.interface), "ms": said.ms})
        else:
            failed.append({"node": name, "stage": _short(said.stage), "text": _short(said.text)})
        for variable, one in list(said.steered.items())[:8]:
            if one.fits is False or not one.leaves:
                left = [_short(interface) for interface in one.leaves[:8]]
                steered.append({"node": name, "variable": _short(variable), "value": _short(one.value), "leaves": left})
    return {
        "schema": "gpuwhy.reached/1",
        "to": where,
        "listened": listened,
        "reached": reached,
        "failed": failed,
        "steered": steered,
    }


def _short(text: str) -> str:
    return one_line(text)[:200]
