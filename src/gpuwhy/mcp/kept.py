"""Whole answers that wait under a name, and what of a long one is sent at once."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import msgspec

TEXT = 4_000
"""Characters of an answer's text, of a page of `more`, and of an error."""
VALUES = 6_000
"""Characters of a structured answer as JSON."""
KEPT = 24
"""Whole answers that are kept for `more`, the newest."""
KEPT_BYTES = 24 << 20
LONG = 160


def size(value: Any) -> int:
    """Characters of a value as JSON."""
    return len(msgspec.json.encode(value))


def short(value: dict[str, Any], most: int = VALUES) -> dict[str, Any]:
    """The value in few characters, still in its contract."""
    if size(value) > most and "facts" in value:
        value = {**value, "facts": {}}
    for longest in (12, 6, 4, 3, 2, 1):
        if size(value) <= most:
            break
        value = _cut(value, longest)
    return value


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut(one, longest) for name, one in value.items()}
    if isinstance(value, list):
        return [_cut(one, longest) for one in value[:longest]]
    most = max(LONG, 100 * longest)
    if isinstance(value, str) and len(value) > most:
        return value[: most - 2] + " …"
    return value


def cut_text(text: str, most: int = TEXT) -> tuple[str, bool]:
    """The beginning of a text, whole lines, and whether any are left."""
    if len(text) <= most:
        return text, False
    return text[: text.rfind("\n", 0, most) + 1 or most], True


class Page(NamedTuple):
    """A piece of a whole answer: its text, where it and the next piece start, the whole length."""

    text: str
    start: int
    next: int | None
    total: int


class Kept:
    """The last whole answers, by name: a1, a2 …"""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, bytes] = {}
        self._count = 0

    def keep(self, value: dict[str, Any]) -> str:
        """Keep an answer; the oldest make room."""
        data = msgspec.json.encode(value)
        with self._lock:
            self._count += 1
            name = f"a{self._count}"
            self._all[name] = data
            while len(self._all) > KEPT or (len(self._all) > 1 and self._size() > KEPT_BYTES):
                del self._all[next(iter(self._all))]
        return name

    def _size(self) -> int:
        return sum(map(len, self._all.values()))

    def names(self) -> list[str]:
        """The names of those that are there."""
        with self._lock:
            return list(self._all)

    def get(self, name: str) -> dict[str, Any] | None:
        """A whole answer."""
        with self._lock:
            data = self._all.get(name)
        return None if data is None else msgspec.json.decode(data)


def part(value: Any, path: str) -> Any:
    """A part of an answer by names and numbers with dots between; raises ValueError."""
    for step in filter(None, path.split(".")):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise ValueError(f"no {step!r} there; there is {_choices(value)}")
    return value


def _choices(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(map(str, list(value)[:40])) or "nothing"
    return f"0 to {len(value) - 1}" if isinstance(value, list) and value else "nothing below it"


def page(value: Any, start: int, most: int = TEXT) -> Page:
    """A piece of a part as JSON, ending between lines where it can."""
    text = value
    if not isinstance(value, str):
        text = msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    piece = text[start : start + most]
    more = start + len(piece) < len(text)
    if more and "\n" in piece[most // 2 :]:
        piece = piece[: piece.rindex("\n") + 1]
    return Page(piece, start, start + len(piece) if more else None, len(text))
