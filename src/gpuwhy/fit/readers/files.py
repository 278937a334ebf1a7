"""One file: its format by its first bytes, and the model in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from gpuwhy.binary.zipdir import Member
from gpuwhy.fit.model import Architecture, Format, Model, Tensor, Unreadable
from gpuwhy.fit.names import architecture_from
from gpuwhy.fit.readers import (
    configured,
    gguf,
    gguf_architecture,
    hdf5,
    keras,
    onnx,
    safetensors,
    sstable,
    tensorflow,
    torch,
)
from gpuwhy.fit.source import Source, Store, inside


def read(store: Store, name: str) -> Model:
    """A file of a store; raises Unreadable."""
    if name.endswith(".index.json"):
        return configured.beside(indexed(store, name), store)
    if name.endswith(".json"):
        return configured.read(store, name)
    source = store.open(name)
    if not source.size:
        raise Unreadable("it is empty")
    for fits, reader in _READERS:
        if fits(source):
            return reader(store, name, source)
    raise Unreadable(_foreign(source.some(0, 16), name))


def _foreign(head: bytes, name: str) -> str:
    if head.startswith(b"version https://git"):
        return "it is a pointer of Git LFS, not the file itself: git lfs pull fetches it"
    if name.endswith(".msgpack"):
        return (
            "it is a file of Flax (msgpack), which is not read: safetensors, GGUF, ONNX, PyTorch, Keras, TensorFlow are"
        )
    return "it is of no format that is read: safetensors, GGUF, ONNX, PyTorch, Keras, HDF5, TensorFlow, config.json"


def _safetensors(store: Store, name: str, source: Source) -> Model:
    tensors = safetensors.read(source)
    return configured.beside(Model(name, "safetensors", tuple(tensors), architecture_from(tensors)), store)


def indexed(store: Store, name: str) -> Model:
    """An index of safetensors or of torch's files, with what it names."""
    index = safetensors.read_index(store.open(name))
    pickled = any(file.endswith(".bin") for file in index.files)
    got = safetensors.read_sharded(store, index, of=_torch_tensors if pickled else safetensors.read)
    kind = "torch" if pickled else "safetensors"
    return Model(
        name,
        "torch" if kind == "torch" else "safetensors",
        tuple(got.tensors),
        architecture_from(got.tensors),
        unknown=tuple(got.unknown),
        files=len(index.files),
        total=index.total,
    )


def _torch_tensors(source: Source) -> list[Tensor]:
    return _torch_contents(source).tensors


def _torch_contents(source: Source) -> torch.Contents:
    if torch.is_zip(source):
        return torch.read_zip(source, torch.members(source))
    return torch.read_legacy(source)


def _gguf(store: Store, name: str, source: Source) -> Model:
    first = gguf.read(source)
    tensors, unknown = list(first.tensors), []
    all_names = gguf.siblings(name)
    meta: dict[str, Any] = first.meta
    for other in all_names:
        if other == name:
            continue
        if store.size(other) is None:
            unknown.append(f"{other} is not here: its tensors are not counted")
            continue
        part = gguf.read(store.open(other))
        meta = part.meta | meta
        tensors += part.tensors
    architecture = gguf_architecture.architecture_of(meta, tensors)
    unknown += gguf_architecture.uneven(meta)
    return Model(name, "gguf", tuple(tensors), architecture, unknown=tuple(unknown), files=len(all_names))


def _zip(store: Store, name: str, source: Source) -> Model:
    inside = torch.members(source)
    if keras.WEIGHTS in inside:
        return _keras(name, source, inside)
    return _beside_config(_torch_model(name, torch.read_zip(source, inside)), store)


def _keras(name: str, source: Source, inside: dict[str, Member]) -> Model:
    contents = hdf5.read(torch.member(source, inside[keras.WEIGHTS]))
    config = b""
    if keras.CONFIG in inside:
        one = torch.member(source, inside[keras.CONFIG])
        config = one.at(0, one.size, keras.CONFIG)
    return _of_layers(name, "keras", contents, config)


def _hdf5(store: Store, name: str, source: Source) -> Model:
    contents = hdf5.read(source)
    return _of_layers(name, "hdf5", contents, contents.config)


def _of_layers(name: str, form: Format, contents: hdf5.Contents, config: bytes) -> Model:
    own = tuple(one for one in contents.tensors if not keras.is_optimizers(one.name))
    beside = tuple(one for one in contents.tensors if keras.is_optimizers(one.name))
    told = keras.architecture_of(config) or architecture_from(own)
    return Model(name, form, own, told, unknown=tuple(contents.unknown), beside=beside)


