"""Image: a container image or a file system's archive, read where it lies. Only files can be asked, and its config."""

from __future__ import annotations

import errno
import os
import re
import stat as stat_
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpuwhy.border.reading import NotRegularError
from gpuwhy.formats import CutError, MalformedError
from gpuwhy.host.alias import Alias
from gpuwhy.host.base import Disk, Host, Offline, SetAtStart, Stat
from gpuwhy.host.blobs import Find, UnreadableImageError, in_folder, in_tree, open_file, plain_tar
from gpuwhy.host.files import Files, Opened
from gpuwhy.host.layers import Node, Tree
from gpuwhy.host.live import steering
from gpuwhy.host.manifest import Config, Image, Started, chosen, images
from gpuwhy.host.root import FILES
from gpuwhy.host.starting import changes, started_with
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, value_or

CONFIG = Source("env", "environment", "image config")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What every engine sets where the image's config does not."""

_KINDS = {"file": "file", "sparse": "file", "folder": "folder", "link": "link"}
_STATS = {**_KINDS, "char": "char", "block": "block"}
_PART = 1 << 20
_SAID = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
Note = Callable[[str], None]


class ImageFiles(Files):
    """The file questions, answered from the index of the layers."""

    def __init__(self, alias: Alias, tree: Tree, whole: Callable[[str], str]) -> None:
        super().__init__(alias, lambda path: tree.resolve(whole(path)))
        self._tree = tree

    def _file(self, path: str) -> Node:
        node = self._tree.at(path)
        if node.kind not in ("file", "sparse"):
            raise NotRegularError(errno.EINVAL, "not a regular file", path)
        return node

    def _readable(self, path: str) -> bool:
        return True

    @contextmanager
    def _open(self, path: str) -> Iterator[Opened]:
        node = self._file(path)
        yield Opened(self._tree.read(node), node.size, node.emptied)

    def _parts(self, path: str) -> Iterator[bytes]:
        node = self._file(path)
        pread = self._tree.read(node)
        for place in range(0, node.size, _PART):
            part = pread(place, _PART)
            if not part:
                raise CutError("layer is cut short", place)
            yield part

    def _stat(self, path: str) -> Stat:
        node = self._tree.at(path)
        inode = f"layers:{node.group:x}" if self._tree.several_names(node) else ""
        kind: Any = _STATS.get(node.kind, "other")
        return Stat(kind, node.size, stat_.filemode(node.mode), round(node.mtime, 2), inode if kind == "file" else "")

    def _names(self, path: str) -> Iterator[tuple[str, str]]:
        names = self._tree.at(path).names
        if names is None:
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
        yield from ((name, _KINDS.get(node.kind, "other")) for name, node in names.items())

    def _space(self, path: str) -> Disk:
        raise OSError(errno.ENOTSUP, "an image has no disk")


