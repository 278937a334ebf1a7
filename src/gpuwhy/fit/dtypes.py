"""Types of numbers: how wide they are, what people and files call them; sizes in words."""

import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


@cache
def rows(file: str) -> dict[str, Any]:
    """All rows of tables.toml or families.toml."""
    data = files("gpuwhy.fit").joinpath(f"{file}.toml").read_bytes()
    return msgspec.toml.decode(data, type=dict[str, Any])


def table(name: str) -> Any:
    """One table of tables.toml."""
    return rows("tables")[name]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One expression of families.toml, over names of tensors and architectures."""
    return re.compile(rows("families")["patterns"][name])


FLOATS = ("f32", "f16", "bf16", "f64")
_BITS = {word: int(bits) for bits, words in table("bits").items() for word in words.split()}
_NAMES = {word: name for name, words in table("words").items() for word in words.split()}
GGML: dict[int, tuple[str, int, int]] = {int(k): tuple(v) for k, v in table("ggml").items()}
"""Type number in GGUF → our name, elements of a block, bytes of a block."""


def named(word: str) -> str:
    """Our name for a type; "?" where it is not known."""
    return str(_NAMES.get(word.removeprefix("torch.").lower(), "?"))


def bits(dtype: str) -> int:
    """Bits of one element; 0 where the type is not known."""
    return _BITS.get(dtype, 0)


def width(dtype: str) -> float:
    """Bytes of one element; two where the type is not known."""
    return (bits(dtype) or 16) / 8


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    """The bytes of a plain tensor; 0 for a type that is not known."""
    return -(-math.prod(shape) * bits(dtype) // 8)


def memory(text: str | int) -> int:
    """Bytes of 24GB (10⁹), 24GiB or 24G (2³⁰) or a number; raises ValueError."""
    found = re.fullmatch(r"(\d{1,20}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)(b?)", str(text).strip().lower())
    if found is None:
        raise ValueError(f"{str(text)[:40]} is no size: write 24GB, 24GiB or a number of bytes")
    base = 1000 if found[4] and found[2] and not found[3] else 1024
    return int(float(found[1]) * base ** " kmgt".index(found[2] or " "))


def counted(number: float) -> str:
    """A count for a person: 6.7 billion."""
    for name, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,.0f}"
