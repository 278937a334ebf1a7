"""What a model's files tell of it: tensors, architecture, and what could not be read; nothing of the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal

Format = Literal[
    "safetensors", "gguf", "onnx", "torch", "keras", "hdf5", "savedmodel", "tf-checkpoint", "config", "adapter"
]
Kind = Literal["decoder", "encoder", "encoder-decoder", "cnn", "unet", "vit", "unknown"]


class Unreadable(ValueError):  # noqa: N818
    """The path is no model that can be read; the text is one sentence for people."""


class How(Enum):
    """How a number was got."""

    SAW = "saw"
    KNOW = "know"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor as a header tells it."""

    name: str
    dtype: str  # f32 f16 bf16 f64 i8 u8 i16 i32 i64 bool f8_e4m3 f8_e5m2 f4 q4_0 q4_k … ("?" where it is not known)
    shape: tuple[int, ...]
    bytes: int  # in the file, block sizes of quantised formats included; 0 where it shares another's storage

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def is_matrix(self) -> bool:
        """Whether it has two sides."""
        return len(self.shape) == 2

    @property
    def is_kernel(self) -> bool:
        """Whether it has the four sides of a convolution's weights."""
        return len(self.shape) == 4


@dataclass(frozen=True, slots=True)
class Stage:
    """One layer of a network of convolutions, in order."""

    kind: str  # conv, transposed, linear, norm, pool
    inputs: int
    outputs: int
    kernel: int = 1
    stride: int = 1
    name: str = ""


@dataclass(frozen=True, slots=True)
class Architecture:
    """What config.json, GGUF's metadata or the tensors' names tell; None where it is not told."""

    kind: Kind = "unknown"
    name: str = ""  # as the file says it: LlamaForCausalLM, llama, Sequential
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
    window_every: int | None = None  # every so manieth layer sees everything; None: all layers have the window
    tied: bool | None = None  # embeddings shared with the output
    image: int | None = None
    patch: int | None = None
    channels: int | None = None
    stages: tuple[Stage, ...] = ()
    activation: str | None = None  # as config.json calls it: silu, gelu_new
    decoder_layers: int | None = None  # of an encoder-decoder; `layers` are the encoder's
    how: How = How.SAW


@dataclass(frozen=True, slots=True)
class Part:
    """One of several models that are used together, as diffusers keeps them."""

    name: str  # unet, text_encoder, vae
    model: Model


@dataclass(frozen=True, slots=True)
class Model:
    """A model as its files tell it."""

    path: str
    format: Format
    tensors: tuple[Tensor, ...] = ()
    architecture: Architecture | None = None
    quantisation: str | None = None  # gptq, awq, bitsandbytes-4bit, fp8 … as config.json says
    unknown: tuple[str, ...] = ()  # sentences: what could not be read, and is therefore not counted
    files: int = 1
    parts: tuple[Part, ...] = ()  # their tensors are in `tensors` too, as part.name
    dtype: str | None = None  # as config.json says it: what the weights are loaded as
    how: How = How.SAW  # KNOW where the tensors were computed from config.json
    total: int | None = None  # bytes as an index tells them, also where its files are not here
    beside: tuple[Tensor, ...] = ()  # in the same files, but not the model: an optimizer's state
    partial: bool = False  # weights that are needed are not among the tensors; `unknown` says which
    base: str | None = None  # of an adapter: the model that it changes, as it names it

    @property
    def bytes(self) -> int:
        """What the tensors take in the files."""
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def parameters(self) -> int:
        """How many numbers the tensors hold, shared ones once."""
        return sum(tensor.elements for tensor in self.tensors if tensor.bytes)
