"""GGUF: metadata by key, then each tensor's name, shape, block type and place."""

from __future__ import annotations

import math
import re
import struct
from typing import Any

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Architecture, Kind, Model, Tensor, Unreadable
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Folder, Source, shape_of

_PLAIN = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_STRING, _ARRAY = 8, 9
_KEPT = 1024
"""Arrays longer than this (tokens, their scores) are counted, not kept."""
_ENCODERS = re.compile(r".*bert.*|t5encoder|gemma-embedding")
_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "cohere2": 4, "gpt-oss": 2, "llama4": 4}
"""Every so many layers one sees everything, where llama.cpp says so and the file does not."""
_SPLIT = re.compile(r"(.*-)(\d{5})(-of-)(\d{5})(\.gguf)")


class _Cursor:
    """Reads on from a place, a piece at a time."""

    def __init__(self, source: Source) -> None:
        self.source, self.place = source, 4
        self.data, self.start = b"", 4
        self.order = "<"

    def take(self, count: int) -> bytes:
        begin = self.place - self.start
        if begin < 0 or begin + count > len(self.data):
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
        else:
            if kind != _STRING or count > self.source.size:
                raise Unreadable(f"its metadata has {count:,} arrays in an array")
            for _ in range(count):
                self.take(self.number("Q"))
        return count


def read(source: Source) -> tuple[dict[str, Any], list[Tensor]]:
    """Metadata and tensors; raises Unreadable."""
    cursor = _Cursor(source)
    version = cursor.number("I")
    if version & 0xFFFF == 0:  # written in the other byte order
        cursor.order, version = ">", version >> 24
    if version not in (2, 3):
        raise Unreadable(f"it is GGUF version {version}; versions 2 and 3 are read")
    count, keys = cursor.number("Q"), cursor.number("Q")
    if count > MOST_TENSORS or keys > 100_000:
        raise Unreadable(f"it claims {count:,} tensors and {keys:,} keys: more than any real file")
    meta = {cursor.string(MOST_NAME): cursor.value(cursor.number("I")) for _ in range(keys)}
    rows = [_row(cursor) for _ in range(count)]
    align = meta.get("general.alignment", 32)
    align = align if isinstance(align, int) and 0 < align <= 1 << 20 else 32
    room = source.size - -(-cursor.place // align) * align
    return meta, [_tensor(*row, room) for row in rows]


def _row(cursor: _Cursor) -> tuple[str, tuple[int, ...], int, int]:
    name, rank = cursor.string(MOST_NAME), cursor.number("I")
    dims = [cursor.number("Q") for _ in range(min(rank, 33))]
    return name, shape_of(dims[::-1], name), cursor.number("I"), cursor.number("Q")


def _tensor(name: str, shape: tuple[int, ...], kind: int, place: int, room: int) -> Tensor:
    if kind not in dtypes.GGML:
        raise Unreadable(f"the tensor {name[:80]} has the type {kind}, which is not known here")
    dtype, block, size = dtypes.GGML[kind]
    width = shape[-1] if shape else 1
    if width % block:
        raise Unreadable(f"the tensor {name[:80]} has rows of {width}, and blocks of {block}")
    count = math.prod(shape) // block * size
    if place + count > room:
        raise Unreadable(f"the tensor {name[:80]} lies past the end of the file: it is cut short")
    return Tensor(name, dtype, shape, count)


def model(folder: Folder, name: str, source: Source) -> Model:
    """A file, with those that it was split into."""
    meta, tensors = read(source)
    unknown, names = [], _siblings(name)
    for other in names:
        if other == name:
            continue
        if not folder.has(other):
            unknown.append(f"{other} is not here: its tensors are not counted")
            continue
        more, part = read(folder.open(other))
        meta, tensors = more | meta, tensors + part
    partial, arch = bool(unknown), _architecture(meta, tensors)
    for key, words in (("attention.head_count_kv", "key and value heads"),):
        value = meta.get(f"{meta.get('general.architecture')}.{key}")
        if isinstance(value, list) and len(set(map(str, value))) > 1:
            unknown.append(f"the layers differ in their {words}: the largest is taken for all")
    said = tuple(unknown)
    return Model(name, "gguf", tuple(tensors), arch, None, said, len(names), partial=partial)


def _siblings(name: str) -> list[str]:
    """The names of all files of a model that was split, this one's among them."""
    found = _SPLIT.fullmatch(name)
    if not found or not 1 < int(found[4]) <= 10_000:
        return [name]
    count = int(found[4])
    return [f"{found[1]}{n:05}{found[3]}{found[4]}{found[5]}" for n in range(1, count + 1)]


def _architecture(meta: dict[str, Any], tensors: list[Tensor]) -> Architecture | None:
    """What the metadata says; None where it names no architecture."""
    name = meta.get("general.architecture")
    if not isinstance(name, str):
        return None

    def ask(*keys: str) -> int | None:
        return next(
            (n for key in keys if (n := _count(meta.get(f"{name}.{key}"))) is not None), None
        )

    heads, hidden = ask("attention.head_count"), ask("embedding_length")
    rank, experts = ask("attention.kv_lora_rank"), ask("expert_count")
    kind: Kind = "encoder" if _ENCODERS.fullmatch(name) else "decoder"
    head = hidden // heads if hidden and heads else None
    window = ask("attention.sliding_window") or None
    pattern = meta.get(f"{name}.attention.sliding_window_pattern")
    every = pattern.index(False) + 1 if isinstance(pattern, list) and False in pattern else pattern
    embedded = (one.shape[0] for one in tensors if one.name == "token_embd.weight" and one.shape)
    tokens = meta.get("tokenizer.ggml.tokens")
    listed = len(tokens) if isinstance(tokens, list) else _count(tokens)
    return Architecture(
        kind="encoder-decoder" if name == "t5" else "vit" if name == "clip" else kind,
        name=name,
        layers=ask("block_count"),
        decoder_layers=ask("decoder_block_count", "block_count") if name == "t5" else None,
        hidden=hidden,
        intermediate=ask("feed_forward_length"),
        heads=heads,
        kv_heads=ask("attention.head_count_kv") or heads,
        head_dim=ask("attention.key_length_mla", "attention.key_length") or head,
        vocab=next(embedded, None) or listed or ask("vocab_size"),
        positions=ask("context_length"),
        experts=experts,
        experts_used=ask("expert_used_count"),
        expert_intermediate=ask("expert_feed_forward_length", "feed_forward_length"),
        kv_rank=rank,
        rope_dim=ask("rope.dimension_count") if rank else None,
        window=window,
        window_every=(every if isinstance(every, int) and every > 1 else _EVERY.get(name))
        if window
        else None,
    )


def _count(value: object) -> int | None:
    """A number, or the largest where each layer has its own."""
    if isinstance(value, list):
        value = max((one for one in value if isinstance(one, int)), default=None)
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value if plain and 0 <= value < 1 << 40 else None  # type: ignore[operator,return-value]
