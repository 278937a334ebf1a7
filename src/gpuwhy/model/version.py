"""Bridge: versions moved to gpuwhy.knowledge.versions; goes with model/."""

from gpuwhy.knowledge.versions import (
    MOST_DIGITS,
    at_least,
    cudnn_dotted,
    dotted,
    major_minor,
    meets,
    numbers,
)

__all__ = [
    "MOST_DIGITS",
    "at_least",
    "cudnn_dotted",
    "dotted",
    "major_minor",
    "meets",
    "numbers",
]
