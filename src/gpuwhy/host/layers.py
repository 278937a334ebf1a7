"""Tree: the file system that the layers of an image make, as an index; bytes stay where they are.

Layers are applied in order as a container engine does: a later entry replaces an earlier one, folders merge, and a
whiteout (`.wh.name`, `.wh..wh..opq`) hides what earlier layers brought. Nothing leads out of the tree: `..` stops at
its root, absolute links start there.
"""

from __future__ import annotations

import errno
import stat as stat_
from collections.abc import Iterator

from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.tar import Entry, Kind, read_tar
from gpuwhy.host.altered import emptied

MAX_WEIGHT = 1 << 30
"""What the index may take in bytes, roughly: 3 million files. The largest images have some 500,000."""

MAX_PATH = 4096
_NODE_WEIGHT = 300
_MAX_LINKS = 40
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_TYPES: dict[Kind, int] = {
    "file": stat_.S_IFREG, "sparse": stat_.S_IFREG, "folder": stat_.S_IFDIR, "link": stat_.S_IFLNK,
    "char": stat_.S_IFCHR, "block": stat_.S_IFBLK, "other": stat_.S_IFIFO, "hard": stat_.S_IFREG,
}  # fmt: skip


class Node:
    """One file, folder or link; `data` is the layer that holds its bytes or its mode, `touched` the last that named it.

    A folder is also named by every path through it.
    """

    __slots__ = ("data", "emptied", "group", "kind", "mode", "mtime", "names", "offset", "size", "target", "touched")

    def __init__(self, kind: Kind, touched: int, mode: int = 0o755, mtime: float = 0.0) -> None:
        self.kind = kind
        self.mode = _TYPES[kind] | mode
        self.mtime = mtime
        self.size = 0
        self.touched = touched
        self.data = touched
        self.offset = 0
        self.target = ""
        self.group = 0  # hard links to one file share it
        self.emptied: bool | None = None  # of a library: whether it looks as if it was never written whole
        self.names: dict[str, Node] | None = {} if kind == "folder" else None


