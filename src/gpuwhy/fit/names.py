"""What the names and shapes of tensors tell of the architecture, where no configuration does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.fit.forms import forms_of
from gpuwhy.fit.model import Architecture, How, Kind, Stage, Tensor

_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?|resblocks|blk)\.(\d{1,5})\.", re.MULTILINE)
_EXPERT = re.compile(r"\.experts\.(\d{1,5})\.")
_EMBED = re.compile(
    r"(?:embed_tokens|wte|word_embeddings|tok_embeddings|embed_in|token_embedding|shared|token_embd)\.weight$"
)
_BOTH = re.compile(r"encoder_attn|EncDecAttention")
_ENCODER = re.compile(r"attention\.self\.|token_type_embeddings|\.q_lin\.")
_UNET = re.compile(r"down_blocks\.|input_blocks\.")
_OUTPUT = re.compile(r"(?:^|\.)(?:lm_head|embed_out|output)\.weight$")
_PARTS = {
    "query": r"(?:q_proj|\.wq|self\.query|q_lin|query_proj|attn_q)\.weight$",
    "key": r"(?:k_proj|\.wk|self\.key|k_lin|key_proj|attn_k)\.weight$",
    "joint": r"(?:qkv_proj|c_attn|query_key_value|Wqkv|attn\.qkv|in_proj)(?:\.|_)weight$",
    "inner": r"(?:gate_proj|up_proj|fc1|c_fc|dense_h_to_4h|fc_in|lin1|intermediate\.dense|\.w1|wi_0|\.wi)\.weight$",
    "latent": r"kv_a_proj_with_mqa\.weight$",
    "latent_norm": r"kv_a_layernorm\.weight$",
    "patch": r"(?:patch_embed(?:dings?|ding)?\.(?:proj|projection)|patch_embedding|conv_proj)\.weight$",
    "positions": r"(?:pos_embed|position_embeddings?)(?:\.weight)?$",
}  # fmt: skip
_FIND = {name: re.compile(expression) for name, expression in _PARTS.items()}


def architecture_from(tensors: Sequence[Tensor]) -> Architecture | None:
    """None where they tell nothing; what is taken for likely is marked as assumed."""
    distinct = _distinct(tensors)
    found = _first(distinct)
    if not found.keys().isdisjoint(("query", "joint", "latent")):
        names = "\n".join(one.name for one in tensors)
        return _transformer(distinct, found, _largest(names, _LAYER), _largest(names, _EXPERT))
    stages = tuple(_stages(tensors))
    if not any(one.kind == "conv" for one in stages):
        return None
    unet = any(_UNET.search(one.name) for one in tensors)
    return Architecture("unet" if unet else "cnn", channels=stages[0].inputs or None, stages=stages, how=How.ASSUMED)


def _distinct(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The first of each form: other layers and experts are like it."""
    out: dict[str, Tensor] = {}
    for form, one in zip(forms_of([one.name for one in tensors]), tensors, strict=True):
        out.setdefault(form, one)
    return list(out.values())


def _first(tensors: Sequence[Tensor]) -> dict[str, Tensor]:
    """The first tensor of each part."""
    out: dict[str, Tensor] = {}
    for one in tensors:
        for part, expression in _FIND.items():
            if part not in out and expression.search(one.name):
                out[part] = one
    return out


def _largest(names: str, expression: re.Pattern[str]) -> int | None:
    return max(map(int, set(expression.findall(names))), default=-1) + 1 or None


