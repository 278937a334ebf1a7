"""GGUF's metadata as an architecture, and the model of one file or of its parts."""

from __future__ import annotations

from typing import Any

from gpuwhy.fit.model import Architecture, Kind, Model, Tensor
from gpuwhy.fit.readers import gguf
from gpuwhy.fit.readers.gguf import Counted
from gpuwhy.fit.source import Source, Store

_ENCODERS = (
    "bert", "nomic-bert", "nomic-bert-moe", "modern-bert", "neo-bert", "jina-bert-v2", "jina-bert-v3", "eurobert",
    "t5encoder", "gemma-embedding",
)  # fmt: skip
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_ENCODERS, "encoder"), "t5": "encoder-decoder", "clip": "vit", "mmproj": "vit",
}  # fmt: skip
_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "cohere2": 4, "gpt-oss": 2, "llama4": 4, "exaone4": 4, "olmo3": 4}
"""Every so manieth layer sees everything, where llama.cpp's code says so and the file does not."""


def architecture_of(meta: dict[str, Any], tensors: list[Tensor]) -> Architecture | None:
    """What the metadata tells; None where it names no architecture."""
    name = meta.get("general.architecture")
    if not isinstance(name, str):
        return None

    def ask(*keys: str) -> int | None:
        return next((found for key in keys if (found := _count(meta.get(f"{name}.{key}"))) is not None), None)

    heads, hidden, inner = ask("attention.head_count"), ask("embedding_length"), ask("feed_forward_length")
    rank, experts = ask("attention.kv_lora_rank"), ask("expert_count")
    return Architecture(
        kind=_KINDS.get(name, "decoder"),
        name=name,
        layers=ask("block_count"),
        decoder_layers=ask("decoder_block_count", "block_count") if name == "t5" else None,
        hidden=hidden,
        intermediate=inner,
        heads=heads,
        kv_heads=ask("attention.head_count_kv") or heads,
        head_dim=ask("attention.key_length_mla", "attention.key_length") or _head(hidden, heads),
        vocab=_vocab(meta, name, tensors),
        positions=ask("context_length"),
        experts=experts,
        experts_used=ask("expert_used_count"),
        expert_intermediate=ask("expert_feed_forward_length") or (inner if experts else None),
        kv_rank=rank,
        rope_dim=ask("rope.dimension_count") if rank else None,
        window=ask("attention.sliding_window") or None,
        window_every=_every(meta, name),
        tied=_tied({one.name for one in tensors}),
    )


def _head(hidden: int | None, heads: int | None) -> int | None:
    return hidden // heads if hidden and heads else None


def _tied(names: set[str]) -> bool | None:
    return "output.weight" not in names if "token_embd.weight" in names else None


def _count(value: object) -> int | None:
    """A number, or the largest where each layer has its own."""
    if isinstance(value, list):
        value = max((one for one in value if isinstance(one, int)), default=None)
    return value if isinstance(value, int) and 0 <= value < 1 << 40 else None


def _every(meta: dict[str, Any], name: str) -> int | None:
    told = meta.get(f"{name}.attention.sliding_window_pattern")
    if isinstance(told, list) and False in told:
        return told.index(False) + 1
    if isinstance(told, int) and not isinstance(told, bool) and told > 1:
        return told
    return _EVERY.get(name) if meta.get(f"{name}.attention.sliding_window") else None


def _vocab(meta: dict[str, Any], name: str, tensors: list[Tensor]) -> int | None:
    """As the embedding has it, else as the tokenizer."""
    for one in tensors:
        if one.name == "token_embd.weight" and one.is_matrix:
            return one.shape[0]
    tokens = meta.get("tokenizer.ggml.tokens")
    if isinstance(tokens, Counted):
        return tokens.number
    return len(tokens) if isinstance(tokens, list) and tokens else _count(meta.get(f"{name}.vocab_size"))


def uneven(meta: dict[str, Any]) -> list[str]:
    """Sentences on what differs from layer to layer and is told as its largest."""
    name = meta.get("general.architecture")
    out = []
    for key, words in (
        ("attention.head_count_kv", "key and value heads"),
        ("feed_forward_length", "intermediate widths"),
    ):
        value = meta.get(f"{name}.{key}")
        if isinstance(value, list) and len(set(map(str, value))) > 1:
            out.append(f"the layers differ in their {words}: the largest is taken for all")
    return out


def model(store: Store, name: str, source: Source) -> Model:
    """A file, with those that it was split into."""
    first = gguf.read(source)
    tensors, unknown = list(first.tensors), []
    all_names = gguf.siblings(name)
    meta: dict[str, Any] = first.meta
    for other in all_names:
        if other == name:
            continue
        if store.size(other) is None:
            unknown.append(f"{other} is not here: its tensors are not counted")
            continue
        part = gguf.read(store.open(other))
        meta = part.meta | meta
        tensors += part.tensors
    partial = bool(unknown)
    architecture = architecture_of(meta, tensors)
    unknown += uneven(meta)
    said = tuple(unknown)
    return Model(name, "gguf", tuple(tensors), architecture, unknown=said, files=len(all_names), partial=partial)
