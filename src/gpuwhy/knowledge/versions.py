"""Dotted versions as people write them for drivers and CUDA libraries: compared by their numbers."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = re.compile(r"\d+")
MOST_DIGITS = 40
"""Of a longer number the first digits are read: it is no version's, and Python refuses thousands."""
_CLAUSE = re.compile(r"(===?|!=|<=|>=|~=|<|>)\s*(\d[\d.]*)(\.\*)?")


@lru_cache(maxsize=16384)
def numbers(version: str) -> tuple[int, ...]:
    """Return the leading dotted numbers: '580.159.04' → (580, 159, 4); '2.21.0rc1' → (2, 21, 0)."""
    out = []
    for part in version.strip().lstrip("vV").split("."):
        match = _NUMBER.match(part)
        if not match:
            break
        out.append(int(match.group()[:MOST_DIGITS]))
        if match.end() != len(part):
            break
    return tuple(out)


def at_least(version: str, floor: str) -> bool:
    """Whether `version` is `floor` or newer, missing places counting as zero."""
    left, right = numbers(version), numbers(floor)
    width = max(len(left), len(right))
    return left + (0,) * (width - len(left)) >= right + (0,) * (width - len(right))


def major_minor(version: str) -> str:
    """Return 'major.minor' of a dotted version ('12.9.79' → '12.9'), or what there is of it."""
    return ".".join(str(n) for n in numbers(version)[:2])


def dotted(number: str) -> str:
    """CUDA's own way of writing a version, 11040, as 11.4; anything else as it is."""
    if not re.fullmatch(r"\d{4,5}", number):
        return number
    return f"{int(number) // 1000}.{int(number) % 1000 // 10}"


def cudnn_dotted(number: str) -> str:
    """cuDNN's own way of writing a version, 8904 or 90100, as 8.9.4 (8904); anything else as it is."""
    if not re.fullmatch(r"\d{4,6}", number):
        return number
    major, rest = divmod(int(number), 10000 if int(number) > 89999 else 1000)
    return f"{major}.{rest // 100}.{rest % 100} ({number})"


def meets(version: str, wanted: str) -> bool:
    """Whether a version is one that '<=0.12.0.1,>=0.11.2' asks for; a clause that is not numbers asks for nothing."""
    return all(_meets(version, clause.strip()) for clause in wanted.split(","))


def _meets(version: str, clause: str) -> bool:
    found = _CLAUSE.fullmatch(clause)
    if not found:
        return True
    sign, floor = found[1], found[2].rstrip(".")
    if found[3] or sign == "~=":
        places = len(numbers(floor)) - (sign == "~=")
        same = numbers(version)[:places] == numbers(floor)[:places]
        return not same if sign == "!=" else same and (sign != "~=" or at_least(version, floor))
    above, below = at_least(version, floor), at_least(floor, version)
    return {
        ">=": above,
        "<=": below,
        ">": not below,
        "<": not above,
        "!=": not (above and below),
    }.get(sign, above and below)
