"""Which images an OCI layout or a `docker save` archive holds; the layers and config of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from gpuwhy.formats import MalformedError
from gpuwhy.machine.files import FileSystem

T = TypeVar("T")

MAX_JSON = 8 << 20
MAX_LAYERS = 1000
_MAX_NESTED = 4
_DIGEST = re.compile(r"(sha256|sha384|sha512):([0-9a-f]{64,128})")
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_INDEXES = ("image.index.v1+json", "manifest.list.v2+json")
_USUAL = "linux/amd64"


class UnreadableImageError(ValueError):
    """What was given is no image that can be read; the text says why."""


class _Platform(msgspec.Struct):
    os: str = ""


class _Descriptor(msgspec.Struct, rename="camel"):
    digest: str
    size: int = -1
    media_type: str = ""
    platform: _Platform | None = None
    annotations: dict[str, str] | None = None


class _Index(msgspec.Struct):
    """Of an index or a manifest, which a file name alone does not tell apart."""

    manifests: list[_Descriptor] = []
    config: _Descriptor | None = None
    layers: list[_Descriptor] | None = None


class _Saved(msgspec.Struct, rename="pascal"):
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

    @property
    def words(self) -> list[str]:
        """What a container of it runs."""
        parts = [[one] if isinstance(one, str) else one for one in (self.entrypoint, self.cmd)]
        return [word for part in parts for word in part or ()]


class Config(msgspec.Struct):
    """The image's config."""

    architecture: str = ""
    variant: str = ""
    os: str = "linux"
    config: Started | None = None

    @property
    def platform(self) -> str:
        """Like linux/amd64."""
        return "/".join(filter(None, (self.os, self.architecture, self.variant)))


class Image(NamedTuple):
    """One image for one platform; of each layer the file and its size, -1 where not stated."""

    name: str
    config: Config
    layers: tuple[tuple[str, int], ...]

    @property
    def label(self) -> str:
        """How it is named among several."""
        return f"{self.name or 'unnamed'}@{self.config.platform}"

    def is_called(self, wanted: str) -> bool:
        """Whether this names it: its name, short or with its registry, its tag, its platform."""
        platform, hub = self.config.platform, self.name.removeprefix("docker.io/")
        short = hub.removeprefix("library/")
        names = (self.name, hub, short, short.rpartition(":")[2])
        return wanted == platform or wanted.removesuffix(f"@{platform}") in names


class Store:
    """The files of an image, in a folder or in an archive."""

    def __init__(self, system: FileSystem, top: str) -> None:
        self._system, self._top = system, top

    def place(self, name: str) -> str:
        """The place of a file; raises OSError, and MalformedError for one outside."""
        if ".." in name.split("/") and self._top:
            raise MalformedError(f"{name[:80]!r} leads out of the image")
        return self._system.place(f"{self._top}/{name}")

    def images(self) -> list[Image]:
        """Every image whose files are there; [] where nothing says that this is an image."""
        found = [*self._of_index("index.json", "", 0)]
        if not found:
            for one in self._decoded("manifest.json", list[_Saved]) or ():
                layers = tuple((layer, -1) for layer in one.layers)
                for tag in one.repo_tags or [""]:
                    found += self._image(tag, one.config, layers)
        return [*{(one.name, one.config.platform, one.layers): one for one in found}.values()]

    def _decoded(self, name: str, kind: type[T]) -> T | None:
        """None where the file is not there: other platforms are listed, not saved."""
        try:
            data = self._system.whole(self.place(name), MAX_JSON)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise MalformedError(f"{name} is not what an image has there ({error})") from error

    def _of_index(self, path: str, name: str, depth: int) -> Iterator[Image]:
        index = self._decoded(path, _Index) if depth <= _MAX_NESTED else None
        for one in index.manifests[:MAX_LAYERS] if index else ():
            notes = one.annotations or {}
            proof = one.platform is not None and one.platform.os == "unknown"
            if not proof and "vnd.docker.reference.type" not in notes:
                called = next((notes[key] for key in _NAMES if notes.get(key)), name)
                yield from self._of_entry(one, called, depth)

    def _of_entry(self, one: _Descriptor, name: str, depth: int) -> Iterator[Image]:
        """The image of an entry, or the images of the index that it is."""
        blob = _blob(one.digest)
        if one.media_type.endswith(_INDEXES):
            yield from self._of_index(blob, name, depth + 1)
            return
        manifest = self._decoded(blob, _Index)
        if manifest is None or manifest.config is None or manifest.layers is None:
            return
        if any("encrypted" in layer.media_type for layer in manifest.layers):
            raise UnreadableImageError("a layer of the image is encrypted")
        layers = tuple((_blob(layer.digest), layer.size) for layer in manifest.layers)
        yield from self._image(name, _blob(manifest.config.digest), layers)

    def _image(self, name: str, config: str, layers: tuple[tuple[str, int], ...]) -> list[Image]:
        described = self._decoded(config, Config) if len(layers) <= MAX_LAYERS else None
        return [Image(name, described, layers)] if described else []


def chosen(found: Sequence[Image], wanted: str, where: str) -> Image:
    """The image that is meant, linux/amd64 where several fit; raises UnreadableImageError."""
    fitting = [one for one in found if not wanted or one.is_called(wanted)]
    usual = [one for one in fitting if one.config.platform == _USUAL or len(fitting) == 1]
    if len(usual) == 1:
        return usual[0]
    what = f"has no image {wanted}" if wanted and not fitting else f"holds {len(fitting)} images"
    listed = ", ".join(sorted({one.label for one in found}))
    raise UnreadableImageError(f"{where} {what}; choose with --image one of: {listed}")


def _blob(digest: str) -> str:
    found = _DIGEST.fullmatch(digest)
    if not found:
        raise MalformedError(f"{digest[:80]!r} is no digest")
    return f"blobs/{found[1]}/{found[2]}"
