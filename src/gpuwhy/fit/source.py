"""Source and Store: a model's bytes, of which only so many are read, in only so much time, from below one folder."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from gpuwhy.border import places
from gpuwhy.fit.model import Unreadable
from gpuwhy.formats import MalformedError

MOST_BYTES = 512 << 20
"""Of headers, over all files of a model."""
MOST_AT_ONCE = 48 << 20
SECONDS = 20.0
MOST_TENSORS = 1_000_000
MOST_DIMENSIONS = 32
MOST_NAME = 4096
MOST_ELEMENTS = 1 << 62


class Budget:
    """What may still be read of a model."""

    def __init__(self, most: int = MOST_BYTES, seconds: float = SECONDS) -> None:
        self._left = most
        self._until = time.monotonic() + seconds

    def spend(self, count: int) -> None:
        """Take so many bytes from it; raises Unreadable where nothing is left."""
        self._left -= count
        if self._left < 0:
            raise Unreadable("its headers are larger than 512 MiB, which no real model's are")
        if time.monotonic() > self._until:
            raise Unreadable(f"its headers take longer than {SECONDS:g} s to read")


class Source:
    """The bytes of one file."""

    def __init__(self, pread: Callable[[int, int], bytes], size: int, budget: Budget, name: str = "") -> None:
        self._pread = pread
        self.size = size
        self.name = name
        self._budget = budget

    def at(self, offset: int, count: int, what: str = "it") -> bytes:
        """Exactly these bytes; raises Unreadable where they are not there or are too many."""
        if count > MOST_AT_ONCE:
            raise Unreadable(f"{what} claims {count:,} bytes, more than any real file's")
        if offset < 0 or count < 0 or offset + count > self.size:
            raise Unreadable(f"{what} lies past the end of the file ({self.size:,} bytes): it is cut short or damaged")
        data = self.some(offset, count)
        if len(data) < count:
            raise Unreadable(f"{what} could not be read: the file became shorter meanwhile")
        return data

    def some(self, offset: int, count: int) -> bytes:
        """These bytes, or those that are left of them."""
        count = max(0, min(count, self.size - offset))
        self._budget.spend(count)
        try:
            return self._pread(offset, count) if count else b""
        except OSError as error:
            raise Unreadable(f"{self.name or 'the file'} cannot be read: {error.strerror or error}") from None
        except MalformedError as error:
            raise Unreadable(f"{self.name[:80]} cannot be read: {error.what}") from None

    def number(self, offset: int, form: str) -> int:
        """A number in the notation of struct."""
        value: int = struct.unpack(form, self.at(offset, struct.calcsize(form)))[0]
        return value

    def within(self, pread: Callable[[int, int], bytes], size: int, name: str) -> Source:
        """A file inside this one, on the same budget."""
        return Source(pread, size, self._budget, name)

    def pread(self, offset: int, count: int) -> bytes:
        """The same as a plain function."""
        return self.some(offset, count)


class Cursor:
    """Reads on from a place, a piece at a time."""

    def __init__(self, source: Source, place: int = 0) -> None:
        self.source, self.place = source, place
        self.data, self.start = b"", place
        self.order = "<"

    def take(self, count: int) -> bytes:
        """The next bytes."""
        begin = self.place - self.start
        if begin + count > len(self.data):
            size = max(count, min(1 << 18, self.source.size - self.place))
            self.data = self.source.at(self.place, size, "its header")
            self.start, begin = self.place, 0
        self.place += count
        return self.data[begin : begin + count]

    def number(self, form: str) -> Any:
        """The next number, in the notation of struct."""
        return struct.unpack(self.order + form, self.take(struct.calcsize(form)))[0]

    def line(self, most: int = 4096) -> bytes:
        """The next bytes up to a line's end, without it."""
        held = self.source.some(self.place, most)
        end = held.find(b"\n")
        if end < 0:
            raise Unreadable("a line in its header has no end: it is cut short or damaged")
        self.skip(end + 1)
        return held[:end]

    def skip(self, count: int) -> None:
        """Go on without reading."""
        self.place += count
        if self.place > self.source.size:
            raise Unreadable("its header lies past the end of the file: it is cut short or damaged")
        if self.place > self.start + len(self.data):
            self.data, self.start = b"", self.place


