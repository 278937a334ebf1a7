"""A container image or a file system's archive, read where it lies: its files, and its config."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gpuwhy.facts.fact import Fact, Known, Source, value_or
from gpuwhy.facts.system import Offline
from gpuwhy.facts.variables import SetAtStart
from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.compress import GZIP, ZSTD, gunzipped, unzstd
from gpuwhy.formats.tar import HEADER, looks_like_tar
from gpuwhy.machine.files import FileSystem, Opened
from gpuwhy.machine.folder import FolderMachine
from gpuwhy.machine.image_manifest import Image, Started, Store, UnreadableImageError, chosen
from gpuwhy.machine.image_tree import ImageSystem, Tree
from gpuwhy.machine.live import permitted
from gpuwhy.machine.reading import NotRegularError, pread_of, regular

_CONFIG = Source("env", "environment", "image config")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What every engine sets where the image's config does not."""
_SHELLS = ("sh", "bash", "dash", "ash")
_READ = re.compile(
    r"LD_LIBRARY_PATH|LD_PRELOAD|PATH|PYTHONPATH"
    r"|CUDA_\w+|TF_\w+|XLA_\w+|JAX_\w+|PYTORCH_\w+|TORCH_\w+"
)
"""Variables that the stack reads; the engine reads NVIDIA_… before the start."""
_SETS = re.compile(
    r"(?:export\s+)?([A-Z][A-Z0-9_]*)=((?:\"[^\"]*\"|'[^']*'|[^\s;&|\"'])*)(?=[\s;&]|$)"
)
_TAKES = re.compile(r"unset\s+([A-Z][A-Z0-9_ ]*)")
_OPENS = re.compile(r"^\s*(?:if|for|while|until|case)\b|^\s*[\w-]+ *\(\) *\{?\s*$|\{\s*$")
_CLOSES = re.compile(r"^\s*(?:fi|done|esac|\})(?:\s|;|$)")
_ONE_LINE = re.compile(r"^\s*(?:if|for|while|case)\b.*\b(?:fi|done|esac)\b")
_ASKS = re.compile(r"\s*(?:!\s|\[|test\s|command\s|which\s|type\s|grep\s|false\b).*&&")
_NAMED = re.compile(
    r"\$\{(?P<name>\w+)(?::(?P<sign>[-+])(?P<other>(?:\$\{\w+\}|[^}])*))?\}|\$(?P<plain>\w+)"
)
_LONGEST = 200
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


class ImageMachine(FolderMachine):
    """Answers file questions from the layers, and the environment from the image's config."""

    called, how = "an image", "run gpuwhy in a container of it"
    known_by = Source("file", "image config")

    def __init__(self, tree: Tree, what: Offline, started: Started | None = None) -> None:
        pairs = (one.partition("=") for one in started.env or ()) if started else ()
        given = {"PATH": _PATH, **{name: value for name, _, value in pairs if name}}
        self._words = started.words if started else []
        self._folder = (started.working_dir if started else None) or "/"
        super().__init__(ImageSystem(tree, self._folder), given if started else None)
        self.stands_for = what
        self.home = self._home(started.user or "") if started else ""

    def give(self, variables: dict[str, str]) -> None:
        """Set variables over those of the config, as `docker run --env` does."""
        if variables:
            self._variables = {**(self._variables or {}), **variables}

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """The variables as the start of the image leaves them."""
        if question not in ("environ", "set_at_start") or self._variables is None:
            return super().ask(question, *args)
        begun = dict(self._variables)
        found = [*_set_by(self._words, begun, self._script)]
        if question == "environ":
            return Known(permitted(begun), _CONFIG)
        return Known(tuple(one for one in found if one.name in _SAID), _CONFIG)

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


# ------------------------------------------------------------ the start of an image


