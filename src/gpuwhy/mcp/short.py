"""Short forms: an agent pays for every word, so an answer keeps what decides, and the rest waits under a name."""

from __future__ import annotations

import re
import threading
from typing import Any, NamedTuple

import msgspec

TOKENS = 1_150
"""Pieces of the text beside an answer: 1,200 tokens of a tokeniser, which counts 0.8 to 1.05 of ours for such texts."""
VALUES = 1_420
"""Pieces of the structured answer: again 1,200 tokens, as JSON's marks go two or three to a token."""
TEXT = 3_600
"""Characters of a page of `more`, and of an error."""
KEPT = 24
"""Whole answers that are kept for `more`, the newest."""
KEPT_BYTES = 24 << 20
LONG = 160
EMPTIED: dict[str, tuple[str, ...]] = {
    "gpuwhy.report/1": ("facts", "ruled_out", "symptoms"),
    "gpuwhy.plan/1": ("machine.installed", "machine.lines", "proposal.libraries", "proposal.passed", "conflict.passed"),
    "gpuwhy.releases/1": (),
    "gpuwhy.proof/1": ("experiments",),
}
"""Lists and tables that a short form leaves empty, by contract."""
DROPPED: dict[str, tuple[str, ...]] = {"gpuwhy.cause/1": ("page",)}
"""Fields that the contract does not demand and the text holds already."""


_PIECE = re.compile(r"[A-Za-z]{1,6}|\d{1,2}|[^\w\s]|_|\n|[^\S\n]{2,}")
_LARGE = 40_000


def tokens(text: str) -> int:
    """About how many tokens a text is; numbers and marks cost more than words."""
    return sum(1 for _ in _PIECE.finditer(text))


def size(value: Any) -> int:
    """Characters of a value as JSON."""
    return len(msgspec.json.encode(value))


def _fits(value: Any, most: int) -> bool:
    data = msgspec.json.encode(value)
    return len(data) <= _LARGE and tokens(data.decode()) <= most


def short(value: dict[str, Any], most: int = VALUES) -> dict[str, Any]:
    """The value within a budget, still in its contract: lists lose their ends, long texts theirs."""
    contract = str(value.get("schema", ""))
    value = {k: v for k, v in value.items() if k not in DROPPED.get(contract, ())}
    if contract == "gpuwhy.releases/1":
        value["releases"] = _newest_first([_unproven(row) for row in value.get("releases", [])])
    if _fits(value, most):
        return value
    for path in EMPTIED.get(contract, ()):
        value = _emptied(value, path.split("."))
    if "causes" in value and not _fits(value, most):
        value = {**value, "causes": [*value["causes"][:1], *map(_named, value["causes"][1:])]}
    for longest in (12, 6, 4, 3, 2, 1):
        if _fits(value, most):
            break
        value = _cut(value, longest)
    return value


def _newest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of one project; those of several are one of each, in their order."""
    return rows if len({row["name"] for row in rows}) > 1 else rows[::-1]


def _unproven(row: dict[str, Any]) -> dict[str, Any]:
    """A release without the files that show it; `releases` with a version tells them, and `more`."""
    return {**row, "evidence": {}}


def _named(cause: dict[str, Any]) -> dict[str, Any]:
    """A cause that is not the first: what it is and its first reason, without evidence and remedies."""
    said = [{"text": one["text"]} for one in cause.get("because", [])[:1]]
    return {**{name: [] if isinstance(part, list) else part for name, part in cause.items()}, "because": said}


def _emptied(value: Any, path: list[str]) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    inner = value[path[0]]
    empty = {} if isinstance(inner, dict) else [] if isinstance(inner, list) else inner
    return {**value, path[0]: _emptied(inner, path[1:]) if path[1:] else empty}


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, dict):
        return {k: _cut(v, longest) for k, v in value.items()}
    if isinstance(value, list):
        return [_cut(v, longest) for v in value[:longest]]
    if isinstance(value, str) and len(value) > max(LONG, 100 * longest):
        return value[: max(LONG, 100 * longest) - 2] + " …"
    return value


def cut_lines(lines: list[str], most: int) -> tuple[str, bool]:
    """Whole lines up to a budget of tokens, and whether any are left."""
    out: list[str] = []
    used = 0
    for line in lines:
        line = line if len(line) <= 600 else line[:598] + " …"
        used += tokens(line) + 1
        if used > most:
            return "\n".join(out), True
        out.append(line)
    return "\n".join(out), False


class Page(NamedTuple):
    """A piece of a whole answer: its text, where it and the next piece start (None: no next), the whole length."""

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
            while len(self._all) > KEPT or (len(self._all) > 1 and sum(map(len, self._all.values())) > KEPT_BYTES):
                del self._all[next(iter(self._all))]
        return name

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
    """A part of an answer by names and numbers with dots between; raises KeyError with what there is."""
    for step in filter(None, path.split(".")):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise KeyError(f"no {step!r} there; there is {_choices(value)}")
    return value


def _choices(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(map(str, list(value)[:40])) or "nothing"
    return f"0 to {len(value) - 1}" if isinstance(value, list) and value else "nothing below it"


def page(value: Any, start: int, most: int = TEXT) -> Page:
    """A piece of a part as JSON, ending between lines where it can."""
    text = value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    piece = text[start : start + most]
    more = start + len(piece) < len(text)
    if more and "\n" in piece[most // 2 :]:
        piece = piece[: piece.rindex("\n") + 1]
    return Page(piece, start, start + len(piece) if more else None, len(text))
