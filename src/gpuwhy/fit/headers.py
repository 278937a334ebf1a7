"""safetensors and GGUF: formats whose header lists every tensor with its type, shape and place."""

import math
import re
import struct
from dataclasses import replace
from typing import Any

import msgspec

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import (
    MOST_NAME,
    MOST_TENSORS,
    Architecture,
    Folder,
    Kind,
    Model,
    Source,
    Tensor,
    Unreadable,
    shape_of,
)

_MOST_HEADER, _MOST_METADATA = 40 << 20, 512 << 20
_PLAIN = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_STRING, _ARRAY = 8, 9
_KEPT = 1024  # arrays longer than this (tokens, their scores) are counted, not kept
_EVERY: dict[str, int] = dtypes.table("every")["gguf"]
_SPLIT = re.compile(r"(.*-)(\d{5})(-of-)(\d{5})(\.gguf)")
_CUT = "it is cut short or still downloading"


class _Entry(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


_ENTRY = msgspec.json.Decoder(_Entry)


def is_safetensors(source: Source) -> bool:
    """Whether a file begins like one: a length, then JSON."""
    head = source.some(0, 9)
    return head[8:] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= source.size - 8


def safetensors(source: Source) -> list[Tensor]:
    """The tensors of one file; raises Unreadable."""
    length = int.from_bytes(source.at(0, 8), "little")
    if length > _MOST_HEADER:
        raise Unreadable(f"its header claims {length:,} bytes: it is no safetensors file")
    room = source.size - 8 - length
    try:
        raw = msgspec.json.decode(source.at(8, length, "its header"), type=dict[str, msgspec.Raw])
        raw.pop("__metadata__", None)
        entries = {name: _ENTRY.decode(entry) for name, entry in raw.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable("its header is not the JSON of a safetensors file") from None
    if len(entries) > MOST_TENSORS:
        raise Unreadable(f"its header claims {len(entries):,} tensors")
    tensors = []
    for name, entry in entries.items():
        start, end = entry.data_offsets
        if not 0 <= start <= end <= room:
            raise Unreadable(f"the tensor {name[:80]} lies past the end of the file: {_CUT}")
        dtype, shape = dtypes.named(entry.dtype), shape_of(entry.shape, name)
        size = dtypes.size_of(dtype, shape)
        if dtypes.bits(dtype) and size != end - start:
            said = f"needs {size:,} bytes by its shape, and has {end - start:,}"
            raise Unreadable(f"the tensor {name[:80]} {said}")
        tensors.append(Tensor(name, dtype, shape, end - start))
    if sum(one.bytes for one in tensors) > room:
        raise Unreadable("its tensors need more bytes than it has: they lie upon each other")
    return tensors


# GGUF


class _Cursor:
    """Reads on from a place, a piece at a time."""

    def __init__(self, source: Source) -> None:
        self.source, self.place = source, 4
        self.data, self.start = b"", 4
        self.order = "<"

    def take(self, count: int) -> bytes:
        begin = self.place - self.start
        if begin < 0 or begin + count > len(self.data):
            if self.place > _MOST_METADATA:
                raise Unreadable("its metadata is larger than 512 MiB, which no real model's is")
            size = max(count, min(1 << 18, self.source.size - self.place))
            self.data = self.source.at(self.place, size, "its header")
            self.start, begin = self.place, 0
        self.place += count
        return self.data[begin : begin + count]

    def number(self, form: str) -> Any:
        return struct.unpack(self.order + form, self.take(struct.calcsize(form)))[0]

    def string(self, most: int = 1 << 24) -> str:
        length = self.number("Q")
        if length > most:
            raise Unreadable(f"a text in its metadata claims {length:,} bytes")
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        """A value of the metadata; of a long array only how many there are."""
        if kind in _PLAIN:
            return self.number(_PLAIN[kind])
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY or depth > 3:
            raise Unreadable(f"its metadata has a value of kind {kind}, which GGUF does not know")
        kind, count = self.number("I"), self.number("Q")
        if count <= _KEPT:
            return [self.value(kind, depth + 1) for _ in range(count)]
        if kind in _PLAIN:
            self.place += count * struct.calcsize(_PLAIN[kind])
            return count
        if kind != _STRING or count > self.source.size:
            raise Unreadable(f"its metadata has {count:,} arrays in an array")
        for _ in range(count):
            self.take(self.number("Q"))
        return count


def _one_file(source: Source) -> tuple[dict[str, Any], list[Tensor]]:
    """Metadata and tensors of one GGUF file; raises Unreadable."""
    cursor = _Cursor(source)
    version = cursor.number("I")
    if version & 0xFFFF == 0:  # written in the other byte order
        cursor.order, version = ">", version >> 24
    count, keys = cursor.number("Q"), cursor.number("Q")
    if version not in (2, 3):
        raise Unreadable(f"it is GGUF version {version}; versions 2 and 3 are read")
    if count > MOST_TENSORS or keys > 100_000:
        raise Unreadable(f"it claims {count:,} tensors and {keys:,} keys: more than any real file")
    meta = {cursor.string(MOST_NAME): cursor.value(cursor.number("I")) for _ in range(keys)}
    rows, tensors = [], []
    for _ in range(count):
        name, rank = cursor.string(MOST_NAME), cursor.number("I")
        dims = [cursor.number("Q") for _ in range(min(rank, 33))]
        rows.append((name, shape_of(dims[::-1], name), cursor.number("I"), cursor.number("Q")))
    align = meta.get("general.alignment", 32)
    align = align if isinstance(align, int) and 0 < align <= 1 << 20 else 32
    room = source.size - -(-cursor.place // align) * align
    for name, shape, kind, place in rows:
        if kind not in dtypes.GGML:
            raise Unreadable(f"the tensor {name[:80]} has the type {kind}, which is not known here")
        dtype, block, size = dtypes.GGML[kind]
        width, count = shape[-1] if shape else 1, math.prod(shape) // block * size
        if width % block:
            raise Unreadable(f"the tensor {name[:80]} has rows of {width}, and blocks of {block}")
        if place + count > room:
            raise Unreadable(f"the tensor {name[:80]} lies past the end of the file: {_CUT}")
        tensors.append(Tensor(name, dtype, shape, count))
    return meta, tensors


def gguf(folder: Folder, name: str, source: Source) -> Model:
    """A GGUF file, with those that it was split into."""
    meta, tensors = _one_file(source)
    unknown, names = [], [name]
    if (found := _SPLIT.fullmatch(name)) and 1 < int(found[4]) <= 10_000:
        head, _, of, total, ending = found.groups()
        names = [f"{head}{number:05}{of}{total}{ending}" for number in range(1, int(total) + 1)]
    for other in names:
        if not folder.has(other):
            unknown.append(f"{other} is not here: its tensors are not counted")
        elif other != name:
            more, part = _one_file(folder.open(other))
            meta, tensors = more | meta, tensors + part
    arch, said = _architecture(meta, tensors), tuple(unknown)
    return Model(
        name, "gguf", tuple(tensors), arch, unknown=said, files=len(names), partial=bool(said)
    )


def _architecture(meta: dict[str, Any], tensors: list[Tensor]) -> Architecture:
    """What the metadata says."""
    name = meta.get("general.architecture")
    if not isinstance(name, str):
        return Architecture()

    def ask(keys: str) -> int:
        return next(filter(None, (_count(meta.get(f"{name}.{key}")) for key in keys.split())), 0)

    sizes: dict[str, Any] = {ours: ask(keys) for ours, keys in dtypes.table("gguf").items()}
    every = meta.get(f"{name}.attention.sliding_window_pattern")
    if isinstance(every, list):
        every = every.index(False) + 1 if False in every else 0
    every = every if isinstance(every, int) and every > 1 else _EVERY.get(name, 0)
    embedded = (one.shape[0] for one in tensors if one.name == "token_embd.weight" and one.shape)
    tokens = meta.get("tokenizer.ggml.tokens")
    listed = len(tokens) if isinstance(tokens, list) else _count(tokens)
    sizes |= {
        "decoder_layers": ask("decoder_block_count block_count") if name == "t5" else 0,
        "head_dim": sizes["head_dim"] or sizes["hidden"] // (sizes["heads"] or 1),
        "vocab": next(embedded, 0) or listed or sizes["vocab"],
        "rope_dim": ask("rope.dimension_count") if sizes["kv_rank"] else 0,
        "window_every": every if sizes["window"] else 0,
    }
    kinds: dict[str, Kind] = {"t5": "encoder-decoder", "clip": "vit"}
    plain: Kind = "encoder" if dtypes.pattern("encoders").fullmatch(name) else "decoder"
    return replace(Architecture(kinds.get(name, plain), name), **sizes)


def _count(value: object) -> int:
    """A number, or the largest where each layer has its own; else 0."""
    if isinstance(value, list):
        value = max((one for one in value if isinstance(one, int)), default=0)
    return value if type(value) is int and 0 <= value < 1 << 40 else 0
