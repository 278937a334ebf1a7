"""Activations of a transformer: what training keeps of every layer, and what one layer takes while it is computed.

The counts follow what autograd saves in torch's eager mode for the layers as transformers writes them: the input of
every matrix, both branches of a gated product, queries, keys, values and the output of attention, the norm's own copies
(a norm without mean is computed in f32, step by step). Bytes are for one token unless they say otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuwhy.fit.shape import Shape


@dataclass(frozen=True, slots=True)
class Width:
    """How wide numbers are: in matrices (`low`), and in the stream between the layers (`stream`)."""

    low: float
    stream: float

    @classmethod
    def of(cls, size: float, amp: bool) -> Width:
        """Autocast computes in two bytes and keeps the stream in four."""
        return cls(2.0, 4.0) if amp else cls(size, size)


def norms(shape: Shape, w: Width) -> float:
    """What the norms of one layer keep, the inputs of the matrices behind them included."""
    width = shape.norms or 2.0 * shape.hidden
    mixed = w.low < w.stream
    readers = (shape.parts if mixed else 1) + (2 if mixed and shape.gated else 1)
    if not shape.rms:
        return width * w.stream + readers * shape.hidden * w.low
    inside = 4.0 + (4.0 if shape.wide_norm else w.stream)
    return width * inside + readers * shape.hidden * w.low


def attention(shape: Shape, w: Width, tokens: int, fused: bool) -> float:
    """Queries, keys, values, output; without a fused kernel also the scores of every pair of tokens."""
    kept = w.low * (2 * shape.query + 2 * shape.value) + 4 * shape.heads
    return kept if fused else kept + scores(shape, w, tokens)


def scores(shape: Shape, w: Width, tokens: int) -> float:
    """One token's row of the attention matrix in every head: the softmax in f32 and its cast."""
    return shape.heads * tokens * (4.0 + (w.low if w.low < 4 else 0.0))


def spared(shape: Shape, w: Width, fused: bool, framework: str) -> bool:
    """Whether the scores are never whole: torch has no fused kernel for grouped heads in f32, seen with 2.11."""
    return fused and not (framework == "torch" and w.low == 4 and shape.value < shape.query and not shape.kv_rank)


def feed_forward(shape: Shape, w: Width) -> float:
    """Both branches, the activation and their product; or the two sides of the activation."""
    routed = shape.experts_used * shape.hidden * w.low * 2
    kept = 4 if shape.gated else 1 if shape.straight else 2
    return w.low * shape.inner * (kept + shape.curved) + routed


def layer(shape: Shape, w: Width, tokens: int, fused: bool) -> float:
    """Everything that one layer keeps for the backward pass."""
    return norms(shape, w) + attention(shape, w, tokens, fused) + feed_forward(shape, w)


def kept(shape: Shape, w: Width, tokens: int, fused: bool, checkpointing: bool) -> tuple[float, float]:
    """Of all layers for one token: what is kept until the backward pass, and what one layer takes in it."""
    one = layer(shape, w, tokens, fused)
    cross = shape.decoder_layers * attention(shape, w, tokens, fused) if shape.decoder_layers else 0.0
    back = backward(shape, w, tokens, fused)
    if checkpointing:
        return shape.all_layers * shape.hidden * w.stream, one + back
    return shape.all_layers * one + cross + norms(shape, w) / 2, back


def backward(shape: Shape, w: Width, tokens: int, fused: bool) -> float:
    """Gradients of activations that live at once within one layer."""
    inner = w.low * shape.inner * (3 if shape.gated else 2)
    pairs = 0.0 if fused else 2 * shape.heads * tokens * 4.0
    return max(inner, w.low * 4 * shape.query + pairs) + 2 * shape.hidden * w.stream


def forward(shape: Shape, w: Width, tokens: int, fused: bool) -> float:
    """What one layer takes while nothing is kept: the larger of its two halves."""
    inner = w.low * shape.inner * (3 if shape.gated else 2) + shape.experts_used * shape.hidden * w.low * 2
    attend = w.low * (4 * shape.query + 2 * shape.value)
    pairs = 0.0 if fused else shape.heads * tokens * (2 * w.low + 4.0 if w.low < 4 else 8.5)
    return 2 * shape.hidden * w.stream + max(inner, attend + pairs, 8.0 * shape.hidden if shape.rms else 0.0)


def loss(shape: Shape, w: Width, jit: bool = False) -> float:
    """Logits, their f32 copy's log-softmax and two gradients of it, at the turn from forward to backward.

    transformers takes that copy for causal models; masked ones stay in their type, but where autocast widens it.
    """
    if jit:
        return shape.vocab * (w.low + 4.0)
    wide = w.stream if shape.masked else 4.0
    return shape.vocab * (w.low + 3 * wide)
