"""A model's bytes: only so many are read, in only so much time, from below one folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import msgspec

from gpuwhy.fit.model import Unreadable
from gpuwhy.formats import MalformedError
from gpuwhy.machine.files import FileSystem
from gpuwhy.machine.reading import SECONDS, within

_MOST_BYTES, _MOST_AT_ONCE = 512 << 20, 48 << 20
MOST_TENSORS, MOST_NAME = 1_000_000, 4096
_MOST_ELEMENTS = 1 << 62


class Budget:
    """What may still be read of a model."""

    def __init__(self) -> None:
        self._left = _MOST_BYTES
        self._until = time.monotonic() + SECONDS

    def spend(self, count: int) -> None:
        """Take so many bytes from it; raises Unreadable where nothing is left."""
        self._left -= count
        if self._left < 0:
            raise Unreadable("its headers are larger than 512 MiB, which no real model's are")
        if time.monotonic() > self._until:
            raise Unreadable(f"its headers take longer than {SECONDS:g} s to read")


class Source:
    """The bytes of one file."""

    def __init__(
        self, pread: Callable[[int, int], bytes], size: int, budget: Budget, name: str
    ) -> None:
        self._pread = pread
        self.size = size
        self.name = name
        self._budget = budget

    def at(self, offset: int, count: int, what: str = "it") -> bytes:
        """Exactly these bytes; raises Unreadable where they are missing or too many."""
        if count > _MOST_AT_ONCE:
            raise Unreadable(f"{what} claims {count:,} bytes, more than any real file's")
        data = self.some(offset, count) if min(offset, count) >= 0 else b""
        if len(data) < count or min(offset, count) < 0:
            size = f"{self.size:,} bytes"
            raise Unreadable(f"{what} lies past the end of the file ({size}): it is cut short")
        return data

    def some(self, offset: int, count: int) -> bytes:
        """These bytes, or those that are left of them."""
        count = max(0, min(count, self.size - offset))
        self._budget.spend(count)
        try:
            read = lambda: self._pread(offset, count)  # noqa: E731
            return within(SECONDS, read, self.name) if count else b""
        except (OSError, MalformedError) as error:
            why = getattr(error, "strerror", None) or error
            raise Unreadable(f"{self.name[:120]} cannot be read: {why}") from None

    def within(self, pread: Callable[[int, int], bytes], size: int, name: str) -> Source:
        """A file inside this one, on the same budget."""
        return Source(pread, size, self._budget, name)


class Folder:
    """A folder with a model's files."""

    def __init__(self, path: str, system: FileSystem) -> None:
        self.path = path.rstrip("/") or path
        self._system = system
        self._budget = Budget()
        self._open = ExitStack()

    def close(self) -> None:
        """Give every descriptor back."""
        self._open.close()

    def names(self, below: str = "") -> tuple[str, ...]:
        """What lies in it, or in a folder of it."""
        try:
            listed = self._system.names(self._path(below))
            return tuple(sorted(name for name, _ in listed))[:20_000]
        except OSError as error:
            why = error.strerror or error
            raise Unreadable(f"the folder cannot be listed: {why}") from None

    def has(self, name: str) -> bool:
        """Whether there is such a file or folder."""
        path = self._path(name)
        try:
            self._system.stat(path)
        except (OSError, ValueError):
            return False
        return True

    def open(self, name: str) -> Source:
        """A file; raises Unreadable."""
        try:
            opened = self._open.enter_context(self._system.open(self._path(name)))
        except FileNotFoundError:
            raise Unreadable(f"there is no file {name[:120]}") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise Unreadable(f"{name[:120]} cannot be read: {why}") from None
        return Source(opened.pread, opened.size, self._budget, name)

    def json(self, name: str) -> dict[str, Any]:
        """A JSON object in a file of its own."""
        source = self.open(name)
        return as_object(source.at(0, source.size, name), name)

    def _path(self, name: str) -> str:
        return f"{self.path}/{_inside(name)}" if name else self.path


def _inside(name: str) -> str:
    """A name that a file gives, as a path below its folder; raises where it leads out."""
    parts = name.replace("\\", "/").split("/")
    out = not name or len(name) > MOST_NAME or "\0" in name or ".." in parts
    if out or parts[0] == "" or ":" in parts[0]:
        raise Unreadable(f"it names the file {name[:80]!r}, which is not below its own folder")
    return "/".join(part for part in parts if part not in ("", "."))


def as_object(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object; raises Unreadable for anything else."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise Unreadable(f"{what} is JSON, but no object")
    return value


def shape_of(dims: Any, name: str) -> tuple[int, ...]:
    """Dimensions as a header gives them; raises Unreadable where no tensor has such."""
    count = 1
    found: tuple[Any, ...] = tuple(dims) if isinstance(dims, (list, tuple)) else (-1,)
    for one in found:
        if not isinstance(one, int) or isinstance(one, bool) or one < 0 or len(found) > 32:
            raise Unreadable(f"the tensor {name[:80]} has dimensions that no tensor has")
        count *= max(one, 1)
        if count > _MOST_ELEMENTS:
            raise Unreadable(f"the tensor {name[:80]} claims more elements than any memory holds")
    return found
