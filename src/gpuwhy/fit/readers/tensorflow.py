"""TensorFlow: a checkpoint's index, a SavedModel's variables, and the constants of its graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Tensor, Unreadable
from gpuwhy.fit.readers import sstable
from gpuwhy.fit.readers.protobuf import BYTES, VARINT, Field, Wire, signed
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Budget, Source, shape_of

_TYPES = {
    1: "f32", 2: "f64", 3: "i32", 4: "u8", 5: "i16", 6: "i8", 8: "c64", 9: "i64", 10: "bool", 11: "i8", 12: "u8",
    13: "i32", 14: "bf16", 15: "i16", 16: "u16", 17: "u16", 18: "c128", 19: "f16", 22: "u32", 23: "u64", 24: "f8_e5m2",
    25: "f8_e4m3", 29: "i4", 30: "u4",
}  # fmt: skip
_STRING = 7
_MOST_NODES = 4_000_000


class Bundle(NamedTuple):
    """A checkpoint's index."""

    tensors: list[Tensor]
    shards: dict[int, int]  # number → bytes that its file must have
    files: int


def read_index(source: Source) -> Bundle:
    """The tensors that an index names; raises Unreadable."""
    tensors: list[Tensor] = []
    shards: dict[int, int] = {}
    count = 1
    for key, value in sstable.items(source):
        if not key:
            first = next(_wire(value).fields(0, len(value)), None)
            if first is not None and first.number == 1 and first.wire == BYTES:
                return Bundle(list(_slices(value)), {}, 0)
            count = _header(value)
            continue
        if b"\0" in key[:1]:  # the slices of a divided variable: its own entry has the whole shape
            continue
        tensor, shard, end = _entry(key.decode("utf-8", "replace")[:MOST_NAME], value)
        if tensor is not None:
            tensors.append(tensor)
        shards[shard] = max(shards.get(shard, 0), end)
    return Bundle(tensors, shards, count)


def _wire(data: bytes) -> Wire:
    return Wire(Source(lambda place, size: data[place : place + size], len(data), Budget()))


def _header(data: bytes) -> int:
    return next((one.value for one in _wire(data).fields(0, len(data)) if one.number == 1 and one.wire == VARINT), 1)


def _slices(data: bytes) -> Iterator[Tensor]:
    """The tensors of a checkpoint of version 1, which lists them all in one entry."""
    wire = _wire(data)
    for meta in wire.fields(0, len(data)):
        if meta.number != 1 or meta.wire != BYTES:
            continue
        for one in wire.within(meta):
            if one.number == 1 and one.wire == BYTES:
                yield _slice(wire, one)


def _slice(wire: Wire, message: Field) -> Tensor:
    name, dims, kind = "", [], 0
    for one in wire.within(message):
        if one.number == 1 and one.wire == BYTES:
            name = wire.text(one)[:MOST_NAME]
        elif one.number == 2 and one.wire == BYTES:
            dims = _dims(wire, one)
        elif one.number == 3 and one.wire == VARINT:
            kind = one.value
    shape, dtype = shape_of(dims, name), _TYPES.get(kind, "?")
    return Tensor(name, dtype, shape, dtypes.size_of(dtype, shape) or 0)


def _entry(name: str, data: bytes) -> tuple[Tensor | None, int, int]:
    wire = _wire(data)
    got = {1: 0, 3: 0, 4: 0, 5: 0}
    dims: list[int] = []
    for one in wire.fields(0, len(data)):
        if one.number in got and one.wire == VARINT:
            got[one.number] = one.value
        elif one.number == 2 and one.wire == BYTES:
            dims = _dims(wire, one)
    shape = shape_of(dims, name)
    dtype = _TYPES.get(got[1], "?")
    size = dtypes.size_of(dtype, shape)
    if size is not None and got[5] not in (0, size):
        raise Unreadable(f"the tensor {name[:80]} needs {size:,} bytes by its shape, and has {got[5]:,}")
    return Tensor(name, dtype, shape, got[5] if size is None else size), got[3], got[4] + got[5]


