"""ONNX: initializers, constants and the tensors of subgraphs, inside the file or beside it; and what the nodes tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Architecture, Model, Stage, Tensor, Unreadable
from gpuwhy.fit.readers.protobuf import BYTES, VARINT, Field, Wire
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Source, Store, inside, shape_of

_TYPES = {
    1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 8: "?", 9: "bool", 10: "f16", 11: "f64",
    12: "u32", 13: "u64", 14: "c64", 15: "c128", 16: "bf16", 17: "f8_e4m3", 18: "f8_e4m3fnuz", 19: "f8_e5m2",
    20: "f8_e5m2fnuz", 21: "u4", 22: "i4", 23: "f4", 24: "f8_e8m0", 25: "u2", 26: "i2",
}  # fmt: skip
_DEEPEST = 24
_MOST_NODES = 2_000_000
_WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul", "QLinearConv", "ConvInteger", "FusedConv")
_ATTENTION = ("GroupQueryAttention", "MultiHeadAttention", "Attention", "DecoderMaskedMultiHeadAttention")


@dataclass
class Contents:
    """What one ONNX file tells."""

    tensors: list[Tensor] = field(default_factory=list)
    outside: dict[str, int] = field(default_factory=dict)  # file beside it → bytes it must have
    nodes: list[Node] = field(default_factory=list)  # those with weights
    attention: list[dict[str, int]] = field(default_factory=list)
    count: int = 0  # of all nodes
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    producer: str = ""
    has_graph: bool = False


class Node(NamedTuple):
    """A node that has weights."""

    op: str
    inputs: tuple[str, ...]
    strides: tuple[int, ...]
    turned: bool  # Gemm's transB


def read(source: Source) -> Contents:
    """Tensors and the nodes that matter; raises Unreadable."""
    wire, out = Wire(source), Contents()
    for one in wire.fields(0, source.size):
        if one.number == 7 and one.wire == BYTES:
            out.has_graph = True
            _graph(wire, one, "", 0, out)
        elif one.number == 2 and one.wire == BYTES:
            out.producer = wire.text(one)[:80]
        elif one.number == 25 and one.wire == BYTES:
            _function(wire, one, out)
    if not out.has_graph:
        raise Unreadable("it is no ONNX model: it has no graph")
    return out


def _graph(wire: Wire, message: Field, prefix: str, depth: int, out: Contents) -> None:
    if depth > _DEEPEST:
        raise Unreadable("its subgraphs are nested deeper than any real model's")
    for one in wire.within(message):
        if one.number == 1:
            _node(wire, one, prefix, depth, out)
        elif one.number == 5:
            _add(_tensor(wire, one, out), prefix, out)
        elif one.number == 15:
            _sparse(wire, one, prefix, out)
        elif one.number == 11 and depth == 0:
            out.inputs.append(_input(wire, one))


def _function(wire: Wire, message: Field, out: Contents) -> None:
    for one in wire.within(message):
        if one.number == 7:
            _node(wire, one, "function.", 1, out)


def _add(tensor: Tensor, prefix: str, out: Contents) -> None:
    if len(out.tensors) >= MOST_TENSORS:
        raise Unreadable(f"it claims more than {MOST_TENSORS:,} tensors")
    out.tensors.append(
        Tensor((prefix + tensor.name)[:MOST_NAME], tensor.dtype, tensor.shape, tensor.bytes) if prefix else tensor
    )


@dataclass
class _Attribute:
    name: str = ""
    number: int | None = None
    numbers: tuple[int, ...] = ()
    tensors: tuple[Field, ...] = ()
    sparse: tuple[Field, ...] = ()
    graphs: tuple[Field, ...] = ()


def _node(wire: Wire, message: Field, prefix: str, depth: int, out: Contents) -> None:
    inputs, outputs, op, attributes = [], [], "", []
    out.count += 1
    if out.count > _MOST_NODES:
        raise Unreadable("it has more nodes than any real model")
    for one in wire.within(message):
        if one.number == 1:
            inputs.append(wire.text(one))
        elif one.number == 2:
            outputs.append(wire.text(one))
        elif one.number == 4:
            op = wire.text(one)
        elif one.number == 5:
            attributes.append(_attribute(wire, one))
    label = prefix + (outputs[0] if outputs else op)
    for attribute in attributes:
        _carried(wire, attribute, label, depth, out)
    _noted(op, tuple(inputs), {one.name: one for one in attributes}, out)


def _attribute(wire: Wire, message: Field) -> _Attribute:
    out = _Attribute()
    for one in wire.within(message):
        if one.number == 1 and one.wire == BYTES:
            out.name = wire.text(one)
        elif one.number == 3 and one.wire == VARINT:
            out.number = one.value
        elif one.number == 8:
            out.numbers += tuple(wire.numbers(one)[:64])
        elif one.number in (5, 10):
            out.tensors += (one,)
        elif one.number in (6, 11):
            out.graphs += (one,)
        elif one.number in (22, 23):
            out.sparse += (one,)
    return out


def _carried(wire: Wire, attribute: _Attribute, label: str, depth: int, out: Contents) -> None:
    """The tensors and graphs that a node holds itself."""
    for one in attribute.tensors:
        tensor = _tensor(wire, one, out)
        _add(Tensor(label[:MOST_NAME], tensor.dtype, tensor.shape, tensor.bytes), "", out)
    for one in attribute.sparse:
        _sparse(wire, one, label + ".", out)
    for one in attribute.graphs:
        _graph(wire, one, f"{label}.{attribute.name}."[:MOST_NAME], depth + 1, out)


def _noted(op: str, inputs: tuple[str, ...], attributes: dict[str, _Attribute], out: Contents) -> None:
    if op in _WEIGHTED:
        strides = attributes["strides"].numbers if "strides" in attributes else ()
        turned = "transB" in attributes and attributes["transB"].number == 1
        out.nodes.append(Node(op, inputs, strides, turned))
    elif op in _ATTENTION:
        out.attention.append({name: one.number for name, one in attributes.items() if one.number is not None})


def _sparse(wire: Wire, message: Field, prefix: str, out: Contents) -> None:
    """A sparse tensor is its values and their indices."""
    for one in wire.within(message):
        if one.number in (1, 2):
            _add(_tensor(wire, one, out), prefix, out)


@dataclass
class _Raw:
    name: str = ""
    dtype: int = 0
    dims: list[int] = field(default_factory=list)
    raw: int | None = None
    strings: int = 0
    place: dict[str, str] = field(default_factory=dict)
    outside: bool = False


def _tensor(wire: Wire, message: Field, out: Contents) -> Tensor:
    got = _Raw()
    for one in wire.within(message):
        _take(wire, one, got)
    shape = shape_of(got.dims, got.name)
    dtype = _TYPES.get(got.dtype, "?")
    size = dtypes.size_of(dtype, shape)
    if got.outside:
        size = _outside(got, size, out)
    elif got.raw is not None and size is not None and got.raw != size:
        raise Unreadable(f"the tensor {got.name[:80]} needs {size:,} bytes by its shape, and has {got.raw:,}")
    if size is None:
        size = got.raw if got.raw is not None else got.strings
    return Tensor(got.name[:MOST_NAME], dtype, shape, size)


def _take(wire: Wire, one: Field, got: _Raw) -> None:
    if one.number == 1:
        got.dims += wire.numbers(one)
        if len(got.dims) > 64:
            raise Unreadable("a tensor in it claims more than 64 dimensions")
    elif one.wire == VARINT:
        _take_number(one, got)
    elif one.wire == BYTES:
        _take_bytes(wire, one, got)


def _take_number(one: Field, got: _Raw) -> None:
    if one.number == 2:
        got.dtype = one.value
    elif one.number == 14:
        got.outside = one.value == 1


def _take_bytes(wire: Wire, one: Field, got: _Raw) -> None:
    if one.number == 6:
        got.strings += one.length
    elif one.number == 8:
        got.name = wire.text(one)
    elif one.number == 9:
        got.raw = one.length
    elif one.number == 13:
        pair = {inner.number: wire.text(inner) for inner in wire.within(one)}
        got.place[pair.get(1, "")] = pair.get(2, "")


def _outside(got: _Raw, size: int | None, out: Contents) -> int | None:
    """Note how long the file beside must be; its length where only it tells."""
    offset, length = _number(got.place.get("offset")) or 0, _number(got.place.get("length"))
    if size is not None and length not in (None, size):
        raise Unreadable(
            f"the tensor {got.name[:80]} needs {size:,} bytes by its shape, and has {length:,} in its file"
        )
    file = got.place.get("location", "")
    out.outside[file] = max(out.outside.get(file, 0), offset + (length or size or 0))
    return length if size is None else size


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 20 and text.isascii() and text.isdigit() else None


def _input(wire: Wire, message: Field) -> tuple[int, ...]:
    """A graph input's dimensions; 0 where one has a name instead of a number."""
    place = [message]
    for number in (2, 1, 2, 1):  # ValueInfoProto.type, TypeProto.tensor_type, Tensor.shape, TensorShapeProto.dim
        place = [one for outer in place for one in wire.within(outer) if one.is_bytes(number)]
    return tuple(_dimension(wire, one) for one in place[:64])


