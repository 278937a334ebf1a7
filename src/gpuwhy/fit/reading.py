"""Which reader a path is for: by what its bytes begin with, then by what lies in the folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpuwhy.border import places
from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.readers import files, folder
from gpuwhy.fit.source import Disk, Store

_MOST_SAID, _LONGEST = 40, 280


def read(path: str) -> Model:
    """A model as its files tell it, headers only; raises Unreadable with one sentence."""
    try:
        found = places.kind(path)
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}") from None
    if found not in ("file", "folder"):
        raise Unreadable(f"{path} is neither a file nor a folder" if found else f"there is nothing at {path}")
    where, name = (path, "") if found == "folder" else places.split(path)
    disk = Disk(where)
    try:
        return replace(read_from(disk, name), path=path)
    finally:
        disk.close()


def read_from(store: Store, name: str = "") -> Model:
    """The same of a store: one file of it, or all of it."""
    reader: Callable[[], Model] = (lambda: files.read(store, name)) if name else (lambda: folder.read(store))
    try:
        model = reader()
    except Unreadable as error:
        raise Unreadable(_cut(str(error))) from None
    except RecursionError:
        raise Unreadable("it is nested deeper than any real model") from None
    return replace(model, unknown=tuple(map(_cut, model.unknown[:_MOST_SAID])))


def _cut(sentence: str) -> str:
    """A sentence of a length that people read, whatever names are in it."""
    return sentence if len(sentence) <= _LONGEST else sentence[: _LONGEST - 1] + "…"
