"""Record: the base of every subject's facts."""

from __future__ import annotations

import msgspec


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Frozen, and strict when read back; a field that nobody filled is Unknown("not observed")."""
