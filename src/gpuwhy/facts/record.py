"""Record: the base of every subject's facts, and the Owner that many of them name."""

from __future__ import annotations

from typing import Literal

import msgspec

Manager = Literal["", "pip", "conda", "dpkg", "rpm", "pacman", "python"]
"""Who installed something; "python" where it is Python itself, "" where nobody is known to."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Frozen, and strict when read back; a field that nobody filled is Unknown("not observed")."""


class Owner(Record, frozen=True, omit_defaults=True):
    """The package that a file or a claim belongs to."""

    name: str  # as its manager writes it, normalised: nvidia-cudnn-cu12
    version: str = ""
    manager: Manager = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()
