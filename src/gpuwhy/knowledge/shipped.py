"""The files of data/: plain in the repository, compressed in a wheel (hatch_build.py), read the same way."""

from __future__ import annotations

from importlib import resources

def shipped(*names: str) -> bytes:
    """The bytes of a file below data/."""
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
