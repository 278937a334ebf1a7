"""Sizes in bytes as people and messages write them."""

from __future__ import annotations

import re

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"([\d.,]+)\s*([kmgt]?)(i?)(b|bytes?)?", re.IGNORECASE)


MOST = 1 << 70
"""No machine has more."""


def parse(text: str | int | float) -> int:
    """Bytes: 8GB is 8·10⁹, 8GiB and 8G are 8·2³⁰; raises ValueError."""
    if isinstance(text, (int, float)):
        if abs(text) > MOST:
            raise ValueError(f"{str(text)[:40]} is no size")
        return int(text)
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size: write 8GB, 8GiB, 512MB or a number of bytes")
    number, unit, binary, suffix = match.groups()
    base = 1024 if binary or (unit and not suffix) else 1000
    try:
        return int(float(number.replace(",", "")) * base ** _UNITS[unit.lower()])
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is no size: {number[:40]!r} is no number") from None


def shown(number: int | float) -> str:
    """Bytes for a person: 2.0 GiB."""
    size = float(number)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
