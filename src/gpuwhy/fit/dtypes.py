"""How wide a number is in a file: plain types by their bits, quantised ones by their blocks."""

from __future__ import annotations

import math

BITS = {
    "f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i64": 64, "u64": 64, "i32": 32, "u32": 32, "i16": 16, "u16": 16,
    "i8": 8, "u8": 8, "bool": 8, "c64": 64, "c128": 128, "c32": 32, "f8_e4m3": 8, "f8_e5m2": 8, "f8_e4m3fnuz": 8,
    "f8_e5m2fnuz": 8, "f8_e8m0": 8, "f6": 6, "f4": 4, "f4x2": 8, "i4": 4, "u4": 4, "i2": 2, "u2": 2, "u1": 1,
}  # fmt: skip
"""Bits of one element; `f4x2` is torch's pair of them in a byte."""

WORDS = {
    "float32": "f32", "float": "f32", "fp32": "f32", "float16": "f16", "half": "f16", "fp16": "f16", "bfloat16": "bf16",
    "bf16": "bf16", "float64": "f64", "double": "f64", "int8": "i8", "uint8": "u8", "int16": "i16", "short": "i16",
    "uint16": "u16", "int32": "i32", "int": "i32", "uint32": "u32", "int64": "i64", "long": "i64", "uint64": "u64",
    "bool": "bool", "complex64": "c64", "complex128": "c128", "complex32": "c32", "float8_e4m3fn": "f8_e4m3",
    "float8_e4m3": "f8_e4m3", "float8_e5m2": "f8_e5m2", "float8_e4m3fnuz": "f8_e4m3fnuz",
    "float8_e5m2fnuz": "f8_e5m2fnuz", "float8_e8m0fnu": "f8_e8m0", "float4_e2m1fn_x2": "f4x2", "qint8": "i8",
    "quint8": "u8", "qint32": "i32", "quint4x2": "u4", "quint2x4": "u2",
}  # fmt: skip
"""What torch, numpy and config.json call them."""

GGML = {
    0: ("f32", 1, 4), 1: ("f16", 1, 2), 2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20), 4: ("q4_2", 16, 10),
    5: ("q4_3", 16, 12), 6: ("q5_0", 32, 22), 7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34), 9: ("q8_1", 32, 40),
    10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110), 12: ("q4_k", 256, 144), 13: ("q5_k", 256, 176),
    14: ("q6_k", 256, 210), 15: ("q8_k", 256, 292), 16: ("iq2_xxs", 256, 66), 17: ("iq2_xs", 256, 74),
    18: ("iq3_xxs", 256, 98), 19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18), 21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 24: ("i8", 1, 1), 25: ("i16", 1, 2), 26: ("i32", 1, 4),
    27: ("i64", 1, 8), 28: ("f64", 1, 8), 29: ("iq1_m", 256, 56), 30: ("bf16", 1, 2), 31: ("q4_0", 32, 18),
    32: ("q4_0", 32, 18), 33: ("q4_0", 32, 18), 34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 36: ("iq4_nl", 32, 18),
    37: ("iq4_nl", 32, 18), 38: ("iq4_nl", 32, 18), 39: ("mxfp4", 32, 17), 40: ("nvfp4", 64, 36), 41: ("q1_0", 128, 18),
}  # fmt: skip
"""Type number in GGUF → our name, elements of a block, bytes of a block."""


def size_of(dtype: str, shape: tuple[int, ...]) -> int | None:
    """The bytes of a plain tensor; None for a type that is not known."""
    bits = BITS.get(dtype)
    return None if bits is None else -(-math.prod(shape) * bits // 8)


def named(word: str) -> str:
    """Our name for what torch, numpy or config.json call a type; "?" where it is not known."""
    return WORDS.get(word.removeprefix("torch.").lower(), "?")
