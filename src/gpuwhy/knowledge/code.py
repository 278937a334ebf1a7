"""Code: what one status of one API is called, which numbers it has had, and what usually stands behind it."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source


class Number(msgspec.Struct, frozen=True):
    """A number, and where it has this meaning ("" where it always has)."""

    code: int
    where: str = ""


class Code(msgspec.Struct, frozen=True):
    """One status of one API."""

    api: str  # cuda, cudnn, cublas … xid
    title: str  # CUDA driver and runtime
    names: tuple[str, ...]  # empty for an Xid
    numbers: tuple[Number, ...]
    meaning: str  # in our own words; "" where the name says it all
    causes: tuple[str, ...]  # ids of the causes that usually stand behind it, the commonest first
    source: Source
    says: tuple[str, ...] = ()  # what the API's own function prints for it
