"""A container image or a file system's archive, read where it lies: its files, and its config."""

from __future__ import annotations

import os
import re
import shlex
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from gpuwhy.facts.fact import Fact, Known, Source, value_or
from gpuwhy.facts.system import Offline
from gpuwhy.facts.variables import SetAtStart
from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.compress import GZIP, gunzipped
from gpuwhy.formats.tar import HEADER, looks_like_tar
from gpuwhy.machine.files import FileSystem, Opened
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.image_tree import ImageSystem, Tree
from gpuwhy.machine.live import permitted
from gpuwhy.machine.reading import pread_of, regular

T = TypeVar("T")
Note = Callable[[str], None]

MAX_JSON, MOST = 8 << 20, 1000
"""Bytes of a description; layers of an image, and descriptions that are read."""
_CONFIG = Source("env", "environment", "image config")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What every engine sets where the image's config does not."""
_MARKS = ("oci-layout", "index.json", "manifest.json")
_DIGEST = re.compile(r"(sha256|sha384|sha512):([0-9a-f]{64,128})")
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_OTHERS = {
    b"#!/usr/bin/env run-singularity": "a Singularity image: `apptainer build --sandbox FOLDER "
    "IMAGE` unpacks it",
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ\0": "compressed with xz: `xz -d` makes it readable",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: `zstd -d` it, or save the image with gzip layers",
    b"BZh": "compressed with bzip2: `bzip2 -d` makes it readable",
}


class UnreadableImageError(ValueError):
    """What was given is no image that can be read; the text says why."""


# ------------------------------------------------------------ what an image says of itself


class _Descriptor(msgspec.Struct):
    digest: str
    annotations: dict[str, str] | None = None


class _Index(msgspec.Struct):
    """An index or a manifest, which a file name alone does not tell apart."""

    manifests: list[_Descriptor] = []
    config: _Descriptor | None = None
    layers: list[_Descriptor] | None = None


class _Saved(msgspec.Struct, rename="pascal"):
    """A row of manifest.json, as `docker save` writes it."""

    config: str
    layers: list[str]
    repo_tags: list[str] | None = None


class Started(msgspec.Struct, rename="pascal"):
    """How a container of the image starts: the part of its config that matters here."""

    env: list[str] | None = None
    user: str | None = None
    working_dir: str | None = None
    entrypoint: list[str] | str | None = None
    cmd: list[str] | str | None = None


class Config(msgspec.Struct):
    """The image's config."""

    architecture: str = ""
    variant: str = ""
    os: str = "linux"
    config: Started | None = None


class Image(NamedTuple):
    """One image for one platform, and the files of its layers."""

    name: str
    config: Config
    layers: tuple[str, ...]

    @property
    def platform(self) -> str:
        """Like linux/amd64."""
        of = self.config
        return "/".join(filter(None, (of.os, of.architecture, of.variant)))

    @property
    def label(self) -> str:
        """How it is named among several."""
        return f"{self.name or 'unnamed'}@{self.platform}"

    def is_called(self, wanted: str) -> bool:
        """Whether this names it: its name, its platform or both, with a registry or without."""
        names = (self.name, self.label, self.platform)
        return any(f"/{one}".endswith(f"/{wanted}") for one in names)


def images(system: FileSystem) -> list[Image]:
    """Every image whose files are there; [] where nothing says that this is an image."""

    def described(name: str, kind: type[T]) -> T | None:
        """None where the file is not there: other platforms are listed, not saved."""
        try:
            data = system.whole(system.place(f"/{name}"), MAX_JSON)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise MalformedError(f"{name} is not what an image has there ({error})") from error

    found: list[Image] = []
    waiting, seen = [("index.json", "")], set[tuple[str, str]]()
    while waiting and len(seen) < MOST:  # an index may list others, or itself
        one = path, name = waiting.pop()
        index = None if one in seen else described(path, _Index)
        seen.add(one)
        if index is None:
            continue
        config = described(_blob(index.config), Config) if index.config else None
        attests = config is None or config.os == "unknown"
        if config and index.layers and not attests and len(index.layers) <= MOST:
            found.append(Image(name, config, tuple(map(_blob, index.layers))))
        for entry in index.manifests[:MOST]:
            notes = entry.annotations or {}
            named = (notes[key] for key in _NAMES if notes.get(key))
            waiting.append((_blob(entry), next(named, name)))
    for row in () if found else described("manifest.json", list[_Saved]) or ():
        config = described(row.config, Config)
        if config and len(row.layers) <= MOST:
            found += [Image(tag, config, tuple(row.layers)) for tag in row.repo_tags or [""]]
    return found


