"""What one GPU has of the model, however it is split: its weights as they lie there, its layers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from gpuwhy.fit.answer import Use
from gpuwhy.fit.dtypes import FLOATS, width
from gpuwhy.fit.model import Architecture, Model, Tensor
from gpuwhy.fit.shape import Shape, shape_of

IMAGE, TOKENS = 224, 2048  # taken where neither the user nor the model says
_BITS = {"4bit": 4.127, "8bit": 8.02}
"""Bits of a weight in bitsandbytes: 4, an 8-bit scale for 64, an f32 for 256 of those; 8, and one
f32 scale for each row."""
_TABLE = re.compile(
    r"embed|wte|wpe|lm_head|output\.weight|token_embd|shared\.weight|classifier|score|head\.weight"
)
_LAYER = re.compile(r"(?:^|\.|/|_)(?:layers?|blocks?|blk|h|block|decoder|encoder)[._/](\d+)(?=\D)")
_LAST = ("head", "output", "final", "score", "classifier", "ln_f", "model.norm")


@dataclass(frozen=True)
class Loaded:
    """The weights of one GPU, before any sharing by ZeRO."""

    bytes: int
    parameters: int  # that can be trained
    matrices: int  # elements of those that are multiplied with activations
    rows: int  # sum of both sides of every matrix: what LoRA and Adafactor grow with
    table: int  # elements of embedding and output
    largest: int  # bytes of the largest tensor
    layer: int  # bytes of the largest layer
    dtype: str  # what most of it is
    stored: bool  # as in the files, not converted


@dataclass(frozen=True)
class View:
    """The part of the model that one GPU computes with."""

    weights: Loaded
    shape: Shape | None
    tokens: int  # that one sequence has
    last: bool = True  # has the output


def whole(model: Model, use: Use) -> View:
    """Everything on one GPU; asked again and again, and a model has up to a million tensors."""
    known, key = model.known, ("weights", use.dtype, use.quantise)
    if "shape" not in known:
        known["shape"] = shape_of(model)
    if key not in known:
        known[key] = _loaded(model, model.tensors, use)
    return View(known[key], known["shape"], tokens_of(model, use))


def tokens_of(model: Model, use: Use) -> int:
    """The tokens of one sequence: asked for, those of a picture's patches, or a default."""
    arch = model.architecture or Architecture()
    if arch.kind == "vit":
        return int((use.image or arch.image or IMAGE) // (arch.patch or 16)) ** 2 + 1
    return use.tokens or min(arch.positions or TOKENS, TOKENS)


def _loaded(model: Model, tensors: tuple[Tensor, ...], use: Use) -> Loaded:
    """The weights that these tensors of a model become on a GPU."""
    dtype = use.dtype or (model.dtype if model.computed else "")
    sizes = [_size(tensor, dtype, use.quantise) for tensor in tensors]
    floats = [one for one in tensors if one.dtype in FLOATS and not one.is_buffer]
    tables = [one for one in floats if _TABLE.search(one.name)]
    matrices = [one for one in floats if len(one.shape) >= 2 and not _TABLE.search(one.name)]
    packed = [one for one in tensors if len(one.shape) == 2 and not _TABLE.search(one.name)]
    layers: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    for tensor, size in zip(tensors, sizes, strict=True):
        layers[layer_of(tensor.name)] += size
        kinds[dtype if dtype and tensor.dtype in FLOATS else tensor.dtype] += size
    layers.pop(-1, None)
    largest = max(sizes, default=0)
    return Loaded(
        bytes=sum(sizes),
        parameters=_elements(floats),
        matrices=_elements(matrices),
        rows=sum(map(_sides, matrices or packed)),
        table=_elements(tables),
        largest=largest,
        layer=max(layers.values(), default=0) or largest,
        dtype=kinds.most_common(1)[0][0] if kinds else dtype or "f32",
        stored=not (use.dtype or use.quantise or model.computed),
    )


def _elements(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.elements for tensor in tensors)


def _sides(tensor: Tensor) -> int:
    return tensor.shape[0] + tensor.elements // max(1, tensor.shape[0])


def _size(tensor: Tensor, dtype: str, quantise: str) -> int:
    """Bytes of one tensor on the GPU: allocators give whole 512 bytes."""
    size = float(tensor.bytes)
    floating = tensor.dtype in FLOATS
    if floating and quantise and len(tensor.shape) == 2 and not _TABLE.search(tensor.name):
        size = tensor.elements * _BITS[quantise] / 8
    elif floating and dtype:
        size = tensor.elements * width(dtype)
    elif floating and quantise:
        size = tensor.elements * min(2.0, width(tensor.dtype))
    return -(-int(size) // 512) * 512


def layer_of(name: str) -> int:
    """The number of the layer that a tensor belongs to; -1 for none."""
    found = _LAYER.search(name)
    return int(found[1]) if found else -1


def views(model: Model, use: Use, rooms: tuple[int, ...]) -> list[View]:
    """One view for each stage of the pipeline; all GPUs of a stage hold the same."""
    one = whole(model, use)
    stages = _stages(model, use, one, rooms) if use.pp > 1 else [one]
    return [_tensor_parallel(stage, use.tp) for stage in stages]


def _stages(model: Model, use: Use, one: View, rooms: tuple[int, ...]) -> list[View]:
    layers = 1 + max((layer_of(tensor.name) for tensor in model.tensors), default=0)
    counts = shares(layers or 1, rooms[: use.pp] if len(rooms) >= use.pp else (1,) * use.pp)
    out, first = [], 0
    for stage, count in enumerate(counts):
        last = stage == use.pp - 1
        held = tuple(t for t in model.tensors if _in(t, first, first + count, stage == 0, last))
        shape = replace(one.shape, layers=count, decoder_layers=0) if one.shape else None
        out.append(replace(one, weights=_loaded(model, held, use), shape=shape, last=last))
        first += count
    return out


def shares(layers: int, rooms: tuple[int, ...]) -> list[int]:
    """Layers for each GPU in proportion to what it can hold; none stays empty."""
    total, out, left = sum(rooms) or 1, [], layers
    for rest, room in zip(range(len(rooms) - 1, -1, -1), rooms, strict=True):
        count = max(1, min(left - rest, round(layers * room / total))) if rest else left
        out.append(max(0, count))
        left -= count
    return out


def _in(tensor: Tensor, first: int, end: int, begins: bool, ends: bool) -> bool:
    number = layer_of(tensor.name)
    if number < 0:
        return ends if any(word in tensor.name for word in _LAST) else begins
    return first <= number < end


def _tensor_parallel(view: View, tp: int) -> View:
    """Matrices, heads and the table of words are divided; norms are not."""
    w, s = view.weights, view.shape
    if tp <= 1:
        return view
    divided = (w.matrices + w.table) / w.parameters if w.parameters else 1.0
    part = divided / tp + (1 - divided)
    weights = replace(w, bytes=int(w.bytes * part), parameters=int(w.parameters * part))
    names = ("matrices", "table", "largest", "layer")
    weights = replace(weights, **{name: getattr(w, name) // tp for name in names})
    if s is None:
        return replace(view, weights=weights)
    head = max(1, s.query // max(1, s.heads))
    wide = {name: -(-getattr(s, name) // tp) for name in ("inner", "query", "heads", "vocab")}
    value = max(min(head, s.value), -(-s.value // tp))
    return replace(view, weights=weights, shape=replace(s, **wide, value=value))
