"""What a model's files say: tensors, architecture, and what could not be read; no weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["decoder", "encoder", "encoder-decoder", "vit", "unknown"]


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


@dataclass(frozen=True)
class Architecture:
    """What config.json or GGUF's metadata say; None where they do not."""

    kind: Kind = "unknown"
    name: str = ""  # as the file says it: LlamaForCausalLM, llama
    layers: int | None = None
    hidden: int | None = None
    intermediate: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    positions: int | None = None
    experts: int | None = None
    experts_used: int | None = None
    expert_intermediate: int | None = None
    kv_rank: int | None = None  # MLA: kv_lora_rank
    rope_dim: int | None = None  # MLA: qk_rope_head_dim
    window: int | None = None  # sliding window, in tokens
    window_every: int | None = None  # every so many layers one sees everything; None: none does
    image: int | None = None
    patch: int | None = None
    activation: str | None = None
    decoder_layers: int | None = None  # of an encoder-decoder; `layers` are the encoder's


@dataclass(frozen=True)
class Model:
    """A model as its files describe it."""

    path: str
    format: str  # safetensors, gguf, torch, config, adapter
    tensors: tuple[Tensor, ...] = ()
    architecture: Architecture | None = None
    quantisation: str | None = None  # gptq, awq, bitsandbytes-4bit …
    unknown: tuple[str, ...] = ()  # sentences: what could not be read, and is not counted
    files: int = 1
    dtype: str | None = None  # as config.json says it
    computed: bool = False  # the tensors were computed from config.json
    partial: bool = False  # weights that are needed are not among the tensors

    @property
    def bytes(self) -> int:
        """What the tensors take in the files."""
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def parameters(self) -> int:
        """How many numbers the tensors hold, shared ones once, buffers of norms not counted."""
        from gpuwhy.fit.weights import is_buffer

        counted = (one for one in self.tensors if one.bytes and not is_buffer(one.name))
        return sum(tensor.elements for tensor in counted)
