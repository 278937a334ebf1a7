"""Which files of a RECORD are not there, or not what was installed.

A file of the recorded size is hashed only where it was written after its RECORD, which installers
write last: an environment that nobody touched costs one look at each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.elf import read_sections
from gpuwhy.machine.machine import Changed, Changes, How

if TYPE_CHECKING:
    from gpuwhy.machine.files import FileSystem

MOST, MOST_HASHED, MOST_BYTES = 1000, 600, 256 << 20
"""Rows that are told, and what is hashed in one RECORD below the level "hashes"."""
_LATER = 2.0  # seconds after its RECORD
_LIBRARY = r"\.(?:so(?:\.\d+)*|dll|pyd|dylib)$"
_OUTSIDE = ("", "/", "~", "\\", '"', ".")
"""How a path begins that may lead out of the folder of packages."""
_LEFT_OUT = re.compile(r"\.pyc$|(?:^|/)__pycache__/|\.(?:dist|egg)-info/")
"""What is written again by others than installers."""
_HOLE = 16384  # bytes of zeros in a row
_TAIL = 256  # bytes
_PLACES = 16  # of a library, looked at for zeros
_SMALL = 1 << 16
_SAMPLED = 1 << 20  # libraries of this size are sampled at every level
_DENSE = frozenset({".text", ".dynsym", ".dynstr"})
"""Sections in which a linker leaves no such run of zeros."""


class Row(NamedTuple):
    """One line of a RECORD."""

    name: str
    digest: str
    size: int
    library: bool


def changes(record: bytes, path: str, system: FileSystem, level: str) -> Changes:
    """Look at the files as far as the level says: see Machine.changes."""
    return _Check(record, path, system, level).all()


class _Check:
    """One RECORD, looked at once."""

    def __init__(self, record: bytes, path: str, system: FileSystem, level: str) -> None:
        self._site = path.rsplit("/", 2)[0]
        self._system = system
        self._level = level
        self._text = record.decode("utf-8", "surrogateescape")
        everything = level == "hashes"
        self._count = 1 << 62 if everything else MOST_HASHED
        self._room = 1 << 62 if everything else MOST_BYTES
        self._written = -1.0 if everything else system.stat(system.place(path)).mtime
        self._looked = 0

    def all(self) -> Changes:
        """Look, and stop where there are too many to tell."""
        out: list[Changed] = []
        for one in self._found():
            if len(out) >= MOST:
                return Changes(tuple(out), self._looked, cut=True)
            out.append(one)
        return Changes(tuple(out), self._looked)

    def _found(self) -> Iterator[Changed]:
        for row in self._rows():
            self._looked += 1
            if (one := self._looked_at(row)) is not None:
                yield one
        if self._level == "files":
            yield from self._not_there()

    def _rows(self) -> Iterator[Row]:
        """The files that are looked at one by one."""
        library = re.compile(_LIBRARY).search
        if self._level in ("sizes", "hashes"):
            for name, digest, size in _listed(self._text):
                if not _LEFT_OUT.search(name):
                    yield Row(name, digest, size, library(name) is not None)
        else:
            for name, digest, size in _listed(self._library_lines()):
                if library(name):
                    yield Row(name, digest, size, True)

    def _library_lines(self) -> str:
        """The lines that name libraries, found without splitting the others."""
        spans = set()
        for end in (".so", ".pyd,", ".dll,", ".dylib,"):
            place = self._text.find(end)
            while place >= 0:
                start, stop = self._text.rfind("\n", 0, place) + 1, self._text.find("\n", place)
                stop = stop if stop >= 0 else len(self._text)
                spans.add((start, stop))
                place = self._text.find(end, stop)
        return "\n".join(self._text[start:stop] for start, stop in sorted(spans))

    def _not_there(self) -> Iterator[Changed]:
        """By the names in each folder: one look at a folder, not at each file."""
        library = re.compile(_LIBRARY)
        listed: dict[str, set[str] | None] = {}
        for path, _, size in _listed(self._text):
            self._looked += 1
            folder, _, name = path.rpartition("/")
            if folder not in listed:
                listed[folder] = self._names(folder)
            names = listed[folder]
            if names is None or name in names or library.search(path) or _LEFT_OUT.search(path):
                continue
            if not (name.endswith(".py") and f"{name}c" in names):  # compiled, source taken out
                yield Changed(path, "missing", recorded=size)

    def _names(self, folder: str) -> set[str] | None:
        """None where the folder cannot be listed."""
        try:
            return self._system.listed(self._system.place(f"{self._site}/{folder}".rstrip("/")))
        except (FileNotFoundError, NotADirectoryError):
            return set()
        except (OSError, ValueError):
            return None

    def _looked_at(self, row: Row) -> Changed | None:
        path = f"{self._site}/{row.name}"
        try:
            place = self._system.place(path)
            kind, size, mtime, readable = self._system.brief(place)
        except (FileNotFoundError, NotADirectoryError):
            how = self._gone(path)
            return Changed(row.name, how, recorded=row.size) if how else None
        except (OSError, ValueError):
            return Changed(row.name, "denied", recorded=row.size)
        found = self._how(row, place, size, mtime) if kind == "file" and readable and size else None
        if kind != "file":
            found = "folder"
        elif not size:
            known_size = row.size if row.digest else row.library  # an empty module may be meant
            found = "empty" if known_size else None
        elif not readable:
            found = "denied"
        return Changed(row.name, found, size, row.size) if found else None

    def _gone(self, path: str) -> How | None:
        """What is wrong where nothing is found: "link", or nothing for compiled Python."""
        with suppress(OSError, ValueError):
            return "link" if self._system.target(path) else "missing"
        if path.endswith(".py"):
            with suppress(OSError, ValueError):
                self._system.stat(self._system.place(f"{path}c"))
                return None
        return "missing"

    def _how(self, row: Row, place: str, size: int, mtime: float) -> How | None:
        emptied = row.library and self._looks_empty(place, size)
        later = mtime > self._written + _LATER
        hashed = bool(row.digest) and (size != row.size or later or emptied)
        if hashed:
            self._count, self._room = self._count - 1, self._room - size
            hashed = self._count >= 0 and self._room >= 0
        if not hashed:
            if row.digest and size != row.size:
                return "size"
            return "zeros" if emptied and self._holed(place) else None
        try:
            same = digest(self._system.parts(place), row.size) == row.digest
        except (OSError, MalformedError):
            return "denied"
        if size != row.size:
            return "longer" if same and size > row.size else "size"
        if same:
            return None
        return "zeros" if row.library and self._holed(place) else "hash"

    def _looks_empty(self, place: str, size: int) -> bool:
        """A doubt: some libraries have zeros by themselves (they are padded to large pages)."""
        if size < _SAMPLED and self._level == "libraries":
            return False
        try:
            with self._system.open(place) as file:
                known = file.emptied
                return emptied(file.pread, file.size) if known is None else bool(known)
        except (OSError, MalformedError):
            return False

    def _holed(self, place: str) -> bool:
        """Whether zeros are where code or names are: a write that never reached the disk."""
        try:
            with self._system.open(place) as file:
                if not any(file.pread(max(0, file.size - _HOLE), _HOLE)):
                    return True
                found = read_sections(file.pread, file.size, _DENSE)
                return any(_empty(file.pread, one.offset, one.size) for one in found)
        except (OSError, MalformedError):
            return False


def _listed(text: str) -> Iterator[tuple[str, str, int]]:
    """The files inside the folder of packages, as RECORD lists them; of some no hash and size."""
    for line in text.split("\n"):
        parts = line.split(",")
        name, digest, size = parts if len(parts) == 3 else ("", "", "")
        size = size.rstrip("\r")
        if name[:1] in _OUTSIDE and (name[:1] != "." or name.startswith("..")):
            continue
        if "/../" in name or name[1:2] == ":" or "\0" in name:
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


def emptied(pread: Pread, size: int) -> bool:
    """Whether a library ends in zeros, or has them in a quarter of some places in it."""
    places = range(_PLACES if size > _SMALL else 0)
    zeros = sum(not any(pread((2 * at + 1) * size // (2 * _PLACES), _TAIL)) for at in places)
    return zeros * 4 >= _PLACES or not any(pread(max(0, size - _TAIL), _TAIL))


def _empty(pread: Pread, offset: int, size: int) -> bool:
    run = bytes(_HOLE)
    places = range(offset, offset + size, 1 << 20)
    return any(run in pread(at, min((1 << 20) + _HOLE, offset + size - at)) for at in places)
