"""The numbers of a transformer that its memory depends on, and what its layers keep.

The counts follow what autograd saves in torch's eager mode for the layers as transformers writes
them: the input of every matrix, both branches of a gated product, queries, keys, values and the
output of attention, the norm's own copies. Bytes are for one token unless they say otherwise.
"""

import re
from dataclasses import dataclass

from gpuwhy.fit.dtypes import pattern
from gpuwhy.fit.model import Architecture, Model


@dataclass(frozen=True)
class Shape(Architecture):
    """One kind of layer, repeated; widths are in elements for each token."""

    inner: int = 0  # the feed-forward width that one token goes through
    query: int = 0  # heads · width of a head
    value: int = 0  # width of keys or values, before they are repeated
    parts: int = 3  # matrices that read the attention's input
    gated: bool = False
    rms: bool = False
    curved: int = 0  # tensors more that an activation keeps which is written out
    masked: bool = False  # an encoder that gives logits of every word
    causal: bool = True

    @property
    def all_layers(self) -> int:
        """Of encoder and decoder together."""
        return self.layers + self.decoder_layers

    @property
    def row(self) -> int:
        """Elements that one layer's cache keeps of a token: MLA's row, else keys and values."""
        return self.kv_rank + self.rope_dim if self.kv_rank else 2 * self.value

    def cached(self, batch: int, tokens: int, size: float) -> int:
        """Bytes of keys and values."""
        layers = self.decoder_layers or self.layers
        near, whole = tokens, layers
        if self.window:
            near = min(tokens, self.window)
            whole = layers // self.window_every if self.window_every else 0
        crossed = layers * tokens if self.decoder_layers else 0  # of the encoder's tokens
        return int(batch * size * self.row * (whole * tokens + (layers - whole) * near + crossed))


def shape_of(model: Model) -> Shape | None:
    """The shape; None where the architecture is no transformer, or too little is known."""
    arch = model.architecture
    if arch.kind == "unknown" or not arch.layers or not arch.hidden:
        return None
    heads = arch.heads or max(1, arch.hidden // 64)
    used = arch.experts_used if arch.experts > 1 else 0
    head = arch.head_dim or max(1, arch.hidden // heads)
    query, value = heads * head, (arch.kv_heads or heads) * head
    if arch.kv_rank:  # MLA: the widths of the projections that keys and values are expanded by
        matrices = [one for one in model.tensors if len(one.shape) == 2]
        query = next((m.shape[0] for m in matrices if pattern("expands").search(m.name)), query)
        out = (m.shape[1] for m in matrices if m.name.endswith("o_proj.weight"))
        value = (query + next(out, query)) // 2
    inner = arch.intermediate or 4 * arch.hidden
    names = [one.name for one in model.tensors]
    normed = [name for name in names if pattern("norm").search(name)]
    by_name = bool(pattern("rms").search(arch.name))
    # transformers writes GPT-2's activation out: five tensors more than a fused one keeps
    activation = arch.activation or ("gelu_new" if "gpt2" in arch.name.lower() else "")
    stated = {
        **vars(arch),
        "decoder_layers": arch.decoder_layers if arch.kind == "encoder-decoder" else 0,
        "heads": heads,
        "experts_used": used,
    }
    return Shape(
        **stated,
        inner=used * (arch.expert_intermediate or inner) if used else inner,
        query=query,
        value=value,
        parts=1 if any(map(pattern("fused").search, names)) else 3,
        gated=any(map(pattern("gated").search, names)),
        rms=not any(map(pattern("norm_bias").search, normed)) if normed else by_name,
        curved=5 if activation in ("gelu_new", "gelu_fast") else 0,
        masked=bool(re.search("MaskedLM|PreTraining", arch.name)),
        causal=arch.kind in ("decoder", "encoder-decoder"),
    )


@dataclass(frozen=True)
class Flow:
    """What goes through the layers: how wide numbers are, the tokens, whether scores are whole."""

    low: float  # bytes of a number in matrices
    stream: float  # and between the layers
    tokens: int
    fused: bool


def _norms(s: Shape, f: Flow) -> float:
    """What the norms of one layer keep, the inputs of the matrices behind them included."""
    mixed = f.low < f.stream
    readers = (s.parts if mixed else 1) + (2 if mixed and s.gated else 1)
    inside = 4.0 + f.stream if s.rms else f.stream
    return 2 * s.hidden * inside + readers * s.hidden * f.low


def _attention(s: Shape, f: Flow) -> float:
    """Queries, keys, values, output; without a fused kernel also the scores of every pair."""
    kept = f.low * (2 * s.query + 2 * s.value) + 4 * s.heads
    return kept + (0 if f.fused else s.heads * f.tokens * (4.0 + (f.low if f.low < 4 else 0.0)))


def layer(s: Shape, f: Flow) -> float:
    """Everything that one layer keeps for the backward pass."""
    fed = s.inner * ((4 if s.gated else 2) + s.curved) + s.experts_used * s.hidden * 2
    return _norms(s, f) + _attention(s, f) + f.low * fed


def kept(s: Shape, f: Flow, checkpointing: bool) -> tuple[float, float]:
    """Of all layers: what is kept until the backward pass, and what one layer takes in it."""
    one, inner = layer(s, f), f.low * s.inner * (3 if s.gated else 2)
    pairs = 0.0 if f.fused else 2 * s.heads * f.tokens * 4.0
    back = max(inner, f.low * 4 * s.query + pairs) + 2 * s.hidden * f.stream
    if checkpointing:
        return s.all_layers * s.hidden * f.stream, one + back
    return s.all_layers * one + s.decoder_layers * _attention(s, f) + _norms(s, f) / 2, back


def forward(s: Shape, f: Flow) -> float:
    """What one layer takes while nothing is kept: the larger of its two halves."""
    inner = f.low * (s.inner * (3 if s.gated else 2) + s.experts_used * s.hidden * 2)
    pairs = 0.0 if f.fused else s.heads * f.tokens * (2 * f.low + 4.0 if f.low < 4 else 8.5)
    attend = f.low * (4 * s.query + 2 * s.value) + pairs
    return 2 * s.hidden * f.stream + max(inner, attend, 8.0 * s.hidden if s.rms else 0.0)


def loss(s: Shape, f: Flow) -> float:
    """Logits, their f32 copy's log-softmax and two gradients of it."""
    return s.vocab * (f.low + 3 * (f.stream if s.masked else 4.0))
