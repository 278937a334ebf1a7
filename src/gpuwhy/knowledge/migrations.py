"""Migrations: what changes in a program when a framework moves from one series to another."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import rows


class Migration(msgspec.Struct, frozen=True):
    """A border between two series; crossing it upwards needs what `text` says."""

    framework: str
    border: str
    text: str
    source: Source


def crossed(framework: str, before: str, after: str) -> tuple[Migration, ...]:
    """The borders between two releases, going up; () when it goes down."""
    mine = (row for row in rows("migrations.jsonl", Migration) if row.framework == framework)
    return tuple(
        row for row in mine if not at_least(before, row.border) and at_least(after, row.border)
    )
