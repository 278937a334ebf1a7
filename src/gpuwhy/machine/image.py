"""A container image or a file system's archive, read where it lies: its files, and its config."""

from __future__ import annotations

import errno
import os
import re
import stat as stat_
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpuwhy.facts.fact import Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.system import Offline
from gpuwhy.facts.variables import SetAtStart
from gpuwhy.formats import CutError, MalformedError
from gpuwhy.machine.files import Files, FileSystem, Opened
from gpuwhy.machine.image_entrypoint import changes, started_with
from gpuwhy.machine.image_files import (
    Find,
    UnreadableImageError,
    in_folder,
    in_tree,
    open_file,
    plain_tar,
)
from gpuwhy.machine.image_layers import Node, Tree
from gpuwhy.machine.image_manifest import Config, Image, Started, chosen, images
from gpuwhy.machine.live import permitted
from gpuwhy.machine.machine import FILE_QUESTIONS, Disk, Machine, Stat
from gpuwhy.machine.reading import NotRegularError

_CONFIG = Source("env", "environment", "image config")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What every engine sets where the image's config does not."""
_KINDS = {"file": "file", "sparse": "file", "folder": "folder", "link": "link"}
_STATS = {**_KINDS, "char": "char", "block": "block"}
_PART = 1 << 20
_SAID = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
Note = Callable[[str], None]


class ImageSystem(FileSystem):
    """The files of the layers; a relative path starts in the image's working folder."""

    def __init__(self, tree: Tree, folder: str = "/") -> None:
        self.tree = tree
        self._folder = folder

    def place(self, path: str) -> str:
        """Every link resolved in the tree."""
        return self.tree.resolve(self._whole(path))

    def _whole(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._folder}/{path}"

    def _file(self, path: str) -> Node:
        node = self.tree.at(path)
        if node.kind not in ("file", "sparse"):
            raise NotRegularError(errno.EINVAL, "not a regular file", path)
        return node

    @contextmanager
    def open(self, path: str) -> Iterator[Opened]:
        """A regular file, for reads at any offset."""
        node = self._file(path)
        yield Opened(self.tree.read(node), node.size, node.emptied)

    def parts(self, path: str) -> Iterator[bytes]:
        """Its bytes in order."""
        node = self._file(path)
        pread = self.tree.read(node)
        for place in range(0, node.size, _PART):
            part = pread(place, _PART)
            if not part:
                raise CutError("layer is cut short", place)
            yield part

    def stat(self, path: str) -> Stat:
        """Links followed."""
        node = self.tree.at(path)
        several = node.kind == "file" and self.tree.several_names(node)
        inode = f"layers:{node.group:x}" if several else ""
        kind: Any = _STATS.get(node.kind, "other")
        return Stat(kind, node.size, stat_.filemode(node.mode), round(node.mtime, 2), inode)

    def brief(self, path: str) -> tuple[str, int, float, bool]:
        """Kind, size and time; every file of an image can be read."""
        node = self.tree.at(path)
        return _STATS.get(node.kind, "other"), node.size, node.mtime, True

    def names(self, path: str) -> Iterator[tuple[str, str]]:
        """Each name in a folder with its kind."""
        names = self.tree.at(path).names
        if names is None:
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
        yield from ((name, _KINDS.get(node.kind, "other")) for name, node in names.items())

    def listed(self, path: str) -> set[str]:
        """The names in a folder alone."""
        return {name for name, _ in self.names(path)}

    def target(self, path: str) -> str:
        """Where the link at a path points."""
        node = self.tree.at(self.tree.resolve(self._whole(path), last=False))
        if node.kind != "link":
            raise OSError(errno.EINVAL, "not a link", path)
        return node.target

    def real(self, path: str) -> str:
        """The path after every link; raises FileNotFoundError."""
        found = self.place(path)
        self.tree.at(found)
        return found

    def readable(self, path: str) -> bool:
        """Every file of an image can be read."""
        return True

    def space(self, path: str) -> Disk:
        """Layers have no file system of their own."""
        raise OSError(errno.ENOTSUP, "an image has no disk")


