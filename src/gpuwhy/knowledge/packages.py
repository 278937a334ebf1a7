"""Packages: what the package index does not say of them."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import asked
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.tables import load, source

SOURCES = source(
    "the sources of the newest release of each on the package index",
    "no wheel, setup.py imports torch, and nothing demands torch for the build; November 2026",
)
ONNX_BROUGHT = source(
    "uv pip compile of each of them, November 2026", "onnxruntime is among what it asks for"
)
CTRANSLATE2 = source(
    "CTranslate2's changelog and SYSTRAN/faster-whisper issues 783, 1086, 1431",
    "4.0: CUDA 12; 4.5: cuDNN 9",
)
_ONNX_EXTRAS = {"optimum": "onnxruntime", "sentence-transformers": "onnx"}


class Table(msgspec.Struct, frozen=True):
    """packages.json."""

    need_torch: frozenset[str]  # sources alone, whose setup.py imports torch and does not ask
    repositories: frozenset[str]  # projects that are built from their repositories in that way
    compiled: dict[str, str]  # CUDA code of their own and no wheels: why
    prebuilt: frozenset[str]  # of those: first look for a prebuilt wheel elsewhere
    bring_onnxruntime: frozenset[str]  # always, the build without CUDA


class Borrowed(msgspec.Struct, frozen=True):
    """The majors of the system's, or of a framework's, libraries that a release opens."""

    cuda: str
    cudnn: str
    source: Source


def table() -> Table:
    """Every name."""
    return load("packages.json", Table)


def brings_onnxruntime(name: str, version: str, extras: tuple[str, ...]) -> bool:
    """Whether a release asks for onnxruntime, by metadata, else by the list; "" = the newest."""
    if _ONNX_EXTRAS.get(name) in extras:
        return True
    by_table = asked.asks(name, version)
    if by_table:
        return "onnxruntime" in by_table
    found = [row for row in guests(name) if not version or row.version == version]
    if found and found[-1].asks is not None:
        return "onnxruntime" in found[-1].asks
    return name in table().bring_onnxruntime and (not found or not version)


def ctranslate2(version: str) -> Borrowed:
    """What a release of CTranslate2 opens; "" = the newest one."""
    if version and not at_least(version, "4.0"):
        return Borrowed("11", "8", CTRANSLATE2)
    return Borrowed("12", "8" if version and not at_least(version, "4.5") else "9", CTRANSLATE2)


def of_faster_whisper(version: str) -> Borrowed:
    """What the CTranslate2 opens that pip takes for it: 3.x before 1.0, else the newest 4.x."""
    return ctranslate2("3.24.0" if version and not at_least(version, "1.0") else "")
