"""Types of numbers: how wide they are, what people and files call them; sizes in words."""

from __future__ import annotations

import math
import re

BITS = {
    **dict.fromkeys(("f64", "i64", "u64", "c64"), 64),
    **dict.fromkeys(("f32", "i32", "u32", "c32"), 32),
    **dict.fromkeys(("f16", "bf16", "i16", "u16"), 16),
    **dict.fromkeys(("i8", "u8", "bool", "f8_e4m3", "f8_e5m2", "f8_e8m0", "f4x2"), 8),
    **dict.fromkeys(("f4", "i4", "u4"), 4),
    **dict.fromkeys(("i2", "u2"), 2),
    "c128": 128,
    "f6": 6,
    "u3": 3,
    "u1": 1,
}
"""Bits of one element; `f4x2` is torch's pair of them in a byte."""
FLOATS = ("f32", "f16", "bf16", "f64")
_WORDS = {
    **dict.fromkeys(("float32", "float", "fp32", "f32"), "f32"),
    **dict.fromkeys(("float16", "half", "fp16", "f16"), "f16"),
    **dict.fromkeys(("bfloat16", "bf16"), "bf16"),
    **dict.fromkeys(("float64", "double", "f64"), "f64"),
    **dict.fromkeys(("int8", "char", "qint8", "i8"), "i8"),
    **dict.fromkeys(("uint8", "byte", "quint8", "u8"), "u8"),
    **dict.fromkeys(("int16", "short", "i16"), "i16"),
    **dict.fromkeys(("int32", "int", "qint32", "i32"), "i32"),
    **dict.fromkeys(("int64", "long", "i64"), "i64"),
    **dict.fromkeys(("uint16", "u16"), "u16"),
    **dict.fromkeys(("uint32", "u32"), "u32"),
    **dict.fromkeys(("uint64", "u64"), "u64"),
    **dict.fromkeys(("complex64", "complexfloat", "c64"), "c64"),
    **dict.fromkeys(("complex128", "complexdouble"), "c128"),
    **dict.fromkeys(("float8_e4m3fn", "float8_e4m3", "f8_e4m3", "f8_e4m3fnuz"), "f8_e4m3"),
    **dict.fromkeys(("float8_e4m3fnuz", "fp8", "f8"), "f8_e4m3"),
    **dict.fromkeys(("float8_e5m2", "float8_e5m2fnuz", "f8_e5m2", "f8_e5m2fnuz"), "f8_e5m2"),
    **dict.fromkeys(("float8_e8m0fnu", "f8_e8m0"), "f8_e8m0"),
    **dict.fromkeys(("f6_e2m3", "f6_e3m2"), "f6"),
    **dict.fromkeys(("fp4", "f4"), "f4"),
    "float4_e2m1fn_x2": "f4x2",
    "int4": "i4",
    "quint4x2": "u4",
    "quint2x4": "u2",
    "bool": "bool",
}
"""What torch, safetensors, config.json and people call them."""
GGML = {
    0: ("f32", 1, 4),
    1: ("f16", 1, 2),
    2: ("q4_0", 32, 18),
    3: ("q4_1", 32, 20),
    6: ("q5_0", 32, 22),
    7: ("q5_1", 32, 24),
    8: ("q8_0", 32, 34),
    9: ("q8_1", 32, 40),
    10: ("q2_k", 256, 84),
    11: ("q3_k", 256, 110),
    12: ("q4_k", 256, 144),
    13: ("q5_k", 256, 176),
    14: ("q6_k", 256, 210),
    15: ("q8_k", 256, 292),
    16: ("iq2_xxs", 256, 66),
    17: ("iq2_xs", 256, 74),
    18: ("iq3_xxs", 256, 98),
    19: ("iq1_s", 256, 50),
    20: ("iq4_nl", 32, 18),
    21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82),
    23: ("iq4_xs", 256, 136),
    24: ("i8", 1, 1),
    25: ("i16", 1, 2),
    26: ("i32", 1, 4),
    27: ("i64", 1, 8),
    28: ("f64", 1, 8),
    29: ("iq1_m", 256, 56),
    30: ("bf16", 1, 2),
    34: ("tq1_0", 256, 54),
    35: ("tq2_0", 256, 66),
    39: ("mxfp4", 32, 17),
    40: ("nvfp4", 64, 36),
    41: ("q1_0", 128, 18),
}
"""Type number in GGUF → our name, elements of a block, bytes of a block."""


def named(word: str) -> str:
    """Our name for a type; "?" where it is not known."""
    return _WORDS.get(word.removeprefix("torch.").lower(), "?")


def asked(word: str) -> str:
    """Our name for a type that somebody types; raises ValueError."""
    found = named(word.strip())
    if found == "?":
        raise ValueError(f"{word} is no type that is known; write f32, f16, bf16, fp8 or int8")
    return found


def width(dtype: str) -> float:
    """Bytes of one element; two where the type is not known."""
    return BITS.get(dtype, 16) / 8


def size_of(dtype: str, shape: tuple[int, ...]) -> int | None:
    """The bytes of a plain tensor; None for a type that is not known."""
    bits = BITS.get(dtype)
    return None if bits is None else -(-math.prod(shape) * bits // 8)


def memory(text: str | int) -> int:
    """Bytes of 24GB (10⁹), 24GiB or 24G (2³⁰) or a number; raises ValueError."""
    found = re.fullmatch(r"(\d{1,20}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)(b?)", str(text).strip().lower())
    if found is None:
        raise ValueError(f"{str(text)[:40]} is no size: write 24GB, 24GiB or a number of bytes")
    base = 1000 if found[4] and found[2] and not found[3] else 1024
    return int(float(found[1]) * base ** " kmgt".index(found[2] or " "))


def shown(count: float) -> str:
    """Bytes for a person."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30)):
        if abs(count) >= size:
            value = count / size
            return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
    return f"{count / (1 << 20):.0f} MiB"


def counted(number: float) -> str:
    """A count for a person: 6.7 billion."""
    for name, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,.0f}"
