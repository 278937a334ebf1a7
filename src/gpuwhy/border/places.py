"""Places: files that are read here and there, and what lies in a folder; with the limits of reading.py."""

from __future__ import annotations

import os
import stat
from typing import Literal

from gpuwhy.border import reading

MOST_NAMES = 20_000


class Opened:
    """A regular file that stays open for reads at any offset."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = reading.within(reading.SECONDS, lambda: reading.regular(path), path)
        self.size = os.fstat(self._fd).st_size
        self._pread = reading.pread_of(self._fd)

    def pread(self, offset: int, size: int) -> bytes:
        """The bytes there, fewer at the end of the file; raises OSError where it stops answering."""
        return reading.within(reading.SECONDS, lambda: self._all(offset, size), self.path)

    def _all(self, offset: int, size: int) -> bytes:
        first = self._pread(offset, size)
        if len(first) == size or not first:
            return first
        parts, got = [first], len(first)
        while got < size and (part := self._pread(offset + got, size - got)):
            parts.append(part)
            got += len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)


def kind(path: str) -> Literal["file", "folder", "other", ""]:
    """What is at a path, symbolic links followed; "" where there is nothing."""
    try:
        mode = reading.within(reading.SECONDS, lambda: os.stat(path), path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return ""
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def size(path: str) -> int | None:
    """The bytes of a regular file; None where there is none."""
    try:
        found = reading.within(reading.SECONDS, lambda: os.stat(path), path)
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def sizes(path: str, most: int = MOST_NAMES) -> dict[str, int] | None:
    """The bytes of every regular file in a folder, asked at once; None where it cannot be listed or has too many."""
    try:
        return reading.within(reading.SECONDS, lambda: _sizes(path, most), path)
    except (OSError, ValueError):
        return None


def _sizes(path: str, most: int) -> dict[str, int] | None:
    found: dict[str, int] = {}
    with os.scandir(path) as entries:
        for number, entry in enumerate(entries):
            if number >= most:
                return None
            try:
                state = entry.stat()
            except OSError:  # a link that leads nowhere
                continue
            if stat.S_ISREG(state.st_mode):
                found[entry.name] = state.st_size
    return found


def names(path: str, most: int = MOST_NAMES) -> tuple[str, ...]:
    """The names in a folder, sorted, the first `most` that the system tells; raises OSError."""
    return reading.within(reading.SECONDS, lambda: _names(path, most), path)


def _names(path: str, most: int) -> tuple[str, ...]:
    found = []
    with os.scandir(path) as entries:
        for entry in entries:
            found.append(entry.name)
            if len(found) >= most:
                break
    return tuple(sorted(found))


def split(path: str) -> tuple[str, str]:
    """A path's folder and its last name."""
    folder, name = os.path.split(os.path.abspath(path))
    return folder, name


def join(folder: str, name: str) -> str:
    """A name below a folder, as this system writes it."""
    return os.path.join(folder, *name.split("/"))