class Tree:
    """The merged file system; `resolve` and `at` find paths in it, `read` gives a file's bytes."""

    def __init__(self) -> None:
        self.root = Node("folder", 0)
        self._layers: list[Pread] = []
        self._weight = 0
        self._groups = 0
        self._alive: dict[int, int] | None = None

    def add(self, pread: Pread) -> None:
        """Apply one more layer, a plain tar; raises MalformedError."""
        self._layers.append(pread)
        number = len(self._layers) - 1
        for entry in read_tar(pread):
            self._weigh(len(entry.name) + len(entry.target), entry.offset)
            if len(entry.name) <= MAX_PATH and "\0" not in entry.name:
                self._apply(entry, number)
                self._sample(entry, pread)
        self._alive = None

    def _sample(self, entry: Entry, pread: Pread) -> None:
        """Look at the places of a library by which damage is told, while its layer is unpacked anyway.

        Afterwards each of them would unpack a block of the layer again.
        """
        if entry.kind != "file" or not entry.size or ".so" not in entry.name.rpartition("/")[2]:
            return
        try:
            node = self.at(self.resolve("/" + entry.name, last=False))
        except OSError:
            return
        if (node.data, node.offset) == (len(self._layers) - 1, entry.offset):
            node.emptied = emptied(lambda place, size: pread(entry.offset + place, size), entry.size)

    def _weigh(self, text: int, offset: int = 0) -> None:
        self._weight += _NODE_WEIGHT + text
        if self._weight > MAX_WEIGHT:
            raise MalformedError("more files than an image has", offset)

    def _apply(self, entry: Entry, number: int) -> None:
        *folders, name = _parts(entry.name) or [""]
        if not name:  # the root itself
            self.root.mode = stat_.S_IFDIR | entry.mode
            self.root.mtime = entry.mtime
            return
        if name.startswith(_WHITEOUT):
            self._whiteout(folders, name, number)
            return
        parent = self._parent(folders, number)
        if parent is not None and parent.names is not None:
            self._place(parent.names, name, entry, number)

    def _whiteout(self, folders: list[str], name: str, number: int) -> None:
        try:
            parent = self.at(self.resolve("/" + "/".join(folders)))
        except OSError:
            return
        if name == _OPAQUE:
            _purge(parent, number)
        else:
            _hide(parent, name.removeprefix(_WHITEOUT), number)

    def _place(self, names: dict[str, Node], name: str, entry: Entry, number: int) -> None:
        there = names.get(name)
        if entry.kind == "folder" and there is not None and there.names is not None:
            there.mode, there.mtime = stat_.S_IFDIR | entry.mode, entry.mtime
            there.touched = there.data = number
            return
        node = self._linked(entry, number) if entry.kind == "hard" else _node(entry, number)
        if node is not None:
            names.pop(name, None)
            names[name] = node

    def _linked(self, entry: Entry, number: int) -> Node | None:
        """A second name of a file; of an earlier layer's, a copy of what tells where its bytes lie."""
        try:
            first = self.at(self.resolve("/" + entry.target, last=False))
        except OSError:
            return None
        if first.names is not None:
            return None
        if not first.group:
            self._groups += 1
            first.group = self._groups
        if first.touched == number:
            return first
        node = Node(first.kind, number, stat_.S_IMODE(first.mode), first.mtime)
        node.size, node.data, node.offset, node.target = first.size, first.data, first.offset, first.target
        node.group, node.emptied = first.group, first.emptied
        return node

    def _parent(self, folders: list[str], number: int) -> Node | None:
        """The folder of an entry, made where no entry of its own came first; links on the way are followed."""
        for _ in range(_MAX_LINKS):
            node, left = self._descend(folders, number)
            if not left:
                return node
            link = folders[: len(folders) - len(left) + 1]
            try:
                folders = [*_parts(self.resolve("/" + "/".join(link))), *left[1:]]
            except OSError:
                return None
        return None

    def _descend(self, folders: list[str], number: int) -> tuple[Node, list[str]]:
        """As deep as folders go, missing ones made; what is left starts with a link."""
        node = self.root
        for done, name in enumerate(folders):
            assert node.names is not None
            following = node.names.get(name)
            if following is not None and following.kind == "link":
                return node, folders[done:]
            if following is None or following.names is None:
                self._weigh(len(name))
                following = node.names[name] = Node("folder", number)
            following.touched = number
            node = following
        return node, []

    # ------------------------------------------------------------ finding

    def at(self, path: str) -> Node:
        """The node at a path without links; raises FileNotFoundError or NotADirectoryError."""
        node = self.root
        for name in _parts(path):
            if node.names is None:
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
            if name not in node.names:
                raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
            node = node.names[name]
        return node

    def resolve(self, path: str, last: bool = True) -> str:
        """The path after following every link (with `last` False, all but the last); what is missing stays written."""
        done: list[str] = []
        nodes: list[Node | None] = [self.root]
        left = _words(path)
        links = 0
        while left:
            part = left.pop()
            found = _below(nodes[-1], part, path)
            if part == "..":
                del done[-1:], nodes[max(1, len(nodes) - 1) :]
            elif found is None or found.kind != "link" or (not left and not last):
                done.append(part)
                nodes.append(found)
            else:
                links += 1
                if links > _MAX_LINKS or len(found.target) > MAX_PATH:
                    raise OSError(errno.ELOOP, "too many levels of symbolic links", path)
                if found.target.startswith("/"):
                    done, nodes = [], [self.root]
                left.extend(_words(found.target))
        return "/" + "/".join(done)

    def read(self, node: Node) -> Pread:
        """A reader of a file's own bytes."""
        if node.kind == "sparse":
            raise OSError(errno.ENOTSUP, "a sparse file in a tar archive, which is not read")
        pread, start, size = self._layers[node.data], node.offset, node.size
        return lambda offset, length: pread(start + offset, max(0, min(length, size - offset)))

    def several_names(self, node: Node) -> bool:
        """Whether another name of the same file is still there."""
        if not node.group:
            return False
        if self._alive is None:
            self._alive = {}
            for one in _everything(self.root):
                if one.group:
                    self._alive[one.group] = self._alive.get(one.group, 0) + 1
        return self._alive.get(node.group, 0) > 1


def _node(entry: Entry, number: int) -> Node:
    node = Node(entry.kind, number, entry.mode, entry.mtime)
    node.size, node.offset, node.target = entry.size, entry.offset, entry.target
    if entry.kind == "link":
        node.size = len(entry.target.encode("utf-8", "surrogateescape"))
    return node


def _purge(folder: Node, number: int) -> None:
    """Forget what earlier layers brought below a folder."""
    todo = [folder]
    while todo:
        names = todo.pop().names or {}
        for name in [name for name, node in names.items() if node.touched < number]:
            del names[name]
        for node in names.values():
            if node.names is not None:
                node.mode = node.mode if node.data == number else Node("folder", number).mode
                todo.append(node)


def _hide(parent: Node, name: str, number: int) -> None:
    names = parent.names or {}
    node = names.get(name)
    if node is not None and node.touched < number:
        del names[name]
    elif node is not None and node.names is not None:
        _purge(node, number)


def _everything(folder: Node) -> Iterator[Node]:
    todo = [folder]
    while todo:
        for node in (todo.pop().names or {}).values():
            yield node
            if node.names is not None:
                todo.append(node)


def _below(here: Node | None, part: str, path: str) -> Node | None:
    """What a folder holds under a name; None where nothing is there, or the folder itself is not."""
    if here is None:
        if part == "..":
            raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
        return None
    if here.names is None:
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
    return here.names.get(part)


def _words(path: str) -> list[str]:
    """The parts of a path, last first; `..` stays."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _parts(path: str) -> list[str]:
    """The parts of a path that an archive names: `..` goes up, and stops at the root."""
    out: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del out[-1:]
        elif part not in ("", "."):
            out.append(part)
    return out
