"""View: what one GPU has of the model, however the model is split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gpuwhy.fit.images import Network, network
from gpuwhy.fit.model import Model, Tensor
from gpuwhy.fit.shape import Shape, shape_of
from gpuwhy.fit.weights import Loaded, layer_of, loaded, of_tensors
from gpuwhy.model.fit import Use

T = TypeVar("T")
LATENT = 8
IMAGE, TOKENS = 224, 2048
"""Taken where neither the user nor the model says."""


@dataclass(frozen=True, slots=True)
class View:
    """The part of the model that one GPU computes with."""

    weights: Loaded
    shape: Shape | None
    net: Network | None
    tokens: int  # that one sequence has
    last: bool = True  # has the output


_KNOWN: dict[tuple[Any, ...], tuple[Model, Any]] = {}
MOST_KNOWN = 64


def once(model: Model, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What is asked again and again of the same model: it has up to a million tensors."""
    place = (id(model), *key)
    found = _KNOWN.get(place)
    if found is None or found[0] is not model:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[place] = (model, make())
    answer: T = found[1]
    return answer


def whole(model: Model, use: Use) -> View:
    """Everything on one GPU."""
    shape = once(model, ("shape",), lambda: shape_of(model))
    size = image_of(model, use)
    net = once(model, ("net", size), lambda: network(model, size)) if shape is None else None
    weights = once(model, ("weights", use.dtype, use.quantise), lambda: loaded(model, use.dtype, use.quantise))
    return View(weights, shape, net, tokens_of(model, use))


def pixels_of(model: Model, use: Use) -> int:
    """The side of a picture in pixels."""
    arch = model.architecture
    told = arch.image * (LATENT if latent(model) else 1) if arch and arch.image else None
    return use.image or told or IMAGE


def image_of(model: Model, use: Use) -> int:
    """The side of a picture as the network sees it."""
    return max(1, pixels_of(model, use) // (LATENT if latent(model) else 1))


def latent(model: Model) -> bool:
    """Whether it works on an autoencoder's rows, which are an eighth as long as the picture's."""
    return model.architecture is not None and model.architecture.name == "UNet2DConditionModel"


def tokens_of(model: Model, use: Use) -> int:
    """The tokens of one sequence: asked for, those of a picture's patches, or a default."""
    arch = model.architecture
    if arch is not None and arch.kind == "vit":
        return (image_of(model, use) // (arch.patch or 16)) ** 2 + 1
    return use.tokens or min((arch.positions if arch else None) or TOKENS, TOKENS)


def views(model: Model, use: Use, rooms: tuple[int, ...]) -> list[View]:
    """One view for each stage of the pipeline; all GPUs of a stage hold the same."""
    one = whole(model, use)
    stages = _stages(model, use, one, rooms) if use.pp > 1 else [one]
    return [_tensor_parallel(stage, use.tp) for stage in stages]


def _stages(model: Model, use: Use, one: View, rooms: tuple[int, ...]) -> list[View]:
    layers = 1 + max((n for t in model.tensors if (n := layer_of(t.name)) is not None), default=0)
    counts = shares(layers, rooms[: use.pp] if len(rooms) >= use.pp else (1,) * use.pp)
    out, first = [], 0
    for stage, count in enumerate(counts):
        last = stage == use.pp - 1
        tensors = tuple(t for t in model.tensors if _in(t, first, first + count, stage == 0, last))
        weights = of_tensors(tensors, use.dtype, use.quantise, bool(use.dtype or use.quantise))
        shape = replace(one.shape, layers=count, decoder_layers=0) if one.shape else None
        out.append(replace(one, weights=weights, shape=shape, last=last))
        first += count
    return out


def shares(layers: int, rooms: tuple[int, ...]) -> list[int]:
    """Layers for each GPU in proportion to what it can hold; none stays empty while there are layers."""
    whole, out, left = sum(rooms) or 1, [], layers
    for place, room in enumerate(rooms):
        rest = len(rooms) - place - 1
        count = left if rest == 0 else max(1, min(left - rest, round(layers * room / whole)))
        out.append(max(0, count))
        left -= count
    return out


def _in(tensor: Tensor, first: int, end: int, begins: bool, ends: bool) -> bool:
    number = layer_of(tensor.name)
    if number is None:
        head = any(
            word in tensor.name for word in ("head", "output", "final", "score", "classifier", "ln_f", "model.norm")
        )
        return ends if head else begins
    return first <= number < end


def _tensor_parallel(view: View, tp: int) -> View:
    """Matrices, heads and the table of words are divided; norms are not."""
    if tp <= 1:
        return view
    w, s = view.weights, view.shape
    divided = (w.matrices + w.table) / max(1, w.parameters)
    part = divided / tp + (1 - divided)
    weights = replace(
        w,
        bytes=int(w.bytes * part),
        parameters=int(w.parameters * part),
        matrices=w.matrices // tp,
        rows=w.rows,
        table=w.table // tp,
        largest=w.largest // tp,
        layer=w.layer // tp,
    )
    if s is None:
        return replace(view, weights=weights)
    head = max(1, s.query // max(1, s.heads))
    shape = replace(
        s,
        inner=-(-s.inner // tp),
        query=-(-s.query // tp),
        value=max(min(head, s.value), -(-s.value // tp)),
        heads=-(-s.heads // tp),
        vocab=-(-s.vocab // tp),
    )
    return replace(view, weights=weights, shape=shape)
