"""Weights as they lie on the GPU: as the files have them, in another type, or quantised while they are loaded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gpuwhy.fit.bits import INT8, NF4, width
from gpuwhy.fit.model import Model, Tensor

FLOATS = ("f32", "f16", "bf16", "f64")
_BUFFER = re.compile(r"running_(mean|var)|num_batches|inv_freq|position_ids|rotary|attn\.(bias|masked_bias)$|moving_")
_EMBEDDING = re.compile(r"embed|wte|wpe|lm_head|output\.weight|token_embd|shared\.weight|classifier|score|head\.weight")
_LAYER = re.compile(r"(?:^|\.|/|_)(?:layers?|blocks?|blk|h|block|decoder|encoder)[._/](\d+)(?=\D)")


@dataclass(frozen=True, slots=True)
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
    stored: bool = True  # as in the files, not converted


def trained(tensor: Tensor) -> bool:
    """Whether an optimizer would move it."""
    return tensor.dtype in FLOATS and not _BUFFER.search(tensor.name)


def loaded(model: Model, dtype: str = "", quantise: str = "") -> Loaded:
    """All weights of a model on one GPU."""
    computed = model.how.value != "saw"
    return of_tensors(model.tensors, dtype or _default(model), quantise, bool(dtype or quantise) or computed)


def _default(model: Model) -> str:
    """What the weights are loaded as where nobody says: config.json's type where the tensors are computed from it."""
    return (model.dtype or "") if model.how.value != "saw" else ""


def of_tensors(tensors: tuple[Tensor, ...], dtype: str, quantise: str, converted: bool) -> Loaded:
    """The weights that these tensors become."""
    sizes = [_size(tensor, dtype, quantise) for tensor in tensors]
    largest = max(sizes, default=0)
    floats = list(filter(trained, tensors))
    tables = [tensor for tensor in floats if _EMBEDDING.search(tensor.name)]
    matrices = [tensor for tensor in _multiplied(floats) if len(tensor.shape) >= 2]
    packed = [tensor for tensor in _multiplied(tensors) if tensor.is_matrix]
    return Loaded(
        bytes=sum(sizes),
        parameters=_elements(floats),
        matrices=_elements(matrices),
        rows=sum(map(_sides, matrices or packed)),
        table=_elements(tables),
        largest=largest,
        layer=_largest_layer(tensors, sizes) or largest,
        dtype=_commonest(tensors, sizes, dtype) or dtype or "f32",
        stored=not converted,
    )


def _largest_layer(tensors: tuple[Tensor, ...], sizes: list[int]) -> int:
    """Its bytes; 0 where no name tells of layers."""
    layers: Counter[int | None] = Counter()
    for tensor, size in zip(tensors, sizes, strict=True):
        layers[layer_of(tensor.name)] += size
    layers.pop(None, None)
    return max(layers.values(), default=0)


def _commonest(tensors: tuple[Tensor, ...], sizes: list[int], dtype: str) -> str:
    """The type of the most bytes, floats being converted to `dtype`."""
    kinds: Counter[str] = Counter()
    for tensor, size in zip(tensors, sizes, strict=True):
        kinds[dtype if dtype and tensor.dtype in FLOATS else tensor.dtype] += size
    return kinds.most_common(1)[0][0] if kinds else ""


def _multiplied(tensors: Iterable[Tensor]) -> list[Tensor]:
    """What is no table of words and no output."""
    return [tensor for tensor in tensors if not _EMBEDDING.search(tensor.name)]


def _elements(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.elements for tensor in tensors)


def _sides(tensor: Tensor) -> int:
    return tensor.shape[0] + tensor.elements // max(1, tensor.shape[0])


def _size(tensor: Tensor, dtype: str, quantise: str) -> int:
    """Bytes of one tensor on the GPU: allocators give whole 512 bytes."""
    size = float(tensor.bytes)
    if tensor.dtype in FLOATS and quantise and tensor.is_matrix and not _EMBEDDING.search(tensor.name):
        size = tensor.elements * (NF4 if quantise == "4bit" else INT8) / 8
    elif tensor.dtype in FLOATS and dtype:
        size = tensor.elements * width(dtype)
    elif tensor.dtype in FLOATS and quantise:
        size = tensor.elements * min(2.0, width(tensor.dtype))
    return -(-int(size) // 512) * 512


def layer_of(name: str) -> int | None:
    """The number of the layer that a tensor belongs to."""
    found = _LAYER.search(name)
    return int(found[1]) if found else None
