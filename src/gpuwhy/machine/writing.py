"""The one way to write a file: whole or not at all, never through a link, over nothing unasked."""

import contextlib
import errno
import os
import secrets
import stat
from typing import BinaryIO

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NOW = os.O_WRONLY
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):  # some of them on each system
    _NEW |= getattr(os, _flag, 0)
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"):
    _NOW |= getattr(os, _flag, 0)


def create(path: str, data: bytes) -> None:
    """Write a new file; raises FileExistsError where anything is, a dangling link too."""
    fd = os.open(path, _NEW, 0o666)
    try:
        _all(fd, data)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(fd)


def begin(path: str) -> BinaryIO:
    """A new file, open to be written piece by piece; raises FileExistsError."""
    return os.fdopen(os.open(path, _NEW, 0o600), "wb", buffering=0)


def keep(path: str, data: bytes) -> None:
    """Write a file whole or not at all, over a regular one; a pipe or device is written to."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        there = None
    if there and not stat.S_ISREG(there.st_mode):
        _pass_on(path, data)
        return
    part = f"{path}.{secrets.token_hex(6)}.part"
    create(part, data)
    try:
        if there and hasattr(os, "chmod"):
            os.chmod(part, stat.S_IMODE(there.st_mode))
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _pass_on(path: str, data: bytes) -> None:
    """To a pipe that somebody reads, a terminal, /dev/null, /dev/stdout; through no other link."""
    found = os.stat(path)
    if stat.S_ISREG(found.st_mode) and not path.startswith(("/dev/", "/proc/")):
        raise OSError(errno.ELOOP, "it is a link: name the file that it leads to", path)
    if stat.S_ISDIR(found.st_mode) or stat.S_ISBLK(found.st_mode) or stat.S_ISSOCK(found.st_mode):
        raise OSError(errno.EINVAL, "it is a folder, a disk or a socket", path)
    fd = os.open(path, _NOW)
    try:
        os.set_blocking(fd, True)
        _all(fd, data)
    finally:
        os.close(fd)


def _all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
