"""A transformer that no config describes, by the names and shapes of its tensors."""

from __future__ import annotations

import re
from dataclasses import replace

from gpuwhy.fit.model import Architecture, How, Kind, Model, Tensor
from gpuwhy.fit.weights import layer_of

_READS = re.compile(
    r"(?:in_proj|q_proj|query|qkv|c_attn|to_q|wq|attn_q)\w*\.?weight$|(?:query|q_proj|qkv)[\w.]*\.weight$", re.I
)
_WORDS = re.compile(r"embed|wte|token", re.I)
_ATTENTION = re.compile(r"attn|attention", re.I)
_POSITIONS = re.compile(r"pos|wpe", re.I)
HEAD = 64
"""The width of a head where nothing tells it."""


def described(model: Model) -> Model:
    """The model with an architecture that its tensors tell, where nothing else did."""
    arch = model.architecture
    if arch is not None and arch.kind != "unknown":
        return model
    found = guessed(model.tensors)
    if found is None:
        return model
    return replace(model, architecture=replace(found, name=arch.name if arch else ""))


def guessed(tensors: tuple[Tensor, ...]) -> Architecture | None:
    """Layers, widths and words of a stack of attention; None where there is none."""
    matrices = [t for t in tensors if t.is_matrix]
    reads = [t for t in matrices if layer_of(t.name) is not None and _READS.search(t.name)]
    if not reads:
        return None
    hidden = min(reads[0].shape)
    patch = next((t for t in tensors if _cuts_patches(t, hidden)), None)
    return Architecture(
        kind=_kind(tensors, patch),
        layers=len({layer_of(t.name) for t in reads}),
        hidden=hidden,
        intermediate=_inner(matrices, layer_of(reads[0].name), hidden),
        heads=max(1, hidden // HEAD),
        vocab=_vocab(matrices, hidden),
        patch=patch.shape[2] if patch else None,
        how=How.ASSUMED,
    )


def _cuts_patches(tensor: Tensor, hidden: int) -> bool:
    return tensor.is_kernel and tensor.shape[0] == hidden and tensor.shape[2] == tensor.shape[3]


def _kind(tensors: tuple[Tensor, ...], patch: Tensor | None) -> Kind:
    if patch:
        return "vit"
    return "decoder" if any("lm_head" in t.name for t in tensors) else "encoder"


def _inner(matrices: list[Tensor], layer: int | None, hidden: int) -> int:
    """The widest matrix of a layer beside its attention."""
    own = [t for t in matrices if layer_of(t.name) == layer and hidden in t.shape]
    return max((max(t.shape) for t in own if not _ATTENTION.search(t.name)), default=4 * hidden)


def _vocab(matrices: list[Tensor], hidden: int) -> int | None:
    words = [t for t in matrices if _WORDS.search(t.name) and not _POSITIONS.search(t.name)]
    return max((max(t.shape) for t in words if hidden in t.shape), default=0) or None
