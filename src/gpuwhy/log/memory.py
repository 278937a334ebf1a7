"""Memory: the sizes that a text states, in bytes, each by what it is an amount of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.log.case import Figures
from gpuwhy.log.expressions import Expressions
from gpuwhy.log.message import Message
from gpuwhy.log.page import Page

_E = Expressions("memory")

NEAR = 44
"""How many characters before and after a number say what it is of."""
BYTES = 1 << 22
"""A number without a unit is one of bytes from here on."""
FIELDS = {
    "asked": ("wanted",),
    "free": ("free",),
    "total": ("total",),
    "held": ("reserved", "held", "used"),
    "allocated": ("allocated",),
    "cap": ("allowed", "limit"),
}
"""The fields of Figures, and of messages that state them."""
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
MOST = 1 << 15


def size_of(text: str) -> int | None:
    """The bytes of "2.50 GiB"; None where it is no size."""
    found = _E.size.match(text.strip())
    if not found or not found["number"].strip(".,"):
        return None
    try:
        number = float(found["number"].replace(",", "").rstrip("."))
    except ValueError:
        return None
    shift = _UNITS.get((found["unit"] or "b")[0].lower(), 0)
    return int(number * (1 << shift))


def figures_of(page: Page, messages: Sequence[Message]) -> Figures | None:
    """What the allocator's message states, and besides what the text says of memory."""
    failed = [one for one in messages if one.family in ("memory", "cuda", "told")]
    stated: dict[str, int] = {}
    line, device = 0, ""
    for one in failed:
        if one.family == "told" and one.id != "told.gpu_memory":
            continue
        for field, names in FIELDS.items():
            sizes = (size_of(one.get(name)) for name in names if one.get(name))
            size = next((size for size in sizes if size is not None), None)
            if size is not None and field not in stated:
                stated[field] = size
                line = line or one.line
        device = device or one.get("device")
    for field, size, number in _in_words(page):
        if field not in stated and field in Figures.__struct_fields__:
            stated[field] = size
            line = line or number
    if _E.nothing.search(page.text):
        stated["held"] = 0
    if not stated:
        return None
    names = ("asked", "free", "total", "held", "allocated")
    total, free, held = stated.get("total"), stated.get("free"), stated.get("held")
    others = None
    if total is not None and free is not None and held is not None:
        others = max(0, total - free - held)
    figures = {name: stated.get(name) for name in names}
    return Figures(**figures, others=others, cap=stated.get("cap"), device=device, line=line)


def _in_words(page: Page) -> Iterator[tuple[str, int, int]]:
    """The sizes that a text states in words of its own; of several of a kind the last."""
    text = page.text if len(page.text) <= MOST else page.text[-MOST:]
    offset = len(page.text) - len(text)
    if not _E.label.search(text):
        return
    found = [one for one in _E.number.finditer(text) if _bytes(one) > 0]
    ends = [0, *(one.end() for one in found)]
    starts = [*(one.start() for one in found), len(text)][1:]
    last: dict[str, tuple[int, int]] = {}
    for one, end, start in zip(found, ends, starts, strict=False):
        tail = _E.tail.match(text, end) if end else None
        before = text[tail.end() if tail else end : one.start()]
        kind = _before(before[-NEAR:]) or _after(text[one.end() : start][:NEAR])
        if kind:
            last[kind] = (_bytes(one), page.line(one.start() + offset))
    for kind, (size, line) in last.items():
        yield kind, size, line


def _bytes(found: re.Match[str]) -> int:
    """The bytes of a number; 0 for one that is none of memory."""
    number, unit = float(found["number"].replace(",", "")), (found["unit"] or "").lower()
    if unit in ("b", "bytes", ""):
        return int(number) if unit or number >= BYTES else 0
    return int(number * (1 << _UNITS[unit[0]]))


def _before(words: str) -> str:
    last = _E.end.split(words.replace("()", ""))[-1]
    kinds = [one.lastgroup or "" for one in _E.label.finditer(last)]
    return "largest" if "largest" in kinds else kinds[-1] if kinds else ""


def _after(words: str) -> str:
    found = _E.label.search(_E.end.split(words.replace(" and ", ", "))[0])
    return found.lastgroup or "" if found else ""
