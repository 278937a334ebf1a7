"""Tree: the file system that the layers of an image make, as an index; bytes stay where they are.

Layers are applied in order as a container engine does: a later entry replaces an earlier one,
folders merge, and a whiteout (`.wh.name`, `.wh..wh..opq`) hides what earlier layers brought.
Nothing leads out of the tree: `..` stops at its root, absolute links start there.
"""

from __future__ import annotations

import errno
import stat as stat_
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from gpuwhy.formats import CutError, MalformedError, Pread
from gpuwhy.formats.tar import Entry, Kind, read_tar
from gpuwhy.machine.files import FileSystem, Opened, parts, resolved
from gpuwhy.machine.machine import Stat
from gpuwhy.machine.reading import NotRegularError

MAX_WEIGHT = 1 << 30
"""What the index may take in bytes, roughly: 3 million files. Large images have 500,000."""
MAX_PATH = 4096
_NODE_WEIGHT = 300
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_PART = 1 << 20
_FOLDER = Entry("", "folder", 0o755, 0.0, 0, 0, "")
"""A folder that has no entry of its own."""
_TYPES: dict[Kind, tuple[int, str, str]] = {
    "file": (stat_.S_IFREG, "file", "file"),
    "sparse": (stat_.S_IFREG, "file", "file"),
    "folder": (stat_.S_IFDIR, "folder", "folder"),
    "link": (stat_.S_IFLNK, "other", "link"),
    "char": (stat_.S_IFCHR, "char", "other"),
    "block": (stat_.S_IFBLK, "block", "other"),
    "other": (stat_.S_IFIFO, "other", "other"),
}
"""The type in a mode, what stat calls it, what a list calls it."""


class Node(NamedTuple):
    """One file, folder or link, the layer that brought it; names of one file share it."""

    entry: Entry
    layer: int
    names: dict[str, Node] | None = None  # of a folder


class Tree:
    """The merged file system; `resolve` and `at` find paths in it, `opened` gives the bytes."""

    def __init__(self) -> None:
        self.root = Node(_FOLDER, 0, {})
        self._layers: list[Pread] = []
        self._weight = 0

    def add(self, pread: Pread) -> None:
        """Apply one more layer, a plain tar, what it hides first; raises MalformedError."""
        self._layers.append(pread)
        kept = []
        for entry in read_tar(pread):
            self._weigh(len(entry.name) + len(entry.target), entry.offset)
            if len(entry.name) > MAX_PATH or "\0" in entry.name:
                continue
            plain = resolved(entry.name, lambda _: None) if ".." in entry.name else entry.name
            *folders, name = parts(plain) or [""]
            if not name.startswith(_WHITEOUT):
                kept.append((folders, name, entry))
                continue
            with suppress(OSError):
                names = self.at(self.resolve("/".join(folders))).names or {}
                if name == _OPAQUE:
                    names.clear()
                names.pop(name.removeprefix(_WHITEOUT), None)
        for folders, name, entry in kept:
            with suppress(OSError):
                self._put(folders, name, entry)

    def _weigh(self, text: int, offset: int = 0) -> None:
        self._weight += _NODE_WEIGHT + text
        if self._weight > MAX_WEIGHT:
            raise MalformedError("more files than an image has", offset)

    def _put(self, folders: list[str], name: str, entry: Entry) -> None:
        """Raises OSError where no folder takes it, or a further name is of no file."""
        if not name:  # the root itself
            self.root = self.root._replace(entry=entry)
            return
        names, node = self._names(folders), Node(entry, len(self._layers) - 1)
        if entry.kind == "hard":
            node = self.at(self.resolve(entry.target, last=False))
            if node.names is not None:
                return
        if entry.kind == "folder":
            there = names.get(name)
            node = node._replace(names=there.names if there and there.names is not None else {})
        names[name] = node

    def _names(self, folders: list[str]) -> dict[str, Node]:
        """What the folder of an entry holds; made where it has no entry; links are followed."""
        for _ in range(2):
            names = self.root.names
            for name in folders:
                assert names is not None
                node = names.get(name)
                if node is None or (node.names is None and node.entry.kind != "link"):
                    self._weigh(len(name))
                    node = names[name] = Node(_FOLDER, len(self._layers) - 1, {})
                names = node.names
                if names is None:  # a link
                    break
            else:
                assert names is not None
                return names
            folders = parts(self.resolve("/".join(folders)))
        raise OSError(errno.ELOOP, "a link that leads nowhere")

    # ------------------------------------------------------------ finding

    def at(self, path: str) -> Node:
        """The node at a path without links; raises FileNotFoundError or NotADirectoryError."""
        node = self.root
        for name in parts(path):
            if node.names is None:
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
            if name not in node.names:
                raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
            node = node.names[name]
        return node

    def resolve(self, path: str, last: bool = True) -> str:
        """The path after every link (`last` False: all but the last); what is missing stays."""

        def target(path: str) -> str | None:
            with suppress(FileNotFoundError):
                entry = self.at(path).entry
                return entry.target if entry.kind == "link" else None
            return None

        return resolved(path, target, self.names, last=last)

    def names(self, path: str) -> dict[str, Node]:
        """What a folder holds; raises OSError."""
        names = self.at(path).names
        if names is None:
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
        return names

    def opened(self, path: str) -> Opened:
        """The bytes of a file, where its layer has them; raises OSError."""
        entry, layer, _ = self.at(path)
        if entry.kind == "sparse":
            raise OSError(errno.ENOTSUP, "a sparse file in a tar archive, which is not read")
        if entry.kind != "file":
            raise NotRegularError(errno.EINVAL, "not a regular file", path)
        pread, start, size = self._layers[layer], entry.offset, entry.size
        return Opened(lambda at, most: pread(start + at, max(0, min(most, size - at))), size)


