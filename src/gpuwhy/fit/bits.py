"""Bits: what a number takes on the GPU, by the types that people name."""

from __future__ import annotations

import re

from gpuwhy.fit.dtypes import BITS, named

COMPUTED = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8}
"""Types that frameworks compute in."""
NF4 = 4.127
"""Bits of a weight in bitsandbytes' 4 bits, doubly quantised: 4, an 8-bit scale for 64, an f32 for 256 of those."""
INT8 = 8.02
"""Bits of a weight in bitsandbytes' 8 bits: one f32 scale for each row."""
_SHORT = {"fp8": "f8_e4m3", "f8": "f8_e4m3", "fp4": "f4", "int4": "i4"}


def width(dtype: str) -> float:
    """Bytes of one element; two where the type is not known."""
    return BITS.get(dtype, 16) / 8


def word(text: str) -> str:
    """Our name for a type as the user writes it; raises ValueError."""
    plain = text.strip().lower()
    plain = _SHORT.get(plain, plain)
    out = plain if plain in BITS else named(plain)
    if out == "?":
        raise ValueError(f"{text} is no type that is known; write f32, f16, bf16, fp8 or int8")
    return out


def computed_in(dtype: str) -> int:
    """Bytes of an activation where the weights are of this type; quantised ones compute in 16 bits."""
    return COMPUTED.get(dtype, 2)


def size(text: str | int) -> int:
    """Bytes of 24GB (10⁹), 24GiB or 24G (2³⁰) or a number; raises ValueError."""
    if isinstance(text, int):
        return text
    found = re.fullmatch(r"([\d.]{1,24})\s*([kmgt]?)(i?)(b?)", text.strip().lower())
    if found is None or found[1].count(".") > 1 or not found[1].strip("."):
        raise ValueError(f"{text[:40]} is no size: write 24GB, 24GiB or a number of bytes")
    base = 1000 if found[4] and found[2] and not found[3] else 1024
    return int(float(found[1]) * base ** " kmgt".index(found[2] or " "))


def shown(count: float) -> str:
    """Bytes for a person."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)):
        if abs(count) >= size or unit == "MiB":
            value = count / size
            return f"{value:.1f} {unit}" if value < 100 and unit != "MiB" else f"{value:.0f} {unit}"
    return ""


def counted(number: float) -> str:
    """A count for a person: 6.7 billion."""
    for name, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,.0f}"
