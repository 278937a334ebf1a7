"""A model of TensorFlow: a checkpoint, a SavedModel, a frozen graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuwhy.fit.model import Architecture, Model, Tensor
from gpuwhy.fit.names import architecture_from
from gpuwhy.fit.readers import tensorflow
from gpuwhy.fit.source import Source, Store


def checkpoint(store: Store, name: str, source: Source) -> Model:
    """A checkpoint by its index; raises Unreadable."""
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
    index = checkpoint(store, "variables/variables.index", store.open("variables/variables.index"))
    kept = replace(index, format="savedmodel", tensors=(*index.tensors, *large), files=index.files + 1)
    return replace(kept, architecture=_of_operations(graph))


def _of_operations(graph: tensorflow.Graph) -> Architecture | None:
    convolutions = any(name.startswith(("Conv", "DepthwiseConv")) for name in graph.operations)
    return Architecture("cnn", "SavedModel") if convolutions else None


_SMALL = 4096


def _large(graph: tensorflow.Graph) -> tuple[Tensor, ...]:
    """Constants that are weights: shapes and scalars of the graph are smaller."""
    return tuple({one.name: one for one in graph.constants if one.bytes >= _SMALL}.values())


def graph(store: Store, name: str, source: Source) -> Model:
    """A graph in a file of its own; raises Unreadable."""
    if name.rpartition("/")[2] == "saved_model.pb":
        return saved_model(store)
    found = tensorflow.read_graph(source, False)
    return Model(name, "savedmodel", _large(found), _of_operations(found))