def _blob(named: _Descriptor) -> str:
    found = _DIGEST.fullmatch(named.digest)
    if not found:
        raise MalformedError(f"{named.digest[:80]!r} is no digest")
    return f"blobs/{found[1]}/{found[2]}"


def chosen(found: Sequence[Image], wanted: str, where: str) -> Image:
    """The image that is meant, linux/amd64 where several fit; raises UnreadableImageError."""
    fitting = {one.label: one for one in found if not wanted or one.is_called(wanted)}
    usual = [one for one in fitting.values() if one.platform == "linux/amd64"]
    if len(fitting) == 1 or len(usual) == 1:
        return [*usual, *fitting.values()][0]
    what = f"has no image {wanted}" if wanted and not fitting else f"holds {len(fitting)} images"
    listed = ", ".join(sorted({one.label for one in found}))
    raise UnreadableImageError(f"{where} {what}; choose with --image one of: {listed}")


# ------------------------------------------------------------ opening


def open_image(
    path: str,
    wanted: str = "",
    note: Note = lambda _: None,
    variables: Mapping[str, str] | None = None,
) -> ImageMachine | None:
    """The machine of an image's folder or archive; None for a folder that is a file system.

    `variables` are set over those of the config, as `docker run --env` does. Raises
    UnreadableImageError with one sentence for what cannot be read.
    """
    try:
        return _machine_at(path, wanted, note, variables or {})
    except OSError as error:
        raise UnreadableImageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except MalformedError as error:
        raise UnreadableImageError(f"{path}: {error}") from error


def _machine_at(
    path: str, wanted: str, note: Note, variables: Mapping[str, str]
) -> ImageMachine | None:
    outer, folder = Tree(), os.path.isdir(path)
    system: FileSystem = FolderSystem(path) if folder else ImageSystem(outer)
    if folder and not any(os.path.isfile(os.path.join(path, mark)) for mark in _MARKS):
        return None
    if not folder:
        note(f"reading {os.path.basename(path)}")
        outer.add(_plain_tar(_kept(path), path))
    found = images(system)
    if not found:
        if folder:
            return None
        if not {"etc", "usr", "bin", "lib", "opt"} & (outer.root.names or {}).keys():
            raise UnreadableImageError(f"{path} holds neither an image nor a file system")
        return ImageMachine(outer, Offline("archive"), None, variables)
    image = chosen(found, wanted, path)
    if image.config.os not in ("linux", ""):
        only = "only those for Linux are read"
        raise UnreadableImageError(f"{path}: an image for {image.platform}; {only}")
    tree, find = Tree(), _kept if folder else outer.opened
    for number, name in enumerate(image.layers, 1):
        note(f"reading layer {number} of {len(image.layers)}")
        try:
            file = find(system.place(f"/{name}"))
        except OSError as error:
            raise UnreadableImageError(f"{path} lacks a layer of the image: {name}") from error
        tree.add(_plain_tar(file, f"layer {number}"))
    called = ", ".join(filter(None, (image.name, image.platform)))
    return ImageMachine(tree, Offline("image", called), image.config.config or Started(), variables)


def _kept(path: str) -> Opened:
    """A file that stays open for as long as somebody reads from it."""
    file = os.fdopen(regular(path), "rb", buffering=0)
    pread, size = pread_of(file.fileno()), os.fstat(file.fileno()).st_size
    weakref.finalize(pread, file.close)
    return Opened(pread, size)


def _plain_tar(file: Opened, name: str) -> Pread:
    """The bytes of a tar archive, through what compresses it; raises UnreadableImageError."""
    head, pread = file.pread(0, HEADER), file.pread
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise UnreadableImageError(f"{name} is {what}")
    if head.startswith(GZIP):
        pread = gunzipped(file.pread, file.size)
    first = pread(0, HEADER)
    if not looks_like_tar(first) and (any(first) or not first):
        raise UnreadableImageError(f"{name} is no tar archive")
    return pread