class ImageSystem(FileSystem):
    """The files of the layers; a relative path starts in the image's working folder."""

    written_in_place = False

    def __init__(self, tree: Tree, folder: str = "/") -> None:
        self.tree = tree
        self._folder = folder

    def place(self, path: str) -> str:
        """Every link resolved in the tree."""
        return self.tree.resolve(self._whole(path))

    def _whole(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._folder}/{path}"

    @contextmanager
    def open(self, path: str) -> Iterator[Opened]:
        """A regular file, for reads at any offset."""
        yield self.tree.opened(path)

    def parts(self, path: str) -> Iterator[bytes]:
        """Its bytes in order."""
        with self.open(path) as file:
            for place in range(0, file.size, _PART):
                part = file.pread(place, _PART)
                if not part:
                    raise CutError("layer is cut short", place)
                yield part

    def stat(self, path: str) -> Stat:
        """Links followed; names of one file have one inode, and so has a file with one name."""
        node = self.tree.at(path)
        entry = node.entry
        bits, kind, _ = _TYPES[entry.kind]
        inode = f"layers:{node.layer:x}:{entry.offset:x}" if kind == "file" else ""
        mode = stat_.filemode(bits | entry.mode)
        stated: Any = kind
        return Stat(stated, entry.size, mode, round(entry.mtime, 2), inode)

    def readable(self, path: str, mode: str) -> bool:
        """Every file of an image can be read."""
        return True

    def names(self, path: str) -> Iterator[tuple[str, str]]:
        """Each name in a folder with its kind."""
        for name, node in self.tree.names(path).items():
            yield name, _TYPES[node.entry.kind][2]

    def target(self, path: str) -> str:
        """Where the link at a path points."""
        entry = self.tree.at(self.tree.resolve(self._whole(path), last=False)).entry
        if entry.kind != "link":
            raise OSError(errno.EINVAL, "not a link", path)
        return entry.target

    def real(self, path: str) -> str:
        """The path after every link; raises FileNotFoundError."""
        found = self.place(path)
        self.tree.at(found)
        return found
