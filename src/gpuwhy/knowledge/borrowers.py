"""Borrowers: packages that open CUDA and cuDNN of the system or of a framework beside them, and bring none."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import source


class Borrowed(msgspec.Struct, frozen=True):
    """The majors that a release opens; '' = none of it."""

    cuda: str
    cudnn: str
    source: Source


_CT2 = source(
    "CTranslate2's changelog and SYSTRAN/faster-whisper issues 783, 1086, 1431",
    "4.0: CUDA 12; 4.5: cuDNN 9",
)


def ctranslate2(version: str) -> Borrowed:
    """What a release of CTranslate2 opens; '' = the newest one."""
    if version and not at_least(version, "4.0"):
        return Borrowed("11", "8", _CT2)
    return Borrowed("12", "8" if version and not at_least(version, "4.5") else "9", _CT2)


def of_faster_whisper(version: str) -> Borrowed:
    """What the CTranslate2 opens that pip takes for a faster-whisper: 3.x before 1.0, else the newest 4.x."""
    return ctranslate2("3.24.0" if version and not at_least(version, "1.0") else "")
