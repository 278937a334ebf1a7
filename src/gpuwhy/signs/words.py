"""Names, sizes and sources as evidence and sentences have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpuwhy.facts.fact import Source
from gpuwhy.facts.finding import Evidence, know
from gpuwhy.facts.frameworks import Framework


def table(text: str, source: Any) -> Evidence:
    """Evidence known in general: of a row of knowledge, whichever type its source still has."""
    return know(text, Source("know", source.where, source.detail))


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def and_more(names: Iterable[str], shown: int = 1) -> str:
    """`a and 3 more`."""
    listed = list(names)
    more = len(listed) - shown
    return ", ".join(listed[:shown]) + (f" and {more} more" if more > 0 else "")


def release(one: Framework) -> str:
    """TensorFlow 2.21.0."""
    return f"{one.title} {one.version}"


def size(count: int) -> str:
    """4.1 GB."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count} bytes"
