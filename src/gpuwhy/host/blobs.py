"""Blobs: the files that an image consists of, in a folder or in an archive, compressed or not."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from gpuwhy.border.reading import NotRegularError, regular
from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.compress import GZIP, ZSTD, gunzipped, unzstd
from gpuwhy.formats.tar import HEADER, looks_like_tar
from gpuwhy.host.files import Opened
from gpuwhy.host.layers import Tree

Find = Callable[[str], "Opened | None"]
"""The file of a name inside the folder or archive; None where it is not there."""

_OTHERS = (
    (b"#!/usr/bin/env run-singularity", "a Singularity image: `apptainer build --sandbox FOLDER IMAGE` unpacks it"),
    (b"hsqs", "a squashfs file system: `unsquashfs` unpacks it"),
    (b"QFI\xfb", "a disk image: mount it"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\0", "compressed with xz: `xz -d` makes it readable"),
    (b"BZh", "compressed with bzip2: `bzip2 -d` makes it readable"),
)


class UnreadableImageError(ValueError):
    """What was given is no image that can be read; the text says why."""


class _File:
    """A file that stays open as long as somebody can read from it."""

    def __init__(self, path: str) -> None:
        self._fd = regular(path)
        self._lock = threading.Lock()
        self.stat = os.fstat(self._fd)

    def pread(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._fd, size, offset)
        with self._lock:  # Windows
            os.lseek(self._fd, offset, os.SEEK_SET)
            return os.read(self._fd, size)

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


def open_file(path: str) -> Opened:
    """A regular file of this machine; raises OSError."""
    try:
        file = _File(path)
    except NotRegularError as error:
        raise UnreadableImageError(f"{path} is no regular file") from error
    return Opened(file.pread, file.stat.st_size)


def plain_tar(file: Opened, name: str) -> Pread:
    """The bytes of a tar archive, through what compresses it; raises UnreadableImageError where it is none."""
    head = file.pread(0, HEADER)
    pread = file.pread
    if head.startswith(GZIP):
        pread = gunzipped(file.pread, file.size)
    elif head.startswith(ZSTD):
        try:
            pread = unzstd(file.pread, file.size)
        except ImportError as error:
            raise UnreadableImageError(
                f"{name} is compressed with zstd, which this Python cannot read (3.14 and newer can): "
                "`zstd -d` it, or save the image with gzip layers"
            ) from error
    for magic, what in _OTHERS:
        if head.startswith(magic):
            raise UnreadableImageError(f"{name} is {what}")
    first = pread(0, HEADER)
    if not looks_like_tar(first) and (any(first) or not first):
        raise UnreadableImageError(f"{name} is no tar archive")
    return pread


def in_folder(folder: str) -> Find:
    """The files below a folder of this machine."""

    def find(name: str) -> Opened | None:
        try:
            return open_file(os.path.join(folder, *name.split("/")))
        except (OSError, UnreadableImageError):
            return None

    return find


def in_tree(tree: Tree) -> Find:
    """The files of an archive; the links that `docker save` writes for layers that occur twice are followed."""

    def find(name: str) -> Opened | None:
        try:
            node = tree.at(tree.resolve("/" + name))
        except OSError:
            return None
        return Opened(tree.read(node), node.size) if node.kind == "file" else None

    return find


def whole(find: Find, name: str, most: int) -> bytes | None:
    """All bytes of a small file; None where it is not there; raises MalformedError where it is large."""
    file = find(name)
    if file is None:
        return None
    if file.size > most:
        raise MalformedError(f"{name} has {file.size} bytes, more than such a file has")
    return file.pread(0, file.size)