class Store(Protocol):
    """A folder with a model's files."""

    def names(self, folder: str = "") -> tuple[str, ...]:
        """What lies in it, or in a folder of it."""

    def kind(self, name: str) -> str:
        """ "file", "folder", "other" or ""."""

    def size(self, name: str) -> int | None:
        """A file's bytes, without opening it."""

    def open(self, name: str) -> Source:
        """A file; raises Unreadable."""


def inside(name: str) -> str:
    """A name that a file tells, as a path below its folder; raises Unreadable where it leads out."""
    parts = name.replace("\\", "/").split("/")
    if not name or len(name) > MOST_NAME or "\0" in name or ".." in parts or parts[0] == "" or ":" in parts[0]:
        raise Unreadable(f"it names the file {name[:80]!r}, which is not below its own folder")
    return "/".join(part for part in parts if part not in ("", "."))


class Disk:
    """A folder on this machine."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.budget = Budget()
        self._open: list[places.Opened] = []
        self._sizes: dict[str, dict[str, int] | None] = {}

    def names(self, folder: str = "") -> tuple[str, ...]:
        """What lies in it, or in a folder of it."""
        try:
            return places.names(self._path(folder))
        except OSError as error:
            raise Unreadable(f"the folder {folder or 'itself'} cannot be listed: {error.strerror or error}") from None

    def kind(self, name: str) -> str:
        """What is there."""
        try:
            return places.kind(self._path(name))
        except OSError:
            return ""

    def size(self, name: str) -> int | None:
        """A file's bytes; a folder is asked once for all of its files."""
        folder, _, last = inside(name).rpartition("/")
        if folder not in self._sizes:
            self._sizes[folder] = places.sizes(self._path(folder))
        held = self._sizes[folder]
        return places.size(self._path(name)) if held is None else held.get(last)

    def open(self, name: str) -> Source:
        """A file."""
        try:
            opened = places.Opened(self._path(name))
        except FileNotFoundError:
            raise Unreadable(f"there is no file {name[:120]}") from None
        except (OSError, ValueError) as error:
            raise Unreadable(f"{name[:120]} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        self._open.append(opened)
        return Source(opened.pread, opened.size, self.budget, name)

    def close(self) -> None:
        """Give every descriptor back."""
        while self._open:
            self._open.pop().close()

    def _path(self, name: str) -> str:
        return places.join(self.folder, inside(name)) if name else self.folder


class Below:
    """A folder of a store, as a store."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store, self._folder = store, folder.rstrip("/")

    def _name(self, name: str) -> str:
        return f"{self._folder}/{name}" if name else self._folder

    def names(self, folder: str = "") -> tuple[str, ...]:
        """What lies in it, or in a folder of it."""
        return self._store.names(self._name(folder))

    def kind(self, name: str) -> str:
        """What is there."""
        return self._store.kind(self._name(name))

    def size(self, name: str) -> int | None:
        """A file's bytes."""
        return self._store.size(self._name(name))

    def open(self, name: str) -> Source:
        """A file."""
        return self._store.open(self._name(name))


def json(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object; raises Unreadable for anything else."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise Unreadable(f"{what} is JSON, but no object")
    return value


def json_file(store: Store, name: str) -> dict[str, Any]:
    """A JSON object in a file of its own."""
    source = store.open(name)
    return json(source.at(0, source.size, name), name)


def shape_of(dims: list[int] | tuple[int, ...], name: str) -> tuple[int, ...]:
    """Dimensions as a header tells them; raises Unreadable where no tensor has such."""
    count = 1
    if len(dims) > MOST_DIMENSIONS:
        raise Unreadable(f"the tensor {name[:80]} claims {len(dims)} dimensions")
    for one in dims:
        if not isinstance(one, int) or isinstance(one, bool) or one < 0:
            raise Unreadable(f"the tensor {name[:80]} has a dimension that is no count: {str(one)[:40]}")
        count *= max(one, 1)
        if count > MOST_ELEMENTS:
            raise Unreadable(f"the tensor {name[:80]} claims more elements than any memory holds")
    return tuple(dims)