def _dimension(wire: Wire, message: Field) -> int:
    return next((one.value for one in wire.within(message) if one.is_number(1)), 0)


def architecture_of(contents: Contents) -> Architecture | None:
    """What the nodes tell: convolutions in order, or heads of attention; None where neither is there."""
    weights = {one.name: one.shape for one in contents.tensors}
    stages = tuple(_stages(contents.nodes, weights))
    if contents.attention:
        heads = contents.attention[0].get("num_heads")
        kv = contents.attention[0].get("kv_num_heads", heads)
        return Architecture("decoder", contents.producer, len(contents.attention), heads=heads, kv_heads=kv)
    if not any(one.kind in ("conv", "transposed") for one in stages):
        return None
    image = next((one for one in contents.inputs if len(one) == 4), ())
    size = max(image[2:], default=0) or None
    return Architecture(
        "cnn", contents.producer, image=size, channels=image[1] or None if image else None, stages=stages
    )


def _stages(nodes: list[Node], weights: dict[str, tuple[int, ...]]) -> Iterator[Stage]:
    for node in nodes:
        found = next(((name, weights[name]) for name in node.inputs if len(weights.get(name, ())) >= 2), None)
        if found is None:
            continue
        name, shape = found
        if node.op in ("Gemm", "MatMul"):
            a, b = shape[-2:] if not node.turned else (shape[-1], shape[-2])
            yield Stage("linear", a, b, name=name)
        elif node.op == "ConvTranspose":
            yield Stage("transposed", shape[0], shape[1], max(shape[2:], default=1), max(node.strides, default=1), name)
        else:
            yield Stage("conv", shape[1], shape[0], max(shape[2:], default=1), max(node.strides, default=1), name)


def model(store: Store, name: str, source: Source) -> Model:
    """A file, with those beside it that hold its weights."""
    contents = read(source)
    unknown = []
    for file, room in contents.outside.items():
        size = store.size(_beside(name, file))
        if size is None:
            unknown.append(f"{file[:80]}, where its weights lie, is not here: they are counted by their shapes")
        elif size < room:
            unknown.append(
                f"{file[:80]} has {size:,} bytes and {room:,} are needed: it is cut short or still downloading"
            )
    architecture = architecture_of(contents)
    return Model(
        name, "onnx", tuple(contents.tensors), architecture, unknown=tuple(unknown), files=1 + len(contents.outside)
    )


def _beside(name: str, file: str) -> str:
    folder = name.rpartition("/")[0]
    return inside(f"{folder}/{file}" if folder else file)
