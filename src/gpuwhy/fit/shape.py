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
_MASKED = re.compile(r"MaskedLM|PreTraining")
_EXPANDS = re.compile(r"(?<!a_)q(_b)?_proj\.weight$")
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
    used = _or_0(arch.experts_used) if _or_0(arch.experts) > 1 else 0
    query, value = _queries_and_values(model, arch, heads, arch.hidden)
    return Shape(
        layers=arch.layers,
        hidden=arch.hidden,
        inner=_inner(model, arch, arch.hidden, used),
        gated=_gated(model),
        rms=_rms(model, arch),
        query=query,
        value=value,
        heads=heads,
        vocab=_or_0(arch.vocab),
        experts_used=used,
        kv_rank=_or_0(arch.kv_rank),
        rope=_or_0(arch.rope_dim),
        window=_or_0(arch.window),
        window_every=_or_0(arch.window_every),
        decoder_layers=_or_0(arch.decoder_layers) if arch.kind == "encoder-decoder" else 0,
        norms=_norms(model.tensors, arch, query, value) / arch.layers,
        parts=1 if any(_FUSED.search(t.name) for t in model.tensors) else 3,
        wide_norm="gemma" in arch.name.lower(),
        curved=_curved(arch),
        straight=arch.activation == "relu",
        masked=bool(_MASKED.search(arch.name)),
        causal=arch.kind in ("decoder", "encoder-decoder"),
        known=_all_told(arch),
    )


def _all_told(arch: Architecture) -> bool:
    return bool(arch.heads and arch.intermediate and (arch.vocab or arch.kind == "vit"))


def _or_0(number: int | None) -> int:
    return number or 0


def _queries_and_values(model: Model, arch: Architecture, heads: int, hidden: int) -> tuple[int, int]:
    """How wide the queries of one token are, and its keys or values."""
    head = arch.head_dim or max(1, hidden // heads)
    if arch.kv_rank:
        return _latent(model.tensors, heads * head)
    return heads * head, (arch.kv_heads or heads) * head


def _inner(model: Model, arch: Architecture, hidden: int, experts: int) -> int:
    """The feed-forward width that one token goes through: all experts it uses together."""
    inner = arch.intermediate or _widest(model.tensors, hidden) or 4 * hidden
    return experts * (arch.expert_intermediate or inner) if experts else inner


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


def _widest(tensors: tuple[Tensor, ...], hidden: int) -> int:
    """The widest matrix beside the hidden width, within a layer."""
    widths = [max(t.shape) for t in tensors if t.is_matrix and hidden in t.shape and _LAYERED.search(t.name)]
    return max((w for w in widths if w <= 16 * hidden), default=0)


def _latent(tensors: tuple[Tensor, ...], query: int) -> tuple[int, int]:
    """MLA: keys and values are expanded from the compressed row; their widths are those of the projections."""
    matrices = [t for t in tensors if t.is_matrix]
    query = next((t.shape[0] for t in matrices if _EXPANDS.search(t.name)), query)
    out = next((t.shape[1] for t in matrices if t.name.endswith("o_proj.weight")), query)
    return query, (query + out) // 2
