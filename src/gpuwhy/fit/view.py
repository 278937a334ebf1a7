"""What one GPU has of the model, however the model is split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gpuwhy.fit.answer import Use
from gpuwhy.fit.model import Model, Tensor
from gpuwhy.fit.shape import Shape, shape_of
from gpuwhy.fit.weights import Loaded, layer_of, loaded, of_tensors

T = TypeVar("T")
IMAGE, TOKENS = 224, 2048
"""Taken where neither the user nor the model says."""
_LAST = ("head", "output", "final", "score", "classifier", "ln_f", "model.norm")


@dataclass(frozen=True)
class View:
    """The part of the model that one GPU computes with."""

    weights: Loaded
    shape: Shape | None
    tokens: int  # that one sequence has
    last: bool = True  # has the output


_KNOWN: dict[tuple[Any, ...], tuple[Model, Any]] = {}


def _once(model: Model, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What is asked again and again of the same model: it has up to a million tensors."""
    place = (id(model), *key)
    found = _KNOWN.get(place)
    if found is None or found[0] is not model:
        if len(_KNOWN) >= 64:
            _KNOWN.clear()
        found = _KNOWN[place] = (model, make())
    answer: T = found[1]
    return answer


def whole(model: Model, use: Use) -> View:
    """Everything on one GPU."""
    shape = _once(model, ("shape",), lambda: shape_of(model))
    key = ("weights", use.dtype, use.quantise)
    weights = _once(model, key, lambda: loaded(model, use.dtype, use.quantise))
    return View(weights, shape, tokens_of(model, use))


def tokens_of(model: Model, use: Use) -> int:
    """The tokens of one sequence: asked for, those of a picture's patches, or a default."""
    arch = model.architecture
    if arch is not None and arch.kind == "vit":
        return ((use.image or arch.image or IMAGE) // (arch.patch or 16)) ** 2 + 1
    return use.tokens or min((arch.positions if arch else None) or TOKENS, TOKENS)


def views(model: Model, use: Use, rooms: tuple[int, ...]) -> list[View]:
    """One view for each stage of the pipeline; all GPUs of a stage hold the same."""
    one = whole(model, use)
    stages = _stages(model, use, one, rooms) if use.pp > 1 else [one]
    return [_tensor_parallel(stage, use.tp) for stage in stages]


def _stages(model: Model, use: Use, one: View, rooms: tuple[int, ...]) -> list[View]:
    numbers = (layer_of(tensor.name) for tensor in model.tensors)
    layers = 1 + max((number for number in numbers if number is not None), default=0)
    counts = shares(layers, rooms[: use.pp] if len(rooms) >= use.pp else (1,) * use.pp)
    out, first = [], 0
    for stage, count in enumerate(counts):
        last = stage == use.pp - 1
        held = (t for t in model.tensors if _in(t, first, first + count, stage == 0, last))
        weights = of_tensors(tuple(held), use.dtype, use.quantise, bool(use.dtype or use.quantise))
        shape = replace(one.shape, layers=count, decoder_layers=0) if one.shape else None
        out.append(replace(one, weights=weights, shape=shape, last=last))
        first += count
    return out


def shares(layers: int, rooms: tuple[int, ...]) -> list[int]:
    """Layers for each GPU in proportion to what it can hold; none stays empty."""
    total, out, left = sum(rooms) or 1, [], layers
    for place, room in enumerate(rooms):
        rest = len(rooms) - place - 1
        count = left if rest == 0 else max(1, min(left - rest, round(layers * room / total)))
        out.append(max(0, count))
        left -= count
    return out


def _in(tensor: Tensor, first: int, end: int, begins: bool, ends: bool) -> bool:
    number = layer_of(tensor.name)
    if number is None:
        return ends if any(word in tensor.name for word in _LAST) else begins
    return first <= number < end


def _tensor_parallel(view: View, tp: int) -> View:
    """Matrices, heads and the table of words are divided; norms are not."""
    if tp <= 1:
        return view
    w, s = view.weights, view.shape
    divided = (w.matrices + w.table) / max(1, w.parameters) if w.parameters else 1.0
    part = divided / tp + (1 - divided)
    weights = replace(
        w,
        bytes=int(w.bytes * part),
        parameters=int(w.parameters * part),
        matrices=w.matrices // tp,
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
