"""The data files of remedies: plain in a checkout, packed in a wheel."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent.parent / "knowledge" / "data"


def shipped(*names: str) -> bytes:
    """The bytes of a data file; empty where there is none."""
    plain = FOLDER.joinpath(*names)
    if plain.is_file():
        return plain.read_bytes()
    packed = plain.with_name(plain.name + ".gz")
    if not packed.is_file():
        return b""
    import gzip

    return gzip.decompress(packed.read_bytes())
