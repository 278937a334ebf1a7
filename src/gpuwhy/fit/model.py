"""What a model's files say, and their bytes: only so many at a time, from below one folder."""

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from gpuwhy.fit.dtypes import pattern
from gpuwhy.formats import MalformedError
from gpuwhy.machine.files import FileSystem
from gpuwhy.machine.reading import SECONDS, within

Kind = Literal["decoder", "encoder", "encoder-decoder", "vit", "unknown"]
MOST_TENSORS, MOST_NAME = 1_000_000, 4096
_MOST_AT_ONCE, _MOST_ELEMENTS = 48 << 20, 1 << 62


class Unreadable(ValueError):  # noqa: N818
    """The path is no model that can be read; the text is one sentence for people."""


@dataclass(frozen=True)
class Tensor:
    """One tensor as a header describes it."""

    name: str
    dtype: str  # f32 f16 bf16 … q4_0 … ("?" where it is not known)
    shape: tuple[int, ...]
    bytes: int  # in the file; 0 where it shares another's storage

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def is_buffer(self) -> bool:
        """Whether it is no parameter: a norm's running mean, a table of positions."""
        return bool(pattern("buffer").search(self.name))


@dataclass(frozen=True)
class Architecture:
    """What config.json or GGUF's metadata say; 0 where they do not."""

    kind: Kind = "unknown"
    name: str = ""  # as the file says it: LlamaForCausalLM, llama
    layers: int = 0
    decoder_layers: int = 0  # of an encoder-decoder; `layers` are the encoder's
    hidden: int = 0
    intermediate: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    vocab: int = 0
    positions: int = 0
    experts: int = 0
    experts_used: int = 0
    expert_intermediate: int = 0
    kv_rank: int = 0  # MLA: kv_lora_rank
    rope_dim: int = 0  # MLA: qk_rope_head_dim
    window: int = 0  # sliding window, in tokens
    window_every: int = 0  # every so many layers one sees everything; 0: none does
    image: int = 0
    patch: int = 0
    activation: str = ""


@dataclass(frozen=True)
class Model:
    """A model as its files describe it."""

    path: str
    format: str  # safetensors, gguf, torch, config
    tensors: tuple[Tensor, ...] = ()
    architecture: Architecture = Architecture()
    quantisation: str = ""  # gptq, awq, bitsandbytes-4bit …
    unknown: tuple[str, ...] = ()  # sentences: what could not be read, and is not counted
    files: int = 1
    dtype: str = ""  # as config.json says it
    computed: bool = False  # the tensors were computed from config.json
    partial: bool = False  # weights that are needed are not among the tensors
    known: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def bytes(self) -> int:
        """What the tensors take in the files."""
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def parameters(self) -> int:
        """How many numbers the tensors hold, shared ones once, buffers of norms not counted."""
        return sum(one.elements for one in self.tensors if one.bytes and not one.is_buffer)


@dataclass(frozen=True)
class Source:
    """The bytes of one file, or of one inside another."""

    pread: Callable[[int, int], bytes]
    size: int
    name: str

    def at(self, offset: int, count: int, what: str = "it") -> bytes:
        """Exactly these bytes; raises Unreadable where they are missing or too many."""
        if count > _MOST_AT_ONCE:
            raise Unreadable(f"{what} claims {count:,} bytes, more than any real file's")
        if not 0 <= offset <= offset + count <= self.size:
            size = f"{self.size:,} bytes"
            raise Unreadable(f"{what} lies past the end of the file ({size}): it is cut short")
        return self.some(offset, count)

    def some(self, offset: int, count: int) -> bytes:
        """These bytes, or those that are left of them."""
        count = max(0, min(count, self.size - offset))
        try:
            return within(SECONDS, lambda: self.pread(offset, count), self.name) if count else b""
        except (OSError, MalformedError) as error:
            raise _unreadable(self.name, error) from None


def _unreadable(name: str, error: Exception) -> Unreadable:
    return Unreadable(f"{name[:120]} cannot be read: {getattr(error, 'strerror', None) or error}")


class Folder:
    """A folder with a model's files; its files are closed with it."""

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") or path
        self._system = FileSystem()
        self._open = ExitStack()
        self.close = self._open.close

    def names(self, below: str = "") -> list[str]:
        """What lies in it, or in a folder of it."""
        try:
            return sorted(name for name, _ in self._system.names(self._path(below)))[:20_000]
        except OSError as error:
            raise _unreadable("the folder", error) from None

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        below, _, last = name.rpartition("/")
        return last in self.names(below)

    def open(self, name: str) -> Source:
        """A file; raises Unreadable."""
        path = self._path(name)
        try:
            opened = self._open.enter_context(self._system.open(path))
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from None
        return Source(opened.pread, opened.size, name)

    def json(self, name: str) -> dict[str, Any]:
        """A JSON object in a file of its own."""
        source = self.open(name)
        try:
            value = msgspec.json.decode(source.at(0, source.size, name))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Unreadable(f"{name} is not JSON") from None
        if not isinstance(value, dict):
            raise Unreadable(f"{name} is JSON, but no object")
        return value

    def _path(self, name: str) -> str:
        """A name that a file gives, as a path below the folder; raises where it leads out."""
        parts = name.replace("\\", "/").split("/")
        out = len(name) > MOST_NAME or "\0" in name or ".." in parts or ":" in parts[0]
        if out or (name and not parts[0]):
            raise Unreadable(f"it names the file {name[:80]!r}, which is not below its own folder")
        return "/".join([self.path, *(part for part in parts if part not in ("", "."))])


def shape_of(dims: Any, name: str) -> tuple[int, ...]:
    """Dimensions as a header gives them; raises Unreadable where no tensor has such."""
    found: tuple[Any, ...] = tuple(dims) if isinstance(dims, (list, tuple)) else (-1,)
    if len(found) > 32 or not all(type(one) is int and one >= 0 for one in found):
        raise Unreadable(f"the tensor {name[:80]} has dimensions that no tensor has")
    if math.prod(max(one, 1) for one in found) > _MOST_ELEMENTS:
        raise Unreadable(f"the tensor {name[:80]} claims more elements than any memory holds")
    return found
