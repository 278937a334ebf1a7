"""Bytes in, frozen summaries out: ELF, PE, ld.so.cache, CUDA fatbins. No file system: callers pass a `Pread`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

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