def _dims(wire: Wire, message: Field) -> list[int]:
    """A shape; a dimension that is not known is 0."""
    out = []
    for one in wire.within(message):
        if one.number == 2 and one.wire == BYTES:
            inner = (each.value for each in wire.within(one) if each.number == 1 and each.wire == VARINT)
            out.append(max(signed(next(inner, 0)), 0))
            if len(out) > 64:
                raise Unreadable("a tensor in it claims more than 64 dimensions")
    return out


_OPTIMIZER = re.compile(
    r"(?:^|/)(?:optimizer|\.OPTIMIZER_SLOT|Adam|RMSProp|Momentum|beta[12]_power|save_counter|global_step"
    r"|_CHECKPOINTABLE_OBJECT_GRAPH)(?:_\d+)?(?:/|$)"
)


def is_optimizers(name: str) -> bool:
    """Whether a variable's name says that it belongs to training, or to the checkpoint itself."""
    return bool(_OPTIMIZER.search(name)) and "_trainable_variables/" not in name  # there Keras keeps the model's own


class Graph(NamedTuple):
    """What a graph tells: its constants, its operations counted."""

    constants: list[Tensor]
    operations: dict[str, int]


def read_graph(source: Source, saved: bool) -> Graph:
    """The constants of a SavedModel, or of a frozen graph; raises Unreadable."""
    wire, out = Wire(source), Graph([], {})
    parts = wire.fields(0, source.size)
    for part in _graphs_of(wire, parts) if saved else parts:
        _part(wire, part, out)
    if not out.operations:
        raise Unreadable("it is no graph of TensorFlow: it has no nodes")
    return out


def _graphs_of(wire: Wire, fields: Iterable[Field]) -> Iterator[Field]:
    """The parts of every graph in a SavedModel."""
    for meta in fields:
        if meta.is_bytes(2):  # MetaGraphDef
            for graph in wire.within(meta):
                if graph.is_bytes(2):
                    yield from wire.within(graph)


def _part(wire: Wire, one: Field, out: Graph) -> None:
    """A node, or the library of functions, of a graph."""
    if one.is_bytes(1):
        _node(wire, one, "", out)
    elif one.is_bytes(2):
        for function in wire.within(one):
            if function.is_bytes(1):
                _function(wire, function, out)


def _function(wire: Wire, message: Field, out: Graph) -> None:
    nodes = [one for one in wire.within(message) if one.is_bytes(3)]
    for node in nodes:
        _node(wire, node, "function/", out)


def _node(wire: Wire, message: Field, prefix: str, out: Graph) -> None:
    name = operation = ""
    attributes: list[Field] = []
    for one in wire.within(message):
        if one.is_bytes(1):
            name = wire.text(one)
        elif one.is_bytes(2):
            operation = wire.text(one)
        elif one.is_bytes(5):
            attributes.append(one)
    out.operations[operation[:80]] = out.operations.get(operation[:80], 0) + 1
    if len(out.operations) > 20_000 or sum(out.operations.values()) > _MOST_NODES:
        raise Unreadable("it has more nodes than any real graph")
    if operation == "Const":
        for value in _tensors(wire, attributes):
            _constant(wire, value, (prefix + name)[:MOST_NAME], out)


def _tensors(wire: Wire, attributes: list[Field]) -> Iterator[Field]:
    """The tensors among a node's attributes: entry of the map, its value, AttrValue.tensor."""
    for attribute in attributes:
        for value in wire.within(attribute):
            if value.is_bytes(2):
                yield from (one for one in wire.within(value) if one.is_bytes(8))


def _constant(wire: Wire, message: Field, name: str, out: Graph) -> None:
    kind, dims = 0, []
    for one in wire.within(message):
        if one.number == 1 and one.wire == VARINT:
            kind = one.value
        elif one.number == 2 and one.wire == BYTES:
            dims = _dims(wire, one)
    shape = shape_of(dims, name)
    dtype = _TYPES.get(kind, "?")
    size = dtypes.size_of(dtype, shape)
    if kind != _STRING and size:
        if len(out.constants) >= MOST_TENSORS:
            raise Unreadable(f"it claims more than {MOST_TENSORS:,} constants")
        out.constants.append(Tensor(name, dtype, shape, size))