def _set_by(
    words: Sequence[str], found: dict[str, str], read: Callable[[str], str]
) -> Iterator[SetAtStart]:
    """What `env A=1 …`, `sh -c "A=1 exec …"` or a script sets and unsets, in order; in `found` too.

    `read` gives a script's text, or "".
    """
    name, script = words[0].rpartition("/")[2] if words else "", ""
    if name == "env":
        text = " ".join(shlex.quote(one) if "=" not in one else one for one in words[1:])
    elif name in _SHELLS and len(words) > 2 and re.fullmatch(r"-\w*c", words[1]):
        text = words[2]
    else:
        script = "".join(words[1:2] if name in _SHELLS else words[:1])
        text = read(script) if script else ""
    depth = 0
    for number, line in enumerate(text.splitlines()[:_LONGEST], 1):
        if _CLOSES.match(line):
            depth = max(0, depth - 1)
        elif _OPENS.search(line):
            depth += not _ONE_LINE.match(line)
        elif not depth and not _ASKS.match(line):  # what a condition guards may not be run
            for part in re.split(r";|&&", line):
                yield from _assigned(part.strip(), found, script, number)


def _assigned(part: str, found: dict[str, str], script: str, number: int) -> Iterator[SetAtStart]:
    """The assignments at the start of a command."""
    if taken := _TAKES.match(part):
        for name in taken[1].split():
            yield SetAtStart(name, found.pop(name, ""), "", script, number, taken[0].strip())
    while (one := _SETS.match(part)) is not None:
        if _READ.fullmatch(one[1]) and "$(" not in one[2] and "`" not in one[2]:
            bare, before = one[2].strip("\"'"), found.get(one[1], "")
            after = bare if one[2][:1] == "'" else _filled(bare, found)
            found[one[1]] = after
            yield SetAtStart(one[1], before, after, script, number, one[0].strip())
        part = part[one.end() :].lstrip()


def _filled(text: str, found: Mapping[str, str]) -> str:
    """A value with the variables in it: $A, ${A}, ${A:-other}, ${A:+:$A}."""

    def value(name: re.Match[str]) -> str:
        known, other = found.get(name["plain"] or name["name"], ""), name["other"] or ""
        if name["sign"] == "+":
            return _filled(other, found) if known else ""
        return known or _filled(other, found)

    return _NAMED.sub(value, text)


# ------------------------------------------------------------ opening


def open_image(path: str, wanted: str = "", note: Note = lambda _: None) -> ImageMachine | None:
    """The machine of an image's folder or archive; None for a folder that is a file system.

    Raises UnreadableImageError with one sentence for everything else.
    """
    try:
        return _machine_at(path, wanted, note)
    except NotRegularError as error:
        raise UnreadableImageError(f"{path} is no regular file") from error
    except OSError as error:
        raise UnreadableImageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except MalformedError as error:
        raise UnreadableImageError(f"{path}: {error}") from error


def _machine_at(path: str, wanted: str, note: Note) -> ImageMachine | None:
    outer, folder = Tree(), os.path.isdir(path)
    if folder:
        if not any(os.path.isfile(os.path.join(path, mark)) for mark in _MARKS):
            return None
        store = Store(FileSystem(), path)
    else:
        note(f"reading {os.path.basename(path)}")
        outer.add(_plain_tar(_kept(path), path))
        store = Store(ImageSystem(outer), "")
    if found := store.images():
        find = _kept if folder else outer.opened
        return _of_image(
            lambda name: find(store.place(name)), chosen(found, wanted, path), path, note
        )
    if folder:
        return None
    if not {"etc", "usr", "bin", "lib", "opt"} & (outer.root.names or {}).keys():
        raise UnreadableImageError(f"{path} holds neither an image nor a file system")
    return ImageMachine(outer, Offline("archive"))


def _of_image(find: Callable[[str], Opened], image: Image, path: str, note: Note) -> ImageMachine:
    """`find` opens the file of a layer for as long as somebody reads from it."""
    config = image.config
    if config.os not in ("linux", ""):
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
    return ImageMachine(tree, Offline("image", called), config.config or Started())


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
    head, pread = file.pread(0, HEADER), file.pread
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise UnreadableImageError(f"{name} is {what}")
    if head.startswith(GZIP):
        pread = gunzipped(file.pread, file.size)
    elif head.startswith(ZSTD):
        try:
            pread = unzstd(file.pread, file.size)
        except ImportError as error:
            how = "`zstd -d` it, or save the image with gzip layers"
            said = f"{name} is compressed with zstd, which Python reads from 3.14 on: {how}"
            raise UnreadableImageError(said) from error
    first = pread(0, HEADER)
    if not looks_like_tar(first) and (any(first) or not first):
        raise UnreadableImageError(f"{name} is no tar archive")
    return pread
