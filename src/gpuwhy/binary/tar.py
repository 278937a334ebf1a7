"""The entries of a tar archive in order: ustar, GNU and pax. Every number in it is treated as hostile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from gpuwhy.binary import CutError, MalformedError, Pread

HEADER = 512
MAX_EXTRA = 1 << 20  # of a long name or a pax header; Go's reader, and so every container engine, has the same limit
_WINDOW = 64 << 10
_MAX_DIGITS = 20

Kind = Literal["file", "folder", "link", "hard", "char", "block", "other", "sparse"]
_KINDS: dict[bytes, Kind] = {
    b"0": "file", b"\0": "file", b"7": "file", b"1": "hard", b"2": "link", b"3": "char", b"4": "block",
    b"5": "folder", b"6": "other", b"S": "sparse",
}  # fmt: skip
_BODILESS = frozenset({"hard", "link", "char", "block", "folder", "other"})
_RECORD = re.compile(rb"(\d{1,7}) ([^=\n]+)=")


class Entry(NamedTuple):
    """One entry: its name as written, and where its bytes lie."""

    name: str
    kind: Kind
    mode: int
    mtime: float
    size: int
    offset: int
    target: str


class _Window:
    """Small reads next to each other, served from one larger one."""

    def __init__(self, pread: Pread) -> None:
        self._pread = pread
        self._start = 0
        self._data = b""

    def read(self, offset: int, size: int) -> bytes:
        place = offset - self._start
        if place < 0 or place + size > len(self._data):
            self._start, self._data, place = offset, self._pread(offset, max(size, _WINDOW)), 0
        return self._data[place : place + size]


def looks_like_tar(head: bytes) -> bool:
    """Whether the first 512 bytes are a tar header, by its checksum."""
    return len(head) == HEADER and any(head) and _checksum(head)


def read_tar(pread: Pread) -> Iterator[Entry]:
    """Every entry, in the archive's order; raises MalformedError where it is damaged or cut short.

    Closing zeros and the last padding may be missing, as umoci writes it; data may not.
    """
    window, place, end, extra = _Window(pread), 0, 0, _Extra()
    while True:
        head = window.read(place, HEADER)
        if len(head) < HEADER or not any(head):
            if (0 < len(head) < HEADER and any(head)) or (end and not pread(end - 1, 1)):
                raise CutError("tar archive is cut short", place)
            return
        if not _checksum(head):
            raise MalformedError("no tar header (wrong checksum)", place)
        size = _number(head[124:136], place)
        start, letter = place + HEADER, head[156:157]
        if letter in b"xgLK":
            extra.add(letter, _body(window, start, size, place))
            end = start + size
            place = end + -end % HEADER
            continue
        entry = _entry(head, letter, start, size, extra, place)
        end = start + (entry.size if letter in _KINDS else size)
        place = end + -end % HEADER
        if entry.kind in _BODILESS:
            entry = entry._replace(size=0)
        extra = _Extra()
        if letter in _KINDS:
            yield entry


class _Extra:
    """What headers before an entry's own say of it."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}

    def add(self, letter: bytes, body: bytes) -> None:
        if letter == b"x":
            self.fields.update(_records(body))
        elif letter in b"LK":
            name = body.partition(b"\0")[0].decode("utf-8", "surrogateescape")
            self.fields["path" if letter == b"L" else "linkpath"] = name


def _records(body: bytes) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(body) and (found := _RECORD.match(body, place)):
        end = place + int(found[1])
        if end <= found.end() or end > len(body):
            return
        value = body[found.end() : end - 1]
        yield found[2].decode("utf-8", "replace"), value.decode("utf-8", "surrogateescape")
        place = end


def _body(window: _Window, start: int, size: int, place: int) -> bytes:
    if size > MAX_EXTRA:
        raise MalformedError(f"tar header extension of {size} bytes", place)
    body = window.read(start, size)
    if len(body) < size:
        raise CutError("tar archive is cut short", place)
    return body


def _entry(head: bytes, letter: bytes, start: int, size: int, extra: _Extra, place: int) -> Entry:
    fields = extra.fields
    name = fields.get("path") or _name(head)
    kind: Kind = _KINDS.get(letter, "other")
    if kind == "file" and name.endswith("/"):
        kind = "folder"
    if any(key.startswith("GNU.sparse.") for key in fields):
        kind = "sparse"
    if "size" in fields:
        size = int(fields["size"]) if fields["size"].isdecimal() and len(fields["size"]) < _MAX_DIGITS else size
    target = fields.get("linkpath") or _text(head[157:257])
    return Entry(name, kind, _number(head[100:108], place) & 0o7777, _mtime(head, fields, place), size, start, target)


def _name(head: bytes) -> str:
    prefix = _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
    return f"{prefix}/{_text(head[:100])}" if prefix else _text(head[:100])


def _mtime(head: bytes, fields: dict[str, str], place: int) -> float:
    if re.fullmatch(r"-?\d{1,12}(\.\d{1,12})?", fields.get("mtime", "")):
        return float(fields["mtime"])
    return float(_number(head[136:148], place))


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _number(field: bytes, place: int) -> int:
    """Octal digits, or GNU's binary form for what is too large for them."""
    if field[0] & 0x80:
        if field[0] != 0x80:
            raise MalformedError("tar header with a negative or absurd number", place)
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip()
    if digits and not re.fullmatch(rb"[0-7]+", digits):
        raise MalformedError("tar header with a number that is none", place)
    return int(digits, 8) if digits else 0


def _checksum(head: bytes) -> bool:
    said = head[148:156].partition(b"\0")[0].strip()
    if not re.fullmatch(rb"[0-7]{1,7}", said):
        return False
    return sum(head) - sum(head[148:156]) + 8 * 32 == int(said, 8)
