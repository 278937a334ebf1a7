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
    reads = [t for t in tensors if len(t.shape) == 2 and layer_of(t.name) is not None and _READS.search(t.name)]
    if not reads:
        return None
    hidden = min(reads[0].shape)
    own = [
        t for t in tensors if layer_of(t.name) == layer_of(reads[0].name) and len(t.shape) == 2 and hidden in t.shape
    ]
    rest = [max(t.shape) for t in own if "attn" not in t.name.lower() and "attention" not in t.name.lower()]
    words = [t for t in tensors if len(t.shape) == 2 and _WORDS.search(t.name) and not _POSITIONS.search(t.name)]
    patch = next((t for t in tensors if len(t.shape) == 4 and t.shape[0] == hidden and t.shape[2] == t.shape[3]), None)
    vocab = max((max(t.shape) for t in words if hidden in t.shape), default=0)
    kind: Kind = "vit" if patch else "decoder" if any("lm_head" in t.name for t in tensors) else "encoder"
    return Architecture(
        kind=kind,
        layers=len({layer_of(t.name) for t in reads}),
        hidden=hidden,
        intermediate=max(rest, default=4 * hidden),
        heads=max(1, hidden // HEAD),
        vocab=vocab or None,
        patch=patch.shape[2] if patch else None,
        how=How.ASSUMED,
    )
