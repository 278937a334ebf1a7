"""Brought: which of NVIDIA's wheels a package brings, by its own metadata and by that of its helpers; harvested.

Written by tools/harvest/brought.py: cudf-cu12 asks for libcudf-cu12, and that for nvidia-nvjitlink-cu12>=12.9. JAX is
there with its extras, `jax[cuda12]`.
"""

from __future__ import annotations

from functools import cache

import msgspec

from gpuwhy.knowledge import tables

SOURCE = tables.source(
    "METADATA of the published wheels", "knowledge/data/brought.json, by tools/harvest/brought.py"
)


class _Table(msgspec.Struct, frozen=True):
    schema: str
    packages: dict[str, list[tuple[str, dict[str, str]]]]


@cache
def _table() -> dict[str, dict[str, dict[str, str]]]:
    """Package → release → wheel → specifier."""
    rows = tables.load("brought.json", _Table).packages
    return {
        name: {v: asks for versions, asks in found for v in versions.split()}
        for name, found in rows.items()
    }


def knows(name: str) -> bool:
    """Whether some release of a package brings wheels of NVIDIA's, and all of them were read."""
    return name in _table()


def brought(name: str, version: str) -> dict[str, str]:
    """What a release asks of NVIDIA's wheels: wheel, with extras of cuda-toolkit, and specifier; {} for none."""
    return _table().get(name, {}).get(version, {})
