"""Dotted versions as people write them for drivers and CUDA libraries: compared by their numbers."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d+")


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading dotted numbers: '580.159.04' → (580, 159, 4); '2.21.0rc1' → (2, 21, 0)."""
    out = []
    for part in version.strip().lstrip("vV").split("."):
        match = _NUMBER.match(part)
        if not match:
            break
        out.append(int(match.group()))
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
