"""Dotted versions as drivers, CUDA libraries and packages have them, compared by their numbers."""

from functools import lru_cache


@lru_cache(maxsize=16384)
def numbers(version: str) -> tuple[int, ...]:
    """The leading dotted numbers: 580.159.04 → (580, 159, 4); 2.21.0rc1 → (2, 21, 0)."""
    out = []
    for part in version.strip().lstrip("vV").split("."):
        digits = len(part) - len(part.lstrip("0123456789"))
        if not digits:
            break
        out.append(int(part[: min(digits, 40)]))
        if digits != len(part):
            break
    return tuple(out)


def at_least(version: str, floor: str) -> bool:
    """Whether `version` is `floor` or newer, missing places counting as zero."""
    left, right = numbers(version), numbers(floor)
    width = max(len(left), len(right))
    return left + (0,) * (width - len(left)) >= right + (0,) * (width - len(right))


def major_minor(version: str) -> str:
    """12.9 of 12.9.79, or what there is of it."""
    return ".".join(map(str, numbers(version)[:2]))
