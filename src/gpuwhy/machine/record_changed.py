"""Which files of a RECORD are not there, or not what was installed.

A file of the recorded size is hashed only where it was written after its RECORD, which installers
write last: an environment that nobody touched costs one look at each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from gpuwhy.formats import MalformedError
from gpuwhy.machine.machine import Changed, Changes, How, Stat
from gpuwhy.machine.reading import lines_with

if TYPE_CHECKING:
    from gpuwhy.machine.files import FileSystem

MOST, MOST_HASHED, MOST_BYTES = 1000, 600, 256 << 20
"""Rows that are reported, and what is hashed in one RECORD below the level "hashes"."""
_LATER = 2.0  # seconds after its RECORD
_LIBRARY = re.compile(r"\.(?:so(?:\.\d+)*|dll|pyd|dylib)$")
_LIBRARY_LINES = (".so", ".pyd,", ".dll,", ".dylib,")
_INSIDE = re.compile(r"(?![/~\\\"]|\.\.|.:|$)(?!.*(?:/\.\./|\0))", re.DOTALL)
"""A path that does not lead out of the folder of packages."""
_LEFT_OUT = re.compile(r"\.pyc$|(?:^|/)__pycache__/|\.(?:dist|egg)-info/")
"""What is written again by others than installers."""
_TAIL = 256  # bytes
_PLACES = 16  # of a library, looked at for zeros
_SMALL = 1 << 16
_SAMPLED = 1 << 20  # libraries of this size are sampled at every level

Row = tuple[str, str, int]
"""One line of a RECORD: path, hash, size."""


def changes(record: bytes, path: str, system: FileSystem, level: str) -> Changes:
    """Look at the files as far as the level says: see Machine.changes."""
    check = _Check(record, path, system, level)
    rows = tuple(islice(check.found(), MOST))
    return Changes(rows, check.looked)


class _Check:
    """One RECORD, looked at once."""

    def __init__(self, record: bytes, path: str, system: FileSystem, level: str) -> None:
        self._site = path.rsplit("/", 2)[0]
        self._text = record.decode("utf-8", "surrogateescape")
        self._system, self._level, self._all = system, level, level == "hashes"
        self._count, self._room = MOST_HASHED, MOST_BYTES
        self._written = system.stat(system.place(path)).mtime
        self.looked = 0

    def found(self) -> Iterator[Changed]:
        """Every file that is not as recorded."""
        libraries = "\n".join(lines_with(self._text, _LIBRARY_LINES, "\n"))
        for row in _listed(self._text if self._all else libraries):
            if not _LEFT_OUT.search(row[0]) if self._all else _LIBRARY.search(row[0]):
                self.looked += 1
                how, size = self._seen(row, f"{self._site}/{row[0]}")
                if how is not None:
                    yield Changed(row[0], how, size, row[2])
        if self._level == "files":
            yield from self._not_there()

    def _not_there(self) -> Iterator[Changed]:
        """By the names in each folder: one look at a folder, not at each file."""
        listed: dict[str, set[str] | None] = {}
        for path, _, size in _listed(self._text):
            self.looked += 1
            folder, _, name = path.rpartition("/")
            if folder not in listed:
                try:
                    place = self._system.place(f"{self._site}/{folder}".rstrip("/"))
                    listed[folder] = {one for one, _ in self._system.names(place)}
                except (FileNotFoundError, NotADirectoryError):
                    listed[folder] = set()
                except (OSError, ValueError):
                    listed[folder] = None  # it cannot be listed
            names = listed[folder]
            if names is None or name in names or _LIBRARY.search(path) or _LEFT_OUT.search(path):
                continue
            if not (name.endswith(".py") and f"{name}c" in names):  # compiled, source taken out
                yield Changed(path, "missing", recorded=size)

    def _seen(self, row: Row, path: str) -> tuple[How | None, int]:
        """How a file is not as recorded, and its size where it has one."""
        try:
            place = self._system.place(path)
            stat = self._system.stat(place)
        except (FileNotFoundError, NotADirectoryError):
            with suppress(OSError, ValueError):
                return ("link" if self._system.target(path) else "missing"), -1
            with suppress(OSError, ValueError):  # compiled, source taken out
                if path.endswith(".py") and self._system.stat(self._system.place(f"{path}c")):
                    return None, -1
            return "missing", -1
        except (OSError, ValueError):
            return "denied", -1
        if stat.kind != "file":
            return "folder", stat.size
        if not stat.size:  # an empty module may be meant
            known = row[2] if row[1] else _LIBRARY.search(path)
            return ("empty" if known else None), 0
        if not self._system.readable(place, stat.mode):
            return "denied", stat.size
        return self._changed(row, place, stat), stat.size

    def _changed(self, row: Row, place: str, stat: Stat) -> How | None:
        (name, recorded_hash, recorded), size = row, stat.size
        library = _LIBRARY.search(name) is not None
        sampled = library and (size >= _SAMPLED or self._level != "libraries")
        emptied = sampled and self._looks_empty(place)
        later = self._all or stat.mtime > self._written + _LATER
        hashed = bool(recorded_hash) and (size != recorded or later or emptied)
        if hashed and not self._all:
            self._count, self._room = self._count - 1, self._room - size
            hashed = min(self._count, self._room) >= 0
        if not hashed:
            if recorded_hash and size != recorded:
                return "size"
            return None
        try:
            same = digest(self._system.parts(place), recorded) == recorded_hash
        except (OSError, MalformedError):
            return "denied"
        if size != recorded:
            return "longer" if same and size > recorded else "size"
        if same:
            return None
        return "zeros" if library and self._looks_empty(place) else "hash"

    def _looks_empty(self, place: str) -> bool:
        """Zeros at its end, or in a quarter of some places: some libraries have them by nature."""
        if not self._system.written_in_place:
            return False
        with suppress(OSError, MalformedError), self._system.open(place) as file:
            places = range(1, 2 * _PLACES if file.size > _SMALL else 0, 2)
            zeros = [not any(file.pread(n * file.size // (2 * _PLACES), _TAIL)) for n in places]
            at_end = not any(file.pread(max(0, file.size - _TAIL), _TAIL))
            return at_end or sum(zeros) * 4 >= _PLACES
        return False


def _listed(text: str) -> Iterator[Row]:
    """The files inside the folder of packages, as RECORD lists them; of some no hash and size."""
    for line in text.split("\n"):
        parts = line.rstrip("\r").split(",")
        name, digest, size = parts if len(parts) == 3 else ("", "", "")
        if not _INSIDE.match(name):
            continue
        if digest.startswith("sha256=") and len(size) < 19 and size.isdecimal():
            yield name, digest[7:].rstrip("="), int(size)
        elif not digest and not size:
            yield name, "", -1


def digest(parts: Iterable[bytes], most: int = 1 << 62) -> str:
    """The hash of the first bytes of a file, as a RECORD spells it."""
    import base64
    import hashlib  # it loads OpenSSL, which most checks do not need

    sha, left = hashlib.sha256(), most
    for part in parts:
        sha.update(part[:left])
        left -= min(left, len(part))
        if not left:
            break
    return base64.urlsafe_b64encode(sha.digest()).rstrip(b"=").decode()