def _checkpoint(store: Store, name: str, source: Source) -> Model:
    bundle = tensorflow.read_index(source)
    own = tuple(one for one in bundle.tensors if not tensorflow.is_optimizers(one.name))
    beside = tuple(one for one in bundle.tensors if tensorflow.is_optimizers(one.name))
    unknown = tuple(_shards(store, name.removesuffix(".index"), bundle))
    told = architecture_from(own)
    return Model(name, "tf-checkpoint", own, told, unknown=unknown, files=1 + bundle.files, beside=beside)


def _shards(store: Store, prefix: str, bundle: tensorflow.Bundle) -> Iterator[str]:
    for number, room in sorted(bundle.shards.items())[:1000]:
        file = f"{prefix}.data-{number:05}-of-{bundle.files:05}"
        size = store.size(file)
        if size is None:
            yield f"{file}, where the values lie, is not here: they are counted as the index tells them"
        elif size < room:
            yield f"{file} has {size:,} bytes and {room:,} are needed: it is cut short or still downloading"


def saved_model(store: Store) -> Model:
    """A SavedModel of TensorFlow: its variables and the constants of its graph."""
    graph = tensorflow.read_graph(store.open("saved_model.pb"), True)
    large = _large(graph)
    if store.size("variables/variables.index") is None:
        return Model("saved_model.pb", "savedmodel", large, None)
    index = _checkpoint(store, "variables/variables.index", store.open("variables/variables.index"))
    kept = replace(index, format="savedmodel", tensors=(*index.tensors, *large), files=index.files + 1)
    return replace(kept, architecture=_of_operations(graph))


def _of_operations(graph: tensorflow.Graph) -> Architecture | None:
    convolutions = any(name.startswith(("Conv", "DepthwiseConv")) for name in graph.operations)
    return Architecture("cnn", "SavedModel") if convolutions else None


_SMALL = 4096


def _large(graph: tensorflow.Graph) -> tuple[Tensor, ...]:
    """Constants that are weights: shapes and scalars of the graph are smaller."""
    return tuple({one.name: one for one in graph.constants if one.bytes >= _SMALL}.values())


def _frozen(store: Store, name: str, source: Source) -> Model:
    if name.rpartition("/")[2] == "saved_model.pb":
        return saved_model(store)
    graph = tensorflow.read_graph(source, False)
    return Model(name, "savedmodel", _large(graph), _of_operations(graph))


def _legacy(store: Store, name: str, source: Source) -> Model:
    return _beside_config(_torch_model(name, torch.read_legacy(source)), store)


def _beside_config(model: Model, store: Store) -> Model:
    return configured.beside(model, store) if model.path.endswith(".bin") else model


def _torch_model(name: str, contents: torch.Contents) -> Model:
    own = tuple(one for one in contents.tensors if not torch.is_optimizers(one.name))
    beside = tuple(one for one in contents.tensors if torch.is_optimizers(one.name))
    return (
        Model(name, "torch", own, architecture_from(own), unknown=tuple(contents.unknown), beside=beside if own else ())
        if own
        else Model(name, "torch", beside, None, unknown=tuple(contents.unknown))
    )


def _onnx(store: Store, name: str, source: Source) -> Model:
    contents = onnx.read(source)
    unknown = []
    for file, room in contents.outside.items():
        size = store.size(_beside(name, file))
        if size is None:
            unknown.append(f"{file[:80]}, where its weights lie, is not here: they are counted by their shapes")
        elif size < room:
            unknown.append(
                f"{file[:80]} has {size:,} bytes and {room:,} are needed: it is cut short or still downloading"
            )
    architecture: Architecture | None = onnx.architecture_of(contents)
    return Model(
        name, "onnx", tuple(contents.tensors), architecture, unknown=tuple(unknown), files=1 + len(contents.outside)
    )


def _beside(name: str, file: str) -> str:
    folder = name.rpartition("/")[0]
    return inside(f"{folder}/{file}" if folder else file)


def _is_onnx(source: Source) -> bool:
    """A model's first field is its version of the format, or its graph."""
    return source.some(0, 1) in (b"\x08", b"\x12", b"\x3a", b"\x42")


_READERS: tuple[tuple[Callable[[Source], bool], Callable[[Store, str, Source], Model]], ...] = (
    (lambda source: source.some(0, 4) == gguf.MAGIC, _gguf),
    (torch.is_zip, _zip),
    (lambda source: source.some(0, len(torch.MAGIC)) == torch.MAGIC, _legacy),
    (lambda source: hdf5.start_of(source) is not None, _hdf5),
    (sstable.is_one, _checkpoint),
    (safetensors.is_one, _safetensors),
    (lambda source: source.name.endswith(".pb"), _frozen),
    (_is_onnx, _onnx),
)
