"""Manifests: which images an OCI layout or a `docker save` archive holds, and which layers and config each has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from gpuwhy.formats import MalformedError
from gpuwhy.host.blobs import Find, UnreadableImageError, whole

T = TypeVar("T")

MAX_JSON = 8 << 20
MAX_LAYERS = 1000
_MAX_NESTED = 4
_DIGEST = re.compile(r"(sha256|sha384|sha512):([0-9a-f]{64,128})")
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_USUAL = "linux/amd64"


class _Platform(msgspec.Struct, rename={"system": "os"}):
    system: str = ""
    architecture: str = ""
    variant: str = ""


class _Descriptor(msgspec.Struct, rename="camel"):
    digest: str
    size: int = -1
    media_type: str = ""
    platform: _Platform | None = None
    annotations: dict[str, str] | None = None


class _Index(msgspec.Struct):
    manifests: list[_Descriptor] = []


class _Manifest(msgspec.Struct):
    config: _Descriptor
    layers: list[_Descriptor]


class _Saved(msgspec.Struct, rename={"config": "Config", "tags": "RepoTags", "layers": "Layers"}):
    config: str
    layers: list[str]
    tags: list[str] | None = None


class Started(
    msgspec.Struct,
    rename={"env": "Env", "user": "User", "folder": "WorkingDir", "entry": "Entrypoint", "command": "Cmd"},
):
    """How a container of the image starts: the part of its config that matters here."""

    env: list[str] | None = None
    user: str | None = None
    folder: str | None = None
    entry: list[str] | str | None = None
    command: list[str] | str | None = None

    @property
    def words(self) -> list[str]:
        """What a container of it runs."""
        parts = ([one] if isinstance(one, str) else one or [] for one in (self.entry, self.command))
        return [word for part in parts for word in part]


class Config(msgspec.Struct, rename={"system": "os", "started": "config"}):
    """The image's config."""

    architecture: str = ""
    variant: str = ""
    system: str = "linux"
    started: Started | None = None

    @property
    def platform(self) -> str:
        """Like linux/amd64."""
        return "/".join(filter(None, (self.system, self.architecture, self.variant)))


class Layer(NamedTuple):
    """One layer's file inside the folder or archive, and the size it must have; -1 where nothing says."""

    file: str
    size: int = -1


class Image(msgspec.Struct):
    """One image for one platform: names of its files inside the folder or archive."""

    name: str
    config: Config
    layers: tuple[Layer, ...]


def images(find: Find) -> tuple[Image, ...]:
    """Every image whose files are there; () where nothing says that this is an image."""
    found = [*_of_index(find, "index.json", "", 0)]
    if not found:
        found = [*_saved(find)]
    unique = {(one.name, one.config.platform, one.layers): one for one in found}
    return tuple(unique.values())


def chosen(found: Sequence[Image], wanted: str, where: str) -> Image:
    """The image that is meant, linux/amd64 where several fit; raises UnreadableImageError that lists what there is."""
    fitting = [one for one in found if not wanted or wanted in _labels(one)]
    usual = [one for one in fitting if one.config.platform == _USUAL] if len(fitting) > 1 else fitting
    if len(usual) == 1:
        return usual[0]
    what = f"has no image {wanted}" if wanted and not fitting else f"holds {len(fitting)} images"
    raise UnreadableImageError(f"{where} {what}; choose with --image one of: {_listed(found)}")


def _listed(found: Sequence[Image]) -> str:
    return ", ".join(sorted({f"{one.name or 'unnamed'}@{one.config.platform}" for one in found}))


def _labels(one: Image) -> set[str]:
    names = {one.name, one.name.removeprefix("docker.io/library/"), one.name.removeprefix("docker.io/")}
    names |= {name.rpartition(":")[2] for name in names}
    return {*names, one.config.platform, *(f"{name}@{one.config.platform}" for name in names)} - {""}


def _decoded(find: Find, name: str, kind: type[T]) -> T | None:
    data = whole(find, name, MAX_JSON)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedError(f"{name} is not what an image has there ({error})") from error


def _blob(digest: str) -> str:
    found = _DIGEST.fullmatch(digest)
    if not found:
        raise MalformedError(f"{digest[:80]!r} is no digest")
    return f"blobs/{found[1]}/{found[2]}"


def _of_index(find: Find, path: str, name: str, depth: int) -> Iterator[Image]:
    index = _decoded(find, path, _Index)
    if index is None or depth > _MAX_NESTED:
        return
    for one in index.manifests[:MAX_LAYERS]:
        if not _is_attestation(one):
            notes = one.annotations or {}
            called = next((notes[key] for key in _NAMES if notes.get(key)), name)
            yield from _of_entry(find, one, called, depth)


def _is_attestation(one: _Descriptor) -> bool:
    said = "vnd.docker.reference.type" in (one.annotations or {})
    return said or (one.platform is not None and one.platform.system == "unknown")


def _of_entry(find: Find, one: _Descriptor, called: str, depth: int) -> Iterator[Image]:
    """The image of an entry, or the images of the index that it is."""
    blob = _blob(one.digest)
    if one.media_type.endswith(("image.index.v1+json", "manifest.list.v2+json")):
        yield from _of_index(find, blob, called, depth + 1)
    elif (manifest := _manifest(find, blob)) is not None:
        yield from _image(find, called, _blob(manifest.config.digest), [_layer(x) for x in manifest.layers])


def _manifest(find: Find, blob: str) -> _Manifest | None:
    """None where the file is not there (other platforms are often listed but not saved), or is another thing."""
    data: Any = _decoded(find, blob, msgspec.Raw)
    try:
        return msgspec.json.decode(data, type=_Manifest) if data is not None else None
    except (msgspec.DecodeError, UnicodeError):
        return None


def _layer(one: _Descriptor) -> Layer:
    if "encrypted" in one.media_type:
        raise UnreadableImageError("a layer of the image is encrypted")
    return Layer(_blob(one.digest), one.size)


def _image(find: Find, name: str, config: str, layers: list[Layer]) -> Iterator[Image]:
    described = _decoded(find, config, Config)
    if described is None or len(layers) > MAX_LAYERS:
        return
    yield Image(name, described, tuple(layers))


def _saved(find: Find) -> Iterator[Image]:
    """What `docker save` writes: manifest.json, a list."""
    for one in _decoded(find, "manifest.json", list[_Saved]) or []:
        for tag in one.tags or [""]:
            yield from _image(find, tag, one.config, [Layer(layer) for layer in one.layers])
