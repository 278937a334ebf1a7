"""The files of data/: plain in the repository, compressed in a wheel (hatch_build.py), read the same way."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

_PUT: dict[str, Callable[[str], bytes | None]] = {}


def put(folder: str, reader: Callable[[str], bytes | None]) -> None:
    """Let the files of a folder of data/ come from a reader instead, where it has them."""
    _PUT[folder] = reader


def shipped(*names: str) -> bytes:
    """The bytes of a file below data/."""
    if len(names) > 1 and names[0] in _PUT and (found := _PUT[names[0]](names[-1])) is not None:
        return found
    folder = resources.files("gpuwhy.knowledge").joinpath("data", *names[:-1])
    plain = folder.joinpath(names[-1])
    if plain.is_file():
        return plain.read_bytes()
    import gzip

    return gzip.decompress(folder.joinpath(names[-1] + ".gz").read_bytes())


def names(folder: str) -> list[str]:
    """The files of a folder of data/, in order."""
    found = resources.files("gpuwhy.knowledge").joinpath("data").joinpath(folder).iterdir()
    return sorted({one.name.removesuffix(".gz") for one in found})
