"""A folder: which of its files are the model."""

from __future__ import annotations

from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.readers import files
from gpuwhy.fit.source import Store


def read(store: Store) -> Model:
    """The model of a folder; raises Unreadable."""
    names = store.names()
    for name in names:
        if name.endswith(".index.json"):
            return files.indexed(store, name)
    raise Unreadable("there is no model in this folder")
