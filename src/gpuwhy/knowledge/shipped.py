"""The files of data/: plain in the repository, compressed in a wheel (hatch_build.py), read the same way."""

from __future__ import annotations

import gzip
from pathlib import Path

DATA = Path(__file__).parent / "data"


def shipped(*names: str) -> bytes:
    """The bytes of a file below data/."""
    plain = DATA.joinpath(*names)
    if plain.is_file():
        return plain.read_bytes()
    return gzip.decompress(plain.with_name(names[-1] + ".gz").read_bytes())


def names(folder: str) -> list[str]:
    """The files of a folder of data/, in order."""
    return sorted({one.name.removesuffix(".gz") for one in (DATA / folder).iterdir()})
