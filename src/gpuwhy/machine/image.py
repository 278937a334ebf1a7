"""A container image or a file system's archive, read where it lies: its files, and its config."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from gpuwhy.facts.fact import Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.system import Offline
from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.compress import GZIP, ZSTD, gunzipped, unzstd
from gpuwhy.formats.tar import HEADER, looks_like_tar
from gpuwhy.machine.files import Files, FileSystem, Opened
from gpuwhy.machine.image_entrypoint import changes, started_with
from gpuwhy.machine.image_manifest import Image, Started, Store, UnreadableImageError, chosen
from gpuwhy.machine.image_tree import ImageSystem, Tree
from gpuwhy.machine.live import permitted
from gpuwhy.machine.machine import FILE_QUESTIONS, Machine
from gpuwhy.machine.reading import NotRegularError, pread_of, regular

_CONFIG = Source("env", "environment", "image config")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What every engine sets where the image's config does not."""
_SAID = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
_MARKS = ("oci-layout", "index.json", "manifest.json")
_OTHERS = {
    b"#!/usr/bin/env run-singularity": "a Singularity image: `apptainer build --sandbox FOLDER "
    "IMAGE` unpacks it",
    b"hsqs": "a squashfs file system: `unsquashfs` unpacks it",
    b"QFI\xfb": "a disk image: mount it",
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ\0": "compressed with xz: `xz -d` makes it readable",
    b"BZh": "compressed with bzip2: `bzip2 -d` makes it readable",
}
Note = Callable[[str], None]


class ImageMachine(Machine):
    """Answers file questions from the layers, and the environment from the image's config."""

    def __init__(self, tree: Tree, what: Offline, started: Started | None = None) -> None:
        self._variables = None if started is None else _variables(started)
        self._words = started.words if started else []
        self._folder = (started.folder if started else None) or "/"
        self._what = what
        self._files = Files(ImageSystem(tree, self._folder))
        self.home = self._home(started.user or "") if started else ""

    def give(self, variables: dict[str, str]) -> None:
        """Set variables over those of the config, as `docker run --env` does."""
        if variables:
            self._variables = {**(self._variables or {}), **variables}

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """Files are answered; an image has no processes and no devices."""
        if question in FILE_QUESTIONS or question in ("link", "real"):
            return self._files.ask(question, args)
        if question == "environ" and self._variables is not None:
            begun = started_with(self._words, self._variables, self._script)
            return Known(permitted(begun), _CONFIG)
        if question == "set_at_start" and self._variables is not None:
            found = changes(self._words, self._variables, self._script)
            return Known(tuple(one for one in found if one.name in _SAID), _CONFIG)
        if question == "offline":
            return Known(self._what, Source("file", "image config"))
        how = "run gpuwhy in a container of it"
        return Unknown(f"{question}: an image cannot be asked", how, "offline")

    def _script(self, name: str) -> str:
        """The text of a shell script that the image starts; "" where it is none."""
        path = name if name.startswith("/") else f"{self._folder}/{name}"
        text = value_or(self.read(path), "")
        return text if re.match(r"#!\S*(?:/| )(?:ba|da|a)?sh\b", text) else ""

    def _home(self, user: str) -> str:
        """The home folder of the user that the image starts as, by its /etc/passwd."""
        name = user.partition(":")[0]
        if name in ("", "root", "0"):
            return "/root"
        fields = (line.split(":") for line in value_or(self.read("/etc/passwd"), "").splitlines())
        return next((f[5] for f in fields if len(f) > 5 and name in (f[0], f[2])), "")


def _variables(started: Started) -> dict[str, str]:
    pairs = (one.partition("=") for one in started.env or ())
    return {"PATH": _PATH, **{name: value for name, _, value in pairs if name}}


def open_image(path: str, wanted: str = "", note: Note = lambda _: None) -> ImageMachine | None:
    """The machine of an image's folder or archive; None for a folder that is a file system.

    Raises UnreadableImageError with one sentence for everything else.
    """
    try:
        if os.path.isdir(path):
            return _of_folder(path, wanted, note)
        return _of_archive(path, wanted, note)
    except NotRegularError as error:
        raise UnreadableImageError(f"{path} is no regular file") from error
    except OSError as error:
        raise UnreadableImageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except MalformedError as error:
        raise UnreadableImageError(f"{path}: {error}") from error


def _of_folder(path: str, wanted: str, note: Note) -> ImageMachine | None:
    if not any(os.path.isfile(os.path.join(path, mark)) for mark in _MARKS):
        return None
    store = Store(FileSystem(), path)
    found = store.images()
    if not found:
        return None
    return _of_image(lambda name: _kept(store.place(name)), chosen(found, wanted, path), path, note)


def _of_archive(path: str, wanted: str, note: Note) -> ImageMachine:
    note(f"reading {os.path.basename(path)}")
    outer = Tree()
    outer.add(_plain_tar(_kept(path), path))
    store = Store(ImageSystem(outer), "")
    found = store.images()
    if found:
        return _of_image(
            lambda name: outer.opened(store.place(name)), chosen(found, wanted, path), path, note
        )
    if not {"etc", "usr", "bin", "lib", "opt"} & (outer.root.names or {}).keys():
        raise UnreadableImageError(f"{path} holds neither an image nor a file system")
    return ImageMachine(outer, Offline("archive"))


def _of_image(find: Callable[[str], Opened], image: Image, path: str, note: Note) -> ImageMachine:
    """`find` opens the file of a layer for as long as somebody reads from it."""
    config = image.config
    if config.system not in ("linux", ""):
        only = "only those for Linux are read"
        raise UnreadableImageError(f"{path}: an image for {config.platform}; {only}")
    tree = Tree()
    for number, (name, size) in enumerate(image.layers, 1):
        note(f"reading layer {number} of {len(image.layers)}")
        try:
            file = find(name)
        except OSError as error:
            raise UnreadableImageError(f"{path} lacks a layer of the image: {name}") from error
        if size not in (-1, file.size):
            said = f"layer {number} has {file.size} bytes of {size}"
            raise UnreadableImageError(f"{path}: {said}")
        tree.add(_plain_tar(file, f"layer {number}"))
    called = ", ".join(filter(None, (image.name, config.platform)))
    return ImageMachine(tree, Offline("image", called), config.started or Started())


class _File:
    """A descriptor that is closed when nobody can read from it any more."""

    def __init__(self, path: str) -> None:
        self.fd = regular(path)

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            os.close(self.fd)


def _kept(path: str) -> Opened:
    file = _File(path)
    pread = pread_of(file.fd)

    def read(offset: int, size: int, _: _File = file) -> bytes:
        return pread(offset, size)

    return Opened(read, os.fstat(file.fd).st_size)


def _plain_tar(file: Opened, name: str) -> Pread:
    """The bytes of a tar archive, through what compresses it; raises UnreadableImageError."""
    head = file.pread(0, HEADER)
    pread = file.pread
    if head.startswith(GZIP):
        pread = gunzipped(file.pread, file.size)
    elif head.startswith(ZSTD):
        try:
            pread = unzstd(file.pread, file.size)
        except ImportError as error:
            raise UnreadableImageError(
                f"{name} is compressed with zstd, which Python reads from 3.14 on: "
                "`zstd -d` it, or save the image with gzip layers"
            ) from error
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise UnreadableImageError(f"{name} is {what}")
    first = pread(0, HEADER)
    if not looks_like_tar(first) and (any(first) or not first):
        raise UnreadableImageError(f"{name} is no tar archive")
    return pread