def _transformer(
    tensors: Sequence[Tensor], found: dict[str, Tensor], layers: int | None, experts: int | None
) -> Architecture:
    embedding = next((one for one in tensors if one.is_matrix and _EMBED.search(one.name)), None)
    hidden = _hidden(found, embedding)
    query, key = _widths(found, hidden)
    each = _head(query)
    rank, rope = _latent(found)
    patch, channels = _patch(found)
    return Architecture(
        kind=_kind(tensors, found, embedding),
        layers=layers,
        hidden=hidden,
        intermediate=_inner(found, hidden),
        heads=query // each if query and each else None,
        kv_heads=key // each if key and each else None,
        head_dim=each,
        vocab=embedding.shape[0] if embedding else None,
        experts=experts,
        kv_rank=rank,
        rope_dim=rope,
        tied=_tied(tensors) if embedding else None,
        patch=patch,
        channels=channels,
        image=_image(found),
        how=How.ASSUMED,
    )


def _inner(found: dict[str, Tensor], hidden: int | None) -> int | None:
    inner = found.get("inner")
    return max(inner.shape) if inner and hidden and inner.is_matrix else None


def _latent(found: dict[str, Tensor]) -> tuple[int | None, int | None]:
    """MLA: how wide the compressed row is, and what of it is turned by the position."""
    latent, norm = found.get("latent"), found.get("latent_norm")
    if latent is None or norm is None or not norm.shape:
        return None, None
    rank = norm.shape[0]
    return rank, latent.shape[0] - rank if rank and latent.shape else None


def _patch(found: dict[str, Tensor]) -> tuple[int | None, int | None]:
    """A patch's side, and the channels of the image."""
    patch = found.get("patch")
    return (patch.shape[-1], patch.shape[1]) if patch and patch.is_kernel else (None, None)


def _tied(tensors: Sequence[Tensor]) -> bool:
    return not any(_OUTPUT.search(one.name) for one in tensors)


def _hidden(found: dict[str, Tensor], embedding: Tensor | None) -> int | None:
    if embedding:
        return embedding.shape[1]
    query = found.get("query") or found.get("joint")
    return min(query.shape, default=None) if query and query.is_matrix else None


def _widths(found: dict[str, Tensor], hidden: int | None) -> tuple[int | None, int | None]:
    """How wide queries are, and keys."""
    if "query" in found and len(found["query"].shape) == 2:
        key = found.get("key")
        return found["query"].shape[0], key.shape[0] if key and key.shape else None
    joint = found.get("joint")
    if joint is None or hidden is None or len(joint.shape) != 2:
        return None, None
    both = (joint.shape[0] if joint.shape[1] == hidden else joint.shape[1]) - hidden
    return hidden, both // 2 if both > 0 else hidden


def _head(query: int | None) -> int | None:
    """A head's width: 128 in large models, 64 in small ones; what the cache takes depends on the product alone."""
    if not query:
        return None
    return next((size for size in ((128, 64) if query >= 2048 else (64, 128)) if query % size == 0), None)


def _kind(tensors: Sequence[Tensor], found: dict[str, Tensor], embedding: Tensor | None) -> Kind:
    if any(_BOTH.search(one.name) for one in tensors):
        return "encoder-decoder"
    if "patch" in found and embedding is None:
        return "vit"
    if any(_ENCODER.search(one.name) for one in tensors):
        return "encoder"
    return "decoder" if embedding is not None else "unknown"


def _image(found: dict[str, Tensor]) -> int | None:
    """An image's side, from the positions that patches have."""
    patch, positions = found.get("patch"), found.get("positions")
    if not patch or not positions or len(patch.shape) != 4 or len(positions.shape) < 2:
        return None
    side = round((positions.shape[-2] - positions.shape[-2] % 2) ** 0.5)
    return side * patch.shape[-1] if positions.shape[-2] - side * side in (0, 1, 2) else None


def _stages(tensors: Sequence[Tensor]) -> Iterator[Stage]:
    """Layers with weights in the order of the file; strides are not in weights, and told as 1."""
    for one in tensors:
        if one.is_kernel and one.name.endswith("weight"):
            yield Stage("conv", one.shape[1], one.shape[0], max(one.shape[2:]), name=one.name)
        elif one.is_matrix and one.name.endswith("weight"):
            yield Stage("linear", one.shape[1], one.shape[0], name=one.name)
