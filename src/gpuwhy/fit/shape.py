"""Shape: the numbers of a transformer that its memory depends on, from the architecture and the tensors' own shapes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuwhy.fit.model import Architecture, Model, Tensor

RMS = re.compile(
    r"llama|mistral|mixtral|qwen|gemma|deepseek|phi3|olmo|granite|t5|yi|falcon_?h|glm|smollm|gpt_?oss", re.I
)
"""Architectures whose norm has no mean; transformers computes it in f32, step by step."""
GATED = re.compile(r"gate_proj|gate_up|ffn_gate|\bw1\b.*|swiglu|\.w3\.|wi_1|linear_v")
SCORED = re.compile(r"t5|gpt-?_?oss", re.I)
"""Architectures that transformers computes without a fused kernel: their scores are biased or have sinks."""
_FUSED = re.compile(r"c_attn|qkv|query_key_value|in_proj_weight|Wqkv|attn_qkv")
_LAYERED = re.compile(r"\d+\.")
_NORM_WEIGHT = re.compile(r"(norm|ln_?\d|layernorm)[\w.]*\.(weight|gamma|scale)$", re.I)
_NORM_BIAS = re.compile(r"(?:norm|ln)[\w.]*\.(?:bias|beta)$", re.I)
_NORM = re.compile(r"(norm|ln_\w|layernorm|rms)", re.I)


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of layer, repeated; widths are in elements for each token."""

    layers: int
    hidden: int
    inner: int  # the feed-forward width that one token goes through: all experts it uses together
    gated: bool
    rms: bool
    query: int  # heads · width of a head
    value: int  # width of keys or values as attention sees them, before they are repeated
    heads: int
    vocab: int
    experts_used: int = 0
    kv_rank: int = 0
    rope: int = 0
    window: int = 0
    window_every: int = 0
    decoder_layers: int = 0
    norms: float = 0.0  # elements that all norms of a layer go over; 0 = two of the hidden width
    parts: int = 3  # matrices that read the attention's input, each with a copy of its own under autocast
    wide_norm: bool = False  # multiplies in f32, as Gemma does
    curved: int = 0  # tensors more that an activation keeps which is written out step by step
    straight: bool = False  # an activation whose output alone is kept, as ReLU's
    masked: bool = False  # an encoder that gives logits of every word
    causal: bool = True
    known: bool = True  # whether all of it was read, none of it guessed

    @property
    def all_layers(self) -> int:
        """Of encoder and decoder together."""
        return self.layers + self.decoder_layers


def shape_of(model: Model) -> Shape | None:
    """The shape; None where the architecture is no transformer, or is told too little of."""
    arch = model.architecture
    if arch is None or arch.kind in ("cnn", "unet", "unknown") or not arch.layers or not arch.hidden:
        return None
    heads = arch.heads or max(1, arch.hidden // 64)
    head = arch.head_dim or max(1, arch.hidden // heads)
    gated = _gated(model)
    inner = arch.intermediate or _inner(model.tensors, arch.hidden) or 4 * arch.hidden
    used = (arch.experts_used or 0) if (arch.experts or 0) > 1 else 0
    if used:
        inner = used * (arch.expert_intermediate or inner)
    query, value = heads * head, (arch.kv_heads or heads) * head
    if arch.kv_rank:
        query, value = _latent(model.tensors, heads, query)
    return Shape(
        layers=arch.layers,
        hidden=arch.hidden,
        inner=inner,
        gated=gated,
        rms=_rms(model, arch),
        query=query,
        value=value,
        heads=heads,
        vocab=arch.vocab or 0,
        experts_used=used,
        kv_rank=arch.kv_rank or 0,
        rope=arch.rope_dim or 0,
        window=arch.window or 0,
        window_every=arch.window_every or 0,
        decoder_layers=(arch.decoder_layers or 0) if arch.kind == "encoder-decoder" else 0,
        norms=_norms(model.tensors, arch, query, value) / arch.layers if model.tensors else 0.0,
        parts=1 if any(_FUSED.search(t.name) for t in model.tensors) else 3,
        wide_norm="gemma" in arch.name.lower(),
        curved=_curved(arch),
        straight=arch.activation == "relu",
        masked="MaskedLM" in arch.name or "PreTraining" in arch.name,
        causal=arch.kind in ("decoder", "encoder-decoder"),
        known=bool(arch.heads and arch.intermediate and (arch.vocab or arch.kind == "vit")),
    )


def _gated(model: Model) -> bool:
    """Whether the feed-forward part multiplies two branches: by the names, else by the architecture's name."""
    names = [tensor.name for tensor in model.tensors]
    if any(GATED.search(name) for name in names):
        return True
    name = model.architecture.name if model.architecture else ""
    return not names and bool(RMS.search(name)) and "t5" not in name.lower()


def _rms(model: Model, arch: Architecture) -> bool:
    norms = [t.name for t in model.tensors if len(t.shape) == 1 and _NORM.search(t.name)]
    if norms:
        return not any(_NORM_BIAS.search(name) for name in norms)
    return bool(RMS.search(arch.name))


def _curved(arch: Architecture) -> int:
    """transformers writes GPT-2's activation out: five tensors more than a fused one keeps."""
    told = arch.activation or ("gelu_new" if "gpt2" in arch.name.lower() else "")
    return 5 if told in ("gelu_new", "gelu_fast") else 0


def _norms(tensors: tuple[Tensor, ...], arch: Architecture, query: int, value: int) -> float:
    """Elements of one token that all norms of all layers go over; a norm of heads goes over every head."""
    total = 0.0
    for tensor in tensors:
        if len(tensor.shape) == 1 and _LAYERED.search(tensor.name) and _NORM_WEIGHT.search(tensor.name):
            width = tensor.shape[0]
            if width == arch.head_dim != arch.hidden:
                width = value if "k_norm" in tensor.name or "key" in tensor.name else query
            total += width
    return total


def _inner(tensors: tuple[Tensor, ...], hidden: int) -> int:
    """The widest matrix beside the hidden width, within a layer."""
    widths = [max(t.shape) for t in tensors if len(t.shape) == 2 and hidden in t.shape and re.search(r"\d+\.", t.name)]
    return max((w for w in widths if w <= 16 * hidden), default=0)


def _latent(tensors: tuple[Tensor, ...], heads: int, query: int) -> tuple[int, int]:
    """MLA: keys and values are expanded from the compressed row; their widths are those of the projections."""
    for tensor in tensors:
        if re.search(r"(?<!a_)q(_b)?_proj\.weight$", tensor.name) and len(tensor.shape) == 2:
            query = tensor.shape[0]
            break
    out = next((t.shape[1] for t in tensors if re.search(r"o_proj\.weight$", t.name) and len(t.shape) == 2), query)
    return query, (query + out) // 2