class ImageMachine(Machine):
    """Answers file questions from the layers, and the environment from the image's config."""

    def __init__(self, tree: Tree, what: Offline, started: Started | None = None) -> None:
        self._variables = None if started is None else _variables(started)
        self._words = started.words if started else []
        self._folder = (started.folder if started else None) or "/"
        self._what = what
        self.home = _home(tree, started.user or "") if started else ""
        self._files = Files(ImageSystem(tree, self._folder))

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
            return Known(self._set_at_start(self._variables), _CONFIG)
        if question == "offline":
            return Known(self._what, Source("file", "image config"))
        how = "run gpuwhy in a container of it"
        return Unknown(f"{question}: an image cannot be asked", how, "offline")

    def _set_at_start(self, environ: dict[str, str]) -> tuple[SetAtStart, ...]:
        """Of the variables that hold no secret: folders of the loader, numbers of GPUs."""
        found = changes(self._words, environ, self._script)
        return tuple(one for one in found if one.name in _SAID)

    def _script(self, name: str) -> str:
        """The text of a shell script that the image starts; "" where it is none."""
        path = name if name.startswith("/") else f"{self._folder}/{name}"
        text = value_or(self.read(path), "")
        return text if re.match(r"#!\S*(?:/| )(?:ba|da|a)?sh\b", text) else ""


def _variables(started: Started) -> dict[str, str]:
    pairs = (one.partition("=") for one in started.env or ())
    return {"PATH": _PATH, **{name: value for name, _, value in pairs if name}}


def _home(tree: Tree, user: str) -> str:
    """The home folder of the user that the image starts as, by its /etc/passwd."""
    name = user.partition(":")[0]
    if name in ("", "root", "0"):
        return "/root"
    try:
        node = tree.at(tree.resolve("/etc/passwd"))
        data = tree.read(node)(0, 1 << 20) if node.kind == "file" else b""
    except (OSError, MalformedError):
        return ""
    fields = (line.split(":") for line in data.decode("utf-8", "replace").splitlines())
    return next((f[5] for f in fields if len(f) > 5 and name in (f[0], f[2])), "")


def open_image(path: str, wanted: str = "", note: Note = lambda _: None) -> ImageMachine | None:
    """The machine of an image's folder or archive; None for a folder that is a file system.

    Raises UnreadableImageError with one sentence for everything else.
    """
    read = _of_folder if os.path.isdir(path) else _of_archive
    try:
        opened = read(path, wanted, note)
        return ImageMachine(*opened) if opened else None
    except OSError as error:
        raise UnreadableImageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except MalformedError as error:
        raise UnreadableImageError(f"{path}: {error}") from error


_Found = tuple[Tree, Offline, "Started | None"]


def _of_folder(path: str, wanted: str, note: Note) -> _Found | None:
    marks = ("oci-layout", "index.json", "manifest.json")
    if not any(os.path.isfile(os.path.join(path, mark)) for mark in marks):
        return None
    find = in_folder(path)
    found = images(find)
    return _of_image(find, chosen(found, wanted, path), path, note) if found else None


def _of_archive(path: str, wanted: str, note: Note) -> _Found:
    note(f"reading {os.path.basename(path)}")
    outer = Tree()
    outer.add(plain_tar(open_file(path), path))
    find = in_tree(outer)
    found = images(find)
    if found:
        return _of_image(find, chosen(found, wanted, path), path, note)
    if not {"etc", "usr", "bin", "lib", "opt"} & (outer.root.names or {}).keys():
        raise UnreadableImageError(f"{path} holds neither an image nor a file system")
    return outer, Offline("archive"), None


def _of_image(find: Find, image: Image, path: str, note: Note) -> _Found:
    platform = image.config.platform
    if image.config.system not in ("linux", ""):
        only = "only those for Linux are read"
        raise UnreadableImageError(f"{path}: an image for {platform}; {only}")
    tree = Tree()
    for number, layer in enumerate(image.layers, 1):
        note(f"reading layer {number} of {len(image.layers)}")
        file = find(layer.file)
        if file is None:
            raise UnreadableImageError(f"{path} lacks a layer of the image: {layer.file}")
        if layer.size not in (-1, file.size):
            said = f"layer {number} has {file.size} bytes of {layer.size}"
            raise UnreadableImageError(f"{path}: {said}")
        tree.add(plain_tar(file, f"layer {number}"))
    return tree, Offline("image", _called(image.config, image.name)), _start(image.config)


def _start(config: Config) -> Started:
    return config.started or Started()


def _called(config: Config, name: str) -> str:
    return f"{name}, {config.platform}" if name else config.platform