class ImageHost(Host):
    """Answers file questions from the layers, and the environment from the image's config where it has one."""

    def __init__(self, tree: Tree, what: Offline, started: Started | None = None, alias: Alias | None = None) -> None:
        self._tree = tree
        self._environ = None if started is None else _variables(started)
        self._words = started.words if started else []
        self._what = what
        self._folder = (started.folder if started else None) or "/"
        self.alias = alias or Alias(_home(tree, started.user or "") if started else "")
        self._files = ImageFiles(self.alias, tree, self._whole)

    def give(self, variables: dict[str, str]) -> None:
        """Set variables over those of the config, as `docker run --env` does."""
        if variables:
            self._environ = {**(self._environ or {}), **variables}

    def _script(self, name: str) -> str:
        """The text of a shell script that the image starts; "" where it is none."""
        path = name if name.startswith("/") else f"{self._folder}/{name}"
        text = value_or(self._files.read(self.alias.hide(path)), "")
        return text if re.match(r"#!\S*(?:/| )(?:ba|da|a)?sh\b", text) else ""

    def _whole(self, path: str) -> str:
        """An aliased path from the root on: a relative one starts in the image's working folder."""
        path = self.alias.path(path)
        return path if path.startswith("/") else f"{self._folder}/{path}"

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Files are answered; an image has no processes and no devices."""
        if op in FILES:
            answer: Fact[Any] = getattr(self._files, op)(*args)
            return answer
        if op == "environ" and self._environ is not None:
            return Known(steering(started_with(self._words, self._environ, self._script), self.alias), CONFIG)
        if op == "started" and self._environ is not None:
            return Known(self._set_at_start(self._environ), CONFIG)
        if op == "offline":
            return Known(self._what, Source("file", "image config"))
        if op in ("link", "real"):
            return self._linked(op, args[0])
        return Unknown(f"{op}: an image cannot be asked", "run gpuwhy in a container of it", "offline")

    def _set_at_start(self, environ: dict[str, str]) -> tuple[SetAtStart, ...]:
        """Of the variables that hold no secret: folders of the loader, numbers of GPUs."""
        made = (one for one in changes(self._words, environ, self._script) if one.name in _SAID)
        hide = self.alias.hide
        return tuple(
            SetAtStart(one.name, hide(one.before), hide(one.after), hide(one.script), one.line, hide(one.words))
            for one in made
        )

    def hide(self, text: str) -> str:
        """See Host.hide."""
        return self.alias.hide(text)

    def _linked(self, op: str, path: str) -> Fact[str]:
        source = Source("file", path)
        try:
            found = self._tree.resolve(self._whole(path), last=op == "real")
            node = self._tree.at(found)
        except OSError as error:
            return Absent(source) if error.errno != errno.ELOOP else Unknown(f"{path}: {error.strerror}")
        if op == "real":
            return Known(self.alias.hide(found), source)
        return Known(self.alias.hide(node.target), source) if node.kind == "link" else Absent(source)


def _variables(started: Started) -> dict[str, str]:
    pairs = (one.partition("=") for one in started.env or ())
    return {"PATH": PATH, **{name: value for name, _, value in pairs if name}}


def _home(tree: Tree, user: str) -> str:
    """The home folder of the user that the image starts as, by its /etc/passwd."""
    name = user.partition(":")[0]
    if name in ("", "root", "0"):
        return "/root"
    try:
        node = tree.at(tree.resolve("/etc/passwd"))
        text = tree.read(node)(0, 1 << 20).decode("utf-8", "replace") if node.kind == "file" else ""
    except (OSError, MalformedError):
        return ""
    fields = (line.split(":") for line in text.splitlines())
    return next((f[5] for f in fields if len(f) > 5 and name in (f[0], f[2])), "")


def open_image(
    path: str, wanted: str = "", note: Note = lambda _: None, alias: Alias | None = None
) -> ImageHost | None:
    """The host of an image's folder or archive; None for a folder that is a file system itself.

    Raises UnreadableImageError with one sentence for everything else.
    """
    try:
        opened = _of_folder(path, wanted, note) if os.path.isdir(path) else _of_archive(path, wanted, note)
        return ImageHost(*opened, alias) if opened else None
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
    return outer, Offline("archive", ""), None


def _of_image(find: Find, image: Image, path: str, note: Note) -> _Found:
    if image.config.system not in ("linux", ""):
        raise UnreadableImageError(f"{path}: an image for {image.config.platform}; only those for Linux are read")
    tree = Tree()
    for number, layer in enumerate(image.layers, 1):
        note(f"reading layer {number} of {len(image.layers)}")
        file = find(layer.file)
        if file is None:
            raise UnreadableImageError(f"{path} lacks a layer of the image: {layer.file}")
        if layer.size not in (-1, file.size):
            raise UnreadableImageError(f"{path}: layer {number} has {file.size} bytes of {layer.size}")
        tree.add(plain_tar(file, f"layer {number}"))
    return tree, Offline("image", _called(image.config, image.name)), image.config.started or Started()


def _called(config: Config, name: str) -> str:
    return f"{name}, {config.platform}" if name else config.platform
