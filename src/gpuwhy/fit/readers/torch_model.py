"""A model in a file of PyTorch, or of Keras, which both are zip archives."""

from __future__ import annotations

from gpuwhy.fit.model import Model, Tensor
from gpuwhy.fit.readers import configured, torch
from gpuwhy.fit.source import Source, Store


def model(store: Store, name: str, source: Source) -> Model:
    """A file of torch.save, or an archive of Keras; raises Unreadable."""
    if not torch.is_zip(source):
        return _model(store, name, torch.read_legacy(source))
    inside = torch.members(source)
    if "model.weights.h5" in inside:
        from gpuwhy.fit.readers.keras_model import archive

        return archive(name, source, inside)
    return _model(store, name, torch.read_zip(source, inside))


def tensors(source: Source) -> list[Tensor]:
    """The tensors alone, of one file of several."""
    if torch.is_zip(source):
        return torch.read_zip(source, torch.members(source)).tensors
    return torch.read_legacy(source).tensors


def _model(store: Store, name: str, contents: torch.Contents) -> Model:
    own = tuple(one for one in contents.tensors if not torch.is_optimizers(one.name))
    beside = tuple(one for one in contents.tensors if torch.is_optimizers(one.name))
    unknown = tuple(contents.unknown)
    if not own:
        return Model(name, "torch", beside, None, unknown=unknown)
    made = Model(name, "torch", own, unknown=unknown, beside=beside)
    return configured.beside(made, store) if name.endswith(".bin") else configured.named(made)
