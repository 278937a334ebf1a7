"""The tables below data/: JSON and JSON lines, read once and only when somebody asks.

Plain in the repository, compressed in a wheel (hatch_build.py). Rows name their own sources.
"""

import zlib
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from gpuwhy.facts.fact import Source

T = TypeVar("T")
DATA = Path(__file__).parent / "data"
_GZIP = 31  # zlib's window bits for a gzip header


class Packages(msgspec.Struct, Generic[T], frozen=True):
    """A table with something of each package."""

    schema: str
    packages: dict[str, T]


def load(name: str, shape: type[T]) -> T:
    """A table that is one JSON document."""
    kind: Any = shape
    found: T = _read(name, kind, in_lines=False)
    return found


def rows(name: str, shape: type[T]) -> tuple[T, ...]:
    """A table that has a row in each line."""
    kind: Any = shape
    found: tuple[T, ...] = _read(name, kind, in_lines=True)
    return found


@cache
def _read(name: str, shape: Any, in_lines: bool) -> Any:
    decoder = msgspec.json.Decoder(shape)
    return tuple(decoder.decode_lines(raw(name))) if in_lines else decoder.decode(raw(name))


def raw(name: str) -> bytes:
    """The bytes of a file below data/."""
    plain = DATA / name
    if plain.is_file():
        return plain.read_bytes()
    return zlib.decompress(plain.with_name(plain.name + ".gz").read_bytes(), _GZIP)


def source(where: str, detail: str = "") -> Source:
    """The source of a knowledge row."""
    return Source("know", where, detail)
