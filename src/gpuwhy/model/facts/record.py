"""The base of every observed record."""

from __future__ import annotations

import msgspec


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all observed records: frozen, and strict when read back."""
