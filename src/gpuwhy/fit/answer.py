"""What fit says: what a use of a model takes of each GPU, and the changes by which it fits."""

from typing import Any, Literal

import msgspec

SCHEMA = "gpuwhy.fit/1"
How = Literal["saw", "know", "told", "assumed"]
Status = Literal["fits", "only_just", "does_not_fit", "unknown"]
Name = Literal[
    "weights",
    "gradients",
    "optimizer",
    "master weights",
    "weight copies",
    "activations",
    "kv cache",
    "logits",
    "workspace",
    "communication",
    "fragmentation",
    "framework",
]


class FitError(ValueError):
    """The question cannot be answered; the text is one sentence for people."""


class Part(msgspec.Struct, frozen=True):
    """One part of the memory at the fullest moment, with its bounds and how it was got."""

    name: Name
    bytes: int
    least: int
    most: int
    how: How
    text: str  # what it is made of, with the numbers
    source: str = ""  # until 0.1


class Card(msgspec.Struct, frozen=True):
    """One GPU, or a slice of one, and how much of it can be had."""

    name: str
    total: int  # bytes
    room: int  # what a program can have of it now
    how: How
    text: str


class Share(msgspec.Struct, frozen=True):
    """What one GPU holds."""

    gpu: int
    card: Card
    parts: tuple[Part, ...]
    bytes: int
    least: int
    most: int
    status: Status
    allocator: int  # of `bytes`: what the framework's own counter shows at its peak
    needs: int  # the least with which it runs: an allocator gives back what lies fallow


class Change(msgspec.Struct, frozen=True):
    """One change by which it fits, and what it costs."""

    kind: str
    text: str
    options: str  # to add to the command
    cost: str
    bytes: int  # what the fullest GPU then holds
    room: int
    status: Status


class Serving(msgspec.Struct, frozen=True):
    """What vLLM prints when it starts: how much the KV cache holds."""

    share: float  # of the card that vLLM takes (--gpu-memory-utilization)
    cache: int  # bytes that are left for the KV cache
    tokens: int  # that fit into it
    length: int  # tokens of one request
    concurrency: float  # requests of that length at once


class Use(msgspec.Struct, frozen=True):
    """How the model is used, every default filled in."""

    task: Literal["inference", "train", "lora"] = "inference"
    batch: int = 1
    tokens: int = 0
    dtype: str = ""  # of the weights on the GPU; "" = as the files have them
    amp: bool = False  # weights in f32, computed in bf16 by autocast
    quantise: Literal["", "8bit", "4bit"] = ""
    kv_dtype: str = ""  # "" = as the activations
    optimizer: str = "adamw"
    checkpointing: bool = False
    attention: Literal["", "fused", "eager"] = ""
    framework: str = ""  # "" = torch, for GGUF llama.cpp
    rank: int = 16  # of LoRA
    tp: int = 1
    gpus: int = 1  # that share by ZeRO or FSDP
    zero: int = 0  # 3 = FSDP

    @property
    def ranks(self) -> int:
        """The GPUs that it is split over."""
        return self.tp * self.gpus


class About(msgspec.Struct, frozen=True):
    """The model as it was read."""

    path: str
    format: str
    name: str
    kind: str
    parameters: int
    bytes: int
    files: int
    how: How
    quantisation: str = ""


class Fit(msgspec.Struct, frozen=True):
    """The answer."""

    status: Status
    headline: str
    model: About
    use: Use
    bytes: int  # what the fullest GPU holds at the peak
    least: int
    most: int
    room: int
    margin: int  # room less the least with which it runs
    shares: tuple[Share, ...]  # one for each GPU, the fullest first
    changes: tuple[Change, ...] = ()
    unknown: tuple[str, ...] = ()  # what is not counted
    notes: tuple[str, ...] = ()  # until 0.1
    largest: int = 0  # the largest batch that the account lets in; 0 = none, or not known
    serving: Serving | None = None  # vLLM alone

    def __index__(self) -> int:
        """The batch to begin with, for `fit_batch(step, start=…)`."""
        return max(1, self.largest)

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        from gpuwhy.answer.html import fragment
        from gpuwhy.fit.report import document

        return fragment(document(self))


def values(found: Fit) -> dict[str, Any]:
    """The values of `gpuwhy.fit/1`."""
    out: dict[str, Any] = {"schema": SCHEMA, **msgspec.to_builtins(found)}
    return out
