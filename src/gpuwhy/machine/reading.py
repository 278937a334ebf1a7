"""The one way to read a file: never more than asked for, nor for ever, nor a pipe by surprise."""

import errno
import io
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, AnyStr, BinaryIO, TypeVar

T = TypeVar("T")

SECONDS = 20.0
"""How long one read may take: a dead network mount never answers."""
PIECE = 1 << 17
MOST_OF_KERNEL = 1 << 26
"""Some files below /proc are without an end; their size is 0, and so is that of those with one."""

_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _flag, 0)  # each system has some of them
_OPEN_ALREADY = r"/dev/(?:stdin|fd/(\d{1,6}))|/proc/self/fd/(\d{1,6})"


class NotRegularError(OSError):
    """The path is a folder, pipe, socket or device: opening it could hang or do something."""


def _refuse(found: os.stat_result, path: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise NotRegularError(errno.EISDIR, "it is a folder", path)
    kind = "pipe" if stat.S_ISFIFO(found.st_mode) else "socket or a device"
    raise NotRegularError(errno.EINVAL, f"not a regular file but a {kind}", path)


def regular(path: str) -> int:
    """A descriptor of a regular file, opened without waiting; raises OSError for anything else."""
    _refuse(os.stat(path), path)
    fd = os.open(path, _FLAGS)
    try:
        _refuse(os.fstat(fd), path)  # it may have become another one in between
    except OSError:
        os.close(fd)
        raise
    return fd


def read(path: str, most: int, seconds: float = SECONDS) -> bytes:
    """All bytes of a regular file; raises OSError for one larger than `most`, or slower."""
    return within(seconds, lambda: read_now(path, most), path)


def read_now(path: str, most: int) -> bytes:
    """The same without a clock."""
    if path == os.devnull:
        return b""
    fd = regular(path)
    try:
        return whole(fd, most, path)
    finally:
        os.close(fd)


def whole(fd: int, most: int, path: str) -> bytes:
    """What is left in a descriptor; raises OSError where there are more than `most` bytes."""
    parts: list[bytes] = []
    got = 0
    while part := os.read(fd, min(1 << 20, most + 1 - got)):
        parts.append(part)
        got += len(part)
        if got > most:
            raise OSError(errno.EFBIG, f"it is larger than {_size(most)}", path)
    return b"".join(parts)


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count:,} bytes"


def source(path: str) -> BinaryIO:
    """A file to be read in pieces; a pipe only where it is open already: `<(…)`, /dev/stdin."""
    if path == os.devnull:
        return io.BytesIO()
    open_already = re.fullmatch(_OPEN_ALREADY, path)
    if open_already and stat.S_ISFIFO(os.stat(path).st_mode):
        return os.fdopen(os.dup(int(open_already[1] or open_already[2] or 0)), "rb")
    return os.fdopen(within(SECONDS, lambda: regular(path), path), "rb", buffering=0)


def pieces(file: BinaryIO, seconds: float = SECONDS) -> Iterator[bytes]:
    """A file's bytes in order, without the holes of a sparse one; raises OSError when it stops."""
    regular = False
    with suppress(OSError, io.UnsupportedOperation):
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    while piece := within(seconds, lambda: _next(file), "it") if regular else file.read(PIECE):
        yield piece


def _next(file: BinaryIO) -> bytes:
    """The next piece; a hole of the file system is a line's end, not gigabytes of zeros."""
    fd, hole = file.fileno(), b""
    here = os.lseek(fd, 0, os.SEEK_CUR)
    if here >= MOST_OF_KERNEL and not os.fstat(fd).st_size:
        raise OSError(errno.EFBIG, f"a file of the kernel larger than {_size(MOST_OF_KERNEL)}")
    if hasattr(os, "SEEK_DATA"):
        try:
            there = os.lseek(fd, here, os.SEEK_DATA)
            hole = b"\n" if there > here else b""
        except OSError as error:
            if error.errno != errno.ENXIO:  # a file of the kernel: it has no holes
                os.lseek(fd, here, os.SEEK_SET)
            elif os.fstat(fd).st_size > here:  # nothing but a hole is left
                os.lseek(fd, 0, os.SEEK_END)
                return b""
    return hole + os.read(fd, PIECE)


class Splitter:
    """Splits pieces into lines; None stands for one longer than `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most, self._too_long, self._size = most, False, 0
        self._held: list[bytes] = []

    def take(self, piece: bytes) -> Iterator[bytes | None]:
        """The lines that a piece ends; b"" ends the last."""
        first, *others = piece.split(b"\n")
        self._hold(first)
        for other in others:
            yield self._line()
            self._hold(other)
        if not piece and (self._held or self._too_long):
            yield self._line()

    def _hold(self, part: bytes) -> None:
        """Keep a part of a line as it came: one of many pieces is joined once."""
        self._size += len(part)
        self._too_long = self._size > self._most
        if self._too_long:
            self._held.clear()
        elif part:
            self._held.append(part)

    def _line(self) -> bytes | None:
        line = None if self._too_long else b"".join(self._held)
        self._held.clear()
        self._too_long, self._size = False, 0
        return line


def lines(file: BinaryIO, most: int) -> Iterator[bytes | None]:
    """The lines of a file; None for one longer than `most` bytes, of which nothing is kept."""
    split = Splitter(most)
    for piece in pieces(file):
        yield from split.take(piece)
    yield from split.take(b"")


def lines_with(data: AnyStr, wanted: Iterable[AnyStr], newline: AnyStr) -> list[AnyStr]:
    """The lines that hold one of some strings, found without splitting the rest."""
    spans = set()
    for text in wanted:
        place = data.find(text)
        while place >= 0:
            start, end = data.rfind(newline, 0, place) + 1, data.find(newline, place)
            end = end if end >= 0 else len(data)
            spans.add((start, end))
            place = data.find(text, end)
    return [data[start:end] for start, end in sorted(spans)]


def within(seconds: float, work: Callable[[], T], path: str) -> T:
    """What a piece of work answers; raises OSError (ETIMEDOUT) where it does not in time."""
    answers: list[tuple[Any, BaseException | None]] = []

    def go() -> None:
        try:
            answers.append((work(), None))
        except BaseException as error:
            answers.append((None, error))

    worker = threading.Thread(target=go, daemon=True)  # one that hangs is left behind
    worker.start()
    worker.join(seconds)
    if not answers:
        raise OSError(errno.ETIMEDOUT, f"no answer within {seconds:g} s", path)
    value, error = answers[0]
    if error is not None:
        raise error
    answer: T = value
    return answer


def pread_of(fd: int) -> Callable[[int, int], bytes]:
    """A function from offset and size to the bytes there."""
    if hasattr(os, "pread"):
        return lambda offset, size: os.pread(fd, size, offset)

    def pread(offset: int, size: int) -> bytes:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, size)

    return pread
