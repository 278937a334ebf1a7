"""Weights as they lie on the GPU: as the files have them, in another type, or quantised."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gpuwhy.fit.dtypes import FLOATS, width
from gpuwhy.fit.model import Model, Tensor

NF4 = 4.127
"""Bits of a weight in bitsandbytes' 4 bits: 4, an 8-bit scale for 64, an f32 for 256 of those."""
INT8 = 8.02
"""Bits of a weight in bitsandbytes' 8 bits: one f32 scale for each row."""
_BUFFER = re.compile(
    r"running_(mean|var)|num_batches|inv_freq|position_ids|rotary|attn\.(bias|masked_bias)$|moving_"
)
_TABLE = re.compile(
    r"embed|wte|wpe|lm_head|output\.weight|token_embd|shared\.weight|classifier|score|head\.weight"
)
_LAYER = re.compile(r"(?:^|\.|/|_)(?:layers?|blocks?|blk|h|block|decoder|encoder)[._/](\d+)(?=\D)")


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
    stored: bool = True  # as in the files, not converted


def is_buffer(name: str) -> bool:
    """Whether a tensor is no parameter: a norm's running mean, a table of positions."""
    return bool(_BUFFER.search(name))


def loaded(model: Model, dtype: str = "", quantise: str = "") -> Loaded:
    """All weights of a model on one GPU."""
    default = (model.dtype or "") if model.computed else ""
    converted = bool(dtype or quantise) or model.computed
    return of_tensors(model.tensors, dtype or default, quantise, converted)


def of_tensors(tensors: tuple[Tensor, ...], dtype: str, quantise: str, converted: bool) -> Loaded:
    """The weights that these tensors become."""
    sizes = [_size(tensor, dtype, quantise) for tensor in tensors]
    floats = [one for one in tensors if one.dtype in FLOATS and not is_buffer(one.name)]
    tables = [one for one in floats if _TABLE.search(one.name)]
    matrices = [one for one in floats if len(one.shape) >= 2 and not _TABLE.search(one.name)]
    packed = [one for one in tensors if len(one.shape) == 2 and not _TABLE.search(one.name)]
    layers: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    for tensor, size in zip(tensors, sizes, strict=True):
        number = layer_of(tensor.name)
        layers[-1 if number is None else number] += size
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
        stored=not converted,
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
        size = tensor.elements * (NF4 if quantise == "4bit" else INT8) / 8
    elif floating and dtype:
        size = tensor.elements * width(dtype)
    elif floating and quantise:
        size = tensor.elements * min(2.0, width(tensor.dtype))
    return -(-int(size) // 512) * 512


def layer_of(name: str) -> int | None:
    """The number of the layer that a tensor belongs to."""
    found = _LAYER.search(name)
    return int(found[1]) if found else None
