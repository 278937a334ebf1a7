"""Modules gone: public modules that a package had once and that its newest releases have no more.

Harvested by tools/harvest/modules_gone.py from the directories of the published wheels; each was looked for in an
installed release (the newest that Python 3.11 takes; PyTorch 2.13), too, and was not found there.
"""

from __future__ import annotations

from functools import cache

import msgspec

from gpuwhy.knowledge import tables

SOURCE = tables.source(
    "the files in the published wheels", "knowledge/data/modules_gone.json, by tools/harvest/modules_gone.py"
)


class _Table(msgspec.Struct, frozen=True):
    schema: str
    packages: dict[str, dict[str, str]]


@cache
def _table() -> dict[str, dict[str, str]]:
    return tables.load("modules_gone.json", _Table).packages


def packages() -> frozenset[str]:
    """The packages that lost modules."""
    return frozenset(_table())


def since(package: str, module: str) -> tuple[str, str]:
    """The lost module that is, or holds, the one that is asked for, and the first release without it; "" if none."""
    lost = _table().get(package, {})
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(2, len(parts) + 1))
    return next(((name, lost[name]) for name in names if name in lost), ("", ""))
