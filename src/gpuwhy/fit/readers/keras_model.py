"""A model of Keras: its archive, or an HDF5 file."""

from __future__ import annotations

from gpuwhy.fit.model import Format, Model
from gpuwhy.fit.names import architecture_from
from gpuwhy.fit.readers import hdf5, keras, torch
from gpuwhy.fit.source import Source, Store
from gpuwhy.formats.zip import Member


def archive(name: str, source: Source, inside: dict[str, Member]) -> Model:
    """The archive of Keras 3: weights in HDF5, layers in JSON."""
    contents = hdf5.read(torch.member(source, inside[keras.WEIGHTS]))
    config = b""
    if keras.CONFIG in inside:
        one = torch.member(source, inside[keras.CONFIG])
        config = one.at(0, one.size, keras.CONFIG)
    return _model(name, "keras", contents, config)


def model(store: Store, name: str, source: Source) -> Model:
    """An HDF5 file; raises Unreadable."""
    contents = hdf5.read(source)
    return _model(name, "hdf5", contents, contents.config)


def _model(name: str, form: Format, contents: hdf5.Contents, config: bytes) -> Model:
    own = tuple(one for one in contents.tensors if not keras.is_optimizers(one.name))
    beside = tuple(one for one in contents.tensors if keras.is_optimizers(one.name))
    told = keras.architecture_of(config) or architecture_from(own)
    return Model(name, form, own, told, unknown=tuple(contents.unknown), beside=beside, partial=bool(contents.unknown))