class ImageMachine(FolderMachine):
    """Answers file questions from the layers, and the environment from the image's config."""

    called, how = "an image", "run gpuwhy in a container of it"
    known_by = Source("file", "image config")

    def __init__(
        self,
        tree: Tree,
        what: Offline,
        started: Started | None,
        variables: Mapping[str, str],
    ) -> None:
        start = started or Started()
        pairs = (one.partition("=") for one in start.env or ())
        known = {"PATH": _PATH, **{name: value for name, _, value in pairs if name}}
        known = {**known, **variables} if started else dict(variables)
        super().__init__(ImageSystem(tree, start.working_dir or "/"), known or None)
        self.stands_for = what
        self._set: list[SetAtStart] = []
        if not started:
            return
        parts = (
            [one] if isinstance(one, str) else one or [] for one in (start.entrypoint, start.cmd)
        )
        self._set = [*set_by([word for part in parts for word in part], known, self._script)]
        user = (start.user or "").partition(":")[0]
        rows = (line.split(":") for line in value_or(self.read("/etc/passwd"), "").splitlines())
        homes = (row[5] for row in rows if len(row) > 5 and user in (row[0], row[2]))
        self.home = "/root" if user in ("", "root", "0") else next(homes, "")

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """The variables as the start of the image leaves them."""
        if question == "environ" and self._variables is not None:
            return Known(permitted(self._variables), _CONFIG)
        if question == "set_at_start" and self._variables is not None:
            return Known(tuple(one for one in self._set if one.name in _SAID), _CONFIG)
        return super().ask(question, *args)

    def _script(self, name: str) -> str:
        """The text of a shell script that the image starts; "" where it is none."""
        text = value_or(self.read(name), "")
        return text if re.match(r"#!\S*(?:/| )(?:ba|da|a)?sh\b", text) else ""


# ------------------------------------------------------------ the start of an image

_SHELLS = ("sh", "bash", "dash", "ash")
_SAID = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
_READ = re.compile(
    r"LD_LIBRARY_PATH|LD_PRELOAD|PATH|PYTHONPATH"
    r"|CUDA_\w+|TF_\w+|XLA_\w+|JAX_\w+|PYTORCH_\w+|TORCH_\w+"
)
"""Variables that the stack reads; the engine reads NVIDIA_… before the start."""
_SETS = re.compile(
    r"(?:export\s+)?([A-Z][A-Z0-9_]*)=((?:\"[^\"]*\"|'[^']*'|[^\s;&|\"'])*)(?=[\s;&]|$)"
)
_TAKES = re.compile(r"unset\s+([A-Z][A-Z0-9_ ]*)")
_ASKS = re.compile(r"(?:!\s|\[|test\s|command\s|which\s|type\s|grep\s|false\b).*&&")
_NAMED = re.compile(
    r"\$\{(?P<name>\w+)(?::(?P<sign>[-+])(?P<other>(?:\$\{\w+\}|[^}])*))?\}|\$(?P<plain>\w+)"
)
_LONGEST = 200


def set_by(
    words: Sequence[str], found: dict[str, str], read: Callable[[str], str]
) -> Iterator[SetAtStart]:
    """What `env A=1 …`, `sh -c "A=1 exec …"` or a script sets and unsets, in order; in `found` too.

    `read` gives a script's text, or "". Only lines at the margin count: what a condition or a
    function guards may not be run.
    """
    name, script = words[0].rpartition("/")[2] if words else "", ""
    if name == "env":
        text = " ".join(shlex.quote(one) if "=" not in one else one for one in words[1:])
    elif name in _SHELLS and len(words) > 2 and re.fullmatch(r"-\w*c", words[1]):
        text = words[2].strip()
    else:
        script = "".join(words[1:2] if name in _SHELLS else words[:1])
        text = read(script) if script else ""
    for number, line in enumerate(text.splitlines()[:_LONGEST], 1):
        if line[:1].isspace() or _ASKS.match(line):
            continue
        for part in map(str.strip, re.split(r";|&&", line)):
            if taken := _TAKES.match(part):
                for gone in taken[1].split():
                    before = found.pop(gone, "")
                    yield SetAtStart(gone, before, "", script, number, taken[0].strip())
            while one := _SETS.match(part):  # the assignments at the start of a command
                if _READ.fullmatch(one[1]) and "$(" not in one[2] and "`" not in one[2]:
                    bare, before = one[2].strip("\"'"), found.get(one[1], "")
                    found[one[1]] = bare if one[2][:1] == "'" else _filled(bare, found)
                    yield SetAtStart(one[1], before, found[one[1]], script, number, one[0].strip())
                part = part[one.end() :].lstrip()


def _filled(text: str, found: Mapping[str, str]) -> str:
    """A value with the variables in it: $A, ${A}, ${A:-other}, ${A:+:$A}."""

    def value(name: re.Match[str]) -> str:
        known, other = found.get(name["plain"] or name["name"], ""), name["other"] or ""
        if name["sign"] == "+":
            return _filled(other, found) if known else ""
        return known or _filled(other, found)

    return _NAMED.sub(value, text)
