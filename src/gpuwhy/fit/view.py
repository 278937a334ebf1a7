"""What one GPU has of the model: its weights as they lie there, its layers."""

from collections import Counter
from dataclasses import dataclass, replace

from gpuwhy.fit.answer import Use
from gpuwhy.fit.dtypes import FLOATS, pattern, width
from gpuwhy.fit.model import Model, Tensor
from gpuwhy.fit.shape import Shape, shape_of

_IMAGE, _TOKENS = 224, 2048  # taken where neither the user nor the model says
_BITS = {"4bit": 4.127, "8bit": 8.02}
"""Bits of a weight in bitsandbytes: 4, an 8-bit scale for 64, an f32 for 256 of those; 8, and one
f32 scale for each row."""


@dataclass(frozen=True)
class Loaded:
    """The weights of one GPU, before any sharing by ZeRO."""

    bytes: int
    parameters: int  # that can be trained
    matrices: int  # elements of those that are multiplied with activations
    rows: int  # sum of both sides of every matrix: what LoRA and Adafactor grow with
    table: int  # elements of embedding and output
    layer: int  # bytes of the largest layer
    dtype: str  # what most of it is
    stored: bool  # as in the files, not converted


@dataclass(frozen=True)
class View:
    """The part of the model that one GPU computes with."""

    weights: Loaded
    shape: Shape | None
    tokens: int  # that one sequence has


def view_of(model: Model, use: Use) -> View:
    """The part of each GPU; asked again and again, and a model has up to a million tensors."""
    known, key = model.known, ("weights", use.dtype, use.quantise)
    if "shape" not in known:
        known["shape"] = shape_of(model)
    if key not in known:
        known[key] = _loaded(model, use)
    w, s, tp = known[key], known["shape"], use.tp
    if tp > 1:  # matrices, heads and the table of words are divided; norms are not
        divided = (w.matrices + w.table) / w.parameters if w.parameters else 1.0
        part = divided / tp + (1 - divided)
        shared = {name: getattr(w, name) // tp for name in ("matrices", "table", "layer")}
        w = replace(w, bytes=int(w.bytes * part), parameters=int(w.parameters * part), **shared)
    if tp > 1 and s is not None:
        head = max(1, s.query // max(1, s.heads))
        wide = {name: -(-getattr(s, name) // tp) for name in ("inner", "query", "heads", "vocab")}
        s = replace(s, **wide, value=max(min(head, s.value), -(-s.value // tp)))
    return View(w, s, tokens_of(model, use))


def tokens_of(model: Model, use: Use) -> int:
    """The tokens of one sequence: asked for, those of a picture's patches, or a default."""
    arch = model.architecture
    if arch.kind == "vit":
        return ((arch.image or _IMAGE) // (arch.patch or 16)) ** 2 + 1
    return use.tokens or min(arch.positions or _TOKENS, _TOKENS)


def _loaded(model: Model, use: Use) -> Loaded:
    """The weights that the tensors of a model become on a GPU."""
    dtype = use.dtype or (model.dtype if model.computed else "")
    whole = parameters = matrices = rows = packed = table = largest = 0
    layers: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for one in model.tensors:
        floating, in_table = one.dtype in FLOATS, bool(pattern("table").search(one.name))
        size = _size(one, dtype if floating else "", use.quantise if floating else "", in_table)
        whole, largest = whole + size, max(largest, size)
        if found := pattern("layer").search(one.name):
            layers[found[1]] += size
        kinds[dtype if dtype and floating else one.dtype] += size
        sides = one.shape[0] + one.elements // max(1, one.shape[0]) if one.shape else 0
        if len(one.shape) == 2 and not in_table:
            packed += sides
        if floating and not one.is_buffer:
            parameters += one.elements
            table += one.elements if in_table else 0
            if len(one.shape) >= 2 and not in_table:
                matrices, rows = matrices + one.elements, rows + sides
    return Loaded(
        bytes=whole,
        parameters=parameters,
        matrices=matrices,
        rows=rows or packed,
        table=table,
        layer=max(layers.values(), default=0) or largest,
        dtype=kinds.most_common(1)[0][0] if kinds else dtype or "f32",
        stored=not (use.dtype or use.quantise or model.computed),
    )


def _size(tensor: Tensor, dtype: str, quantise: str, in_table: bool) -> int:
    """Bytes of one tensor on the GPU: allocators give whole 512 bytes."""
    size = float(tensor.bytes)
    if quantise and len(tensor.shape) == 2 and not in_table:
        size = tensor.elements * _BITS[quantise] / 8
    elif dtype:
        size = tensor.elements * width(dtype)
    elif quantise:
        size = tensor.elements * min(2.0, width(tensor.dtype))
    return -(-int(size) // 512) * 512
