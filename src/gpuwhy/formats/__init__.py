"""Bytes in, frozen records out, one module per format. No file system: callers pass a `Pread`."""

from collections.abc import Callable
from typing import Literal

import msgspec

Pread = Callable[[int, int], bytes]
"""Reads `size` bytes at `offset`; fewer come back at the end of the file."""


class MalformedError(ValueError):
    """The bytes are not what they claim to be; `offset` says where that showed."""

    kind: Literal["", "foreign", "cut"] = ""

    def __init__(self, what: str, offset: int = 0) -> None:
        super().__init__(f"{what} at offset {offset}")
        self.what = what
        self.offset = offset


class ForeignError(MalformedError):
    """The bytes are of another format altogether."""

    kind = "foreign"


class CutError(MalformedError):
    """The bytes end before their headers say so."""

    kind = "cut"


class Bounded:
    """A file of known size: nothing is read from outside it, wherever a hostile offset points."""

    def __init__(self, pread: Pread, size: int) -> None:
        self._pread = pread
        self.size = size

    def pread(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes."""
        return self._pread(offset, size) if 0 <= offset < self.size else b""

    def take(self, offset: int, size: int, what: str) -> bytes:
        """Read exactly `size` bytes or say which part is missing."""
        data = self._pread(offset, size) if 0 <= offset <= self.size - size else b""
        if len(data) < size:
            raise CutError(f"{what} lies past the end of the file ({self.size} bytes)", offset)
        return data


class Section(msgspec.Struct, frozen=True):
    """A named section of a library, and its place in the file."""

    name: str
    offset: int
    size: int


class Symbol(msgspec.Struct, frozen=True):
    """A name that a library defines: its address, and its size where the format has one."""

    address: int
    size: int
