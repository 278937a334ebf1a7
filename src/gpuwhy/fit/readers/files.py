"""One file: its format by its first bytes, and the model in it; each reader is loaded when a file is for it."""

from __future__ import annotations

from collections.abc import Callable

from gpuwhy.fit.model import Model, Tensor, Unreadable
from gpuwhy.fit.readers import configured, safetensors
from gpuwhy.fit.source import Source, Store

_TORCH = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
"""The first pickle of torch's older form: a number of ten bytes."""
_TORCH_TEXT = b"L119547037146038"
"""The same number as protocol 0 writes it, its beginning."""
_TABLE = bytes.fromhex("57fb808b247547db")
"""The last bytes of a checkpoint's index."""
_HDF5 = b"\x89HDF\r\n\x1a\n"


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
    raise Unreadable(_foreign(source.some(0, 32), name))


def _foreign(head: bytes, name: str) -> str:
    if head.startswith(b"version https://git"):
        return "it is a pointer of Git LFS, not the file itself: git lfs pull fetches it"
    if name.endswith(".msgpack"):
        return "it is a file of Flax (msgpack), which is not read"
    return "it is of no format that is read: safetensors, GGUF, ONNX, PyTorch, Keras, HDF5, TensorFlow, config.json"


def _safetensors(store: Store, name: str, source: Source) -> Model:
    return configured.beside(Model(name, "safetensors", tuple(safetensors.read(source))), store)


def indexed(store: Store, name: str) -> Model:
    """An index of safetensors or of torch's files, with what it names; what it is, is not told yet."""
    index = safetensors.read_index(store.open(name))
    pickled = any(file.endswith(".bin") for file in index.files)
    got = safetensors.read_sharded(store, index, of=_torch_tensors if pickled else safetensors.read)
    return Model(
        name,
        "torch" if pickled else "safetensors",
        tuple(got.tensors),
        unknown=tuple(got.unknown),
        files=len(index.files),
        total=index.total,
        partial=got.partial,
    )


def saved_model(store: Store) -> Model:
    """A SavedModel of TensorFlow."""
    from gpuwhy.fit.readers import tensorflow_model

    return tensorflow_model.saved_model(store)


def distributed(store: Store) -> Model:
    """A checkpoint of torch.distributed."""
    from gpuwhy.fit.readers import distributed as reader

    return reader.model(store)


def _torch_tensors(source: Source) -> list[Tensor]:
    from gpuwhy.fit.readers import torch_model

    return torch_model.tensors(source)


def _gguf(store: Store, name: str, source: Source) -> Model:
    from gpuwhy.fit.readers import gguf_model

    return gguf_model.model(store, name, source)


def _torch(store: Store, name: str, source: Source) -> Model:
    from gpuwhy.fit.readers import torch_model

    return torch_model.model(store, name, source)


def _hdf5(store: Store, name: str, source: Source) -> Model:
    from gpuwhy.fit.readers import keras_model

    return keras_model.model(store, name, source)


def _checkpoint(store: Store, name: str, source: Source) -> Model:
    from gpuwhy.fit.readers import tensorflow_model

    return tensorflow_model.checkpoint(store, name, source)


def _graph(store: Store, name: str, source: Source) -> Model:
    from gpuwhy.fit.readers import tensorflow_model

    return tensorflow_model.graph(store, name, source)


def _onnx(store: Store, name: str, source: Source) -> Model:
    from gpuwhy.fit.readers import onnx

    return onnx.model(store, name, source)


def _begins(*marks: bytes) -> Callable[[Source], bool]:
    return lambda source: source.some(0, 16).startswith(marks)


def _is_hdf5(source: Source) -> bool:
    """Its mark is at the start, or behind a block of the user's."""
    places = (0, *(512 << step for step in range(12)))
    return any(source.some(place, 8) == _HDF5 for place in places if place + 8 <= source.size)


_READERS: tuple[tuple[Callable[[Source], bool], Callable[[Store, str, Source], Model]], ...] = (
    (_begins(b"GGUF"), _gguf),
    (_begins(b"PK\x03\x04", _TORCH, _TORCH_TEXT), _torch),
    (safetensors.is_one, _safetensors),
    (lambda source: source.some(max(source.size - 8, 0), 8) == _TABLE, _checkpoint),
    (_is_hdf5, _hdf5),
    (lambda source: source.name.endswith(".pb"), _graph),
    (_begins(b"\x08", b"\x12", b"\x3a", b"\x42"), _onnx),  # the first fields of an ONNX model
)
