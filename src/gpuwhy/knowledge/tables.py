"""The JSON tables below data/, read once and only when somebody asks."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import msgspec

from gpuwhy.knowledge.shipped import shipped
from gpuwhy.facts.fact import Source

T = TypeVar("T")


def load(name: str, shape: type[T]) -> T:
    """Read one table of data/ into its shape."""
    return msgspec.json.decode(_raw(name), type=shape)


def rows(name: str, shape: type[T]) -> tuple[T, ...]:
    """Read one table of data/ that has a row in each line."""
    decoder = msgspec.json.Decoder(shape)
    return tuple(decoder.decode(line) for line in _raw(name).splitlines())


@cache
def _raw(name: str) -> bytes:
    return shipped(name)


def source(where: str, detail: str = "") -> Source:
    """The source of a knowledge row."""
    return Source("know", where, detail)
