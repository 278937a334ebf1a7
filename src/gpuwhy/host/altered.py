"""Altered: of the files that a RECORD lists, those that are there and are not what was installed.

A file of the recorded size is hashed only where it was written after its RECORD, which installers write last; so an
environment that nobody touched costs one look at each file.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from gpuwhy.formats import MalformedError
from gpuwhy.formats.elf import read_sections
from gpuwhy.host.base import Stat

MOST, MOST_HASHED, MOST_BYTES = 60, 600, 256 << 20
LATER = 2.0  # seconds after its RECORD
_FILE = re.compile(r"\.py$|\.so(\.\d+)*$")
_HOLE = 16384  # bytes of zeros in a row
_TAIL = 256  # bytes
_PLACES = 16  # of a library, looked at for zeros
_LARGE = 1 << 16
_DENSE = frozenset({".text", ".dynsym", ".dynstr"})
"""Sections in which a linker leaves no such run."""


class Reader(NamedTuple):
    """How files are looked at."""

    place: Callable[[str], str]
    stat: Callable[[str], Stat]
    parts: Callable[[str], Iterable[bytes]]
    readable: Callable[[str], bool]
    opened: Callable[[str], AbstractContextManager[Any]]


class Row(NamedTuple):
    """One line of a RECORD."""

    name: str
    digest: str
    size: int


def altered(record: bytes, path: str, reader: Reader, everything: bool = False) -> tuple[str, ...]:
    """'how name' of each: folder, denied, size:INSTALLED, bytes, hole (zeros in it), added (whole, and more behind it).

    With `everything` each file is hashed, whatever its time and size.
    """
    site, out = path.rsplit("/", 2)[0], list[str]()
    written, count, room = reader.stat(reader.place(path)).mtime, MOST_HASHED, MOST_BYTES
    if everything:
        written, count, room = -1.0, len(record), 1 << 62
    for row in _rows(record):
        try:
            whole = reader.place(f"{site}/{row.name}")
            stat = reader.stat(whole)
        except OSError:
            continue
        if not stat.size:
            continue
        emptied = _looks_empty(reader, whole, stat)
        doubted = stat.size != row.size or stat.mtime > written + LATER or emptied
        if doubted:
            count, room = count - 1, room - stat.size
        how = _how(reader, whole, row, stat, doubted and count >= 0 and room >= 0, emptied)
        if how:
            out.append(f"{how} {row.name}")
        if len(out) >= MOST:
            break
    return tuple(out)


def _rows(record: bytes) -> Iterator[Row]:
    """The modules and libraries, with their hash and size, inside the folder."""
    for line in record.split(b"\n"):
        if b".py," not in line and b".so" not in line:
            continue
        parts = line.decode("utf-8", "surrogateescape").rstrip("\r").rsplit(",", 2)
        if len(parts) != 3 or not parts[1].startswith("sha256=") or not parts[2].isdecimal():
            continue
        if _FILE.search(parts[0]) and not parts[0].startswith(("/", "..", '"')):
            yield Row(parts[0], parts[1].removeprefix("sha256="), int(parts[2][:18]))


def _how(reader: Reader, path: str, row: Row, stat: Stat, hashed: bool, emptied: bool) -> str:
    if stat.kind != "file":
        return "folder"
    if not reader.readable(path):
        return "denied"
    if not hashed and stat.size == row.size:
        return "hole" if emptied and _holed(reader, path) else ""
    if not hashed:
        return f"size:{row.size}"
    same = _begins_as_installed(reader, path, row)
    if stat.size != row.size:
        return "added" if same else f"size:{row.size}"
    return "" if same else "hole" if _holed(reader, path) else "bytes"


def _begins_as_installed(reader: Reader, path: str, row: Row) -> bool:
    """Whether its first bytes, as many as were installed, are those."""
    return digest(reader.parts(path), row.size) == row.digest


def digest(parts: Iterable[bytes], most: int = 1 << 62) -> str:
    """The hash of the first bytes of a file, as a RECORD spells it."""
    sha, left = hashlib.sha256(), most
    for part in parts:
        sha.update(part[:left])
        left -= min(left, len(part))
    return base64.urlsafe_b64encode(sha.digest()).rstrip(b"=").decode()


def _holed(reader: Reader, path: str) -> bool:
    """Whether a library has a run of zeros where code or names of symbols are: a write that never reached the disk."""
    try:
        with reader.opened(path) as file:
            if not any(file.pread(max(0, file.size - _HOLE), _HOLE)):
                return True
            found = read_sections(file.pread, file.size, _DENSE)
            return any(_empty(file.pread, one.offset, one.size) for one in found)
    except MalformedError:
        return False


def _looks_empty(reader: Reader, path: str, stat: Stat) -> bool:
    """Whether a library ends in zeros, or has them in a quarter of some places: as one that was never written whole.

    Some do by themselves (they are padded to large pages), so that this is only a doubt: the hash decides.
    """
    if stat.kind != "file" or path.endswith(".py"):
        return False
    try:
        with reader.opened(path) as file:
            return emptied(file.pread, file.size) if file.emptied is None else bool(file.emptied)
    except (OSError, MalformedError):
        return False


def emptied(pread: Callable[[int, int], bytes], size: int) -> bool:
    """Whether a library of this size looks so, by a few places of it in their order."""
    places = [(2 * at + 1) * size // (2 * _PLACES) for at in range(_PLACES if size > _LARGE else 0)]
    zeros = sum(not any(pread(place, _TAIL)) for place in places)
    return zeros * 4 >= _PLACES or not any(pread(max(0, size - _TAIL), _TAIL))


def _empty(pread: Callable[[int, int], bytes], offset: int, size: int) -> bool:
    run = bytes(_HOLE)
    places = range(offset, offset + size, 1 << 20)
    return any(run in pread(place, min((1 << 20) + _HOLE, offset + size - place)) for place in places)
