"""Tar archives, entry by entry: ustar, GNU and pax. Every number is treated as hostile."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from gpuwhy.formats import CutError, MalformedError, Pread

HEADER = 512
_MAX_EXTRA = 1 << 20  # of a long name or a pax header, as in Go's reader and so in every engine
_WINDOW = 64 << 10
_MAX_DIGITS = 20

Kind = Literal["file", "folder", "link", "hard", "char", "block", "other", "sparse"]
_KINDS: dict[bytes, Kind] = {
    b"\0": "file",
    b"0": "file",
    b"1": "hard",
    b"2": "link",
    b"3": "char",
    b"4": "block",
    b"5": "folder",
    b"6": "other",
    b"7": "file",
    b"S": "sparse",
}
_WITH_BYTES = ("file", "sparse")
_RECORD = re.compile(rb"(\d{1,7}) ([^=\n]+)=")
_TIME = re.compile(r"-?\d{1,12}(\.\d{1,12})?")


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
            self._start, self._data = offset, self._pread(offset, max(size, _WINDOW))
            place = 0
        return self._data[place : place + size]


def looks_like_tar(head: bytes) -> bool:
    """Whether the first 512 bytes are a tar header, by its checksum."""
    return len(head) == HEADER and any(head) and _checksum(head)


def read_tar(pread: Pread) -> Iterator[Entry]:
    """Every entry, in the archive's order; raises MalformedError where it is damaged or cut short.

    Closing zeros and the last padding may be missing, as umoci writes it; data may not.
    """
    window, place, end = _Window(pread), 0, 0
    fields: dict[str, str] = {}  # what headers before an entry's own say of it
    while True:
        head = window.read(place, HEADER)
        if len(head) < HEADER or not any(head):
            if any(head) or (end and not pread(end - 1, 1)):
                raise CutError("tar archive is cut short", place)
            return
        if not _checksum(head):
            raise MalformedError("no tar header (wrong checksum)", place)
        size, start, letter = _number(head[124:136], place), place + HEADER, head[156:157]
        if letter in b"xgLK":
            fields |= _extra(letter, window, start, size)
        else:
            if letter in _KINDS:
                entry = _entry(head, start, size, fields, place)
                size = entry.size
                yield entry if entry.kind in _WITH_BYTES else entry._replace(size=0)
            fields = {}
        end = start + size
        place = end + -end % HEADER


def _extra(letter: bytes, window: _Window, start: int, size: int) -> dict[str, str]:
    """What an extension says of the entry that follows: a long name (L, K), or pax records (x)."""
    if size > _MAX_EXTRA:
        raise MalformedError(f"tar header extension of {size} bytes", start)
    body = window.read(start, size)
    if len(body) < size:
        raise CutError("tar archive is cut short", start)
    if letter in b"LK":
        return {"path" if letter == b"L" else "linkpath": _text(body)}
    return dict(_records(body)) if letter == b"x" else {}


def _records(body: bytes) -> Iterator[tuple[str, str]]:
    place = 0
    while found := _RECORD.match(body, place):
        end = place + int(found[1])
        if end <= found.end() or end > len(body):
            return
        value = body[found.end() : end - 1]
        yield found[2].decode("utf-8", "replace"), value.decode("utf-8", "surrogateescape")
        place = end


def _entry(head: bytes, start: int, size: int, fields: dict[str, str], place: int) -> Entry:
    name = fields.get("path") or _name(head)
    kind = _KINDS[head[156:157]]
    if kind == "file" and name.endswith("/"):
        kind = "folder"
    if any(key.startswith("GNU.sparse.") for key in fields):
        kind = "sparse"
    wide, time = fields.get("size", ""), fields.get("mtime", "")
    if wide.isdecimal() and len(wide) < _MAX_DIGITS:
        size = int(wide)
    mode = _number(head[100:108], place) & 0o7777
    mtime = float(time if _TIME.fullmatch(time) else _number(head[136:148], place))
    return Entry(
        name, kind, mode, mtime, size, start, fields.get("linkpath") or _text(head[157:257])
    )


def _name(head: bytes) -> str:
    prefix = _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
    return f"{prefix}/{_text(head[:100])}" if prefix else _text(head[:100])


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
