"""Pins: what is installed, as requirements that install the same again."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from gpuwhy.model.facts import Distribution
from gpuwhy.repair.patient import Patient

TORCH = ("torch", "torchvision", "torchaudio")
"""Builds of PyTorch's own index carry a label: 2.5.1+cu121."""


def pins(patient: Patient, without: Collection[str] = (), public: bool = False) -> dict[str, str]:
    """Each installed distribution by name; `public` drops the labels of PyTorch's own index from its companions."""
    out: dict[str, str] = {}
    for one in patient.distributions:
        if one.name not in without and one.name not in out:
            out[one.name] = _reference(one) or _pinned(one, public)
    return out


def _pinned(one: Distribution, public: bool) -> str:
    version = one.version.split("+")[0] if public and one.name in TORCH else one.version
    return f"{one.name}=={version}"


def _reference(one: Distribution) -> str:
    """Where a distribution came from that no index has: a folder, a wheel at hand, a repository; "" for the others."""
    said = _direct_url(one.location)
    url, folder = str(said.get("url", "")), said.get("dir_info")
    path = _plain(url.removeprefix("file://")) if url.startswith("file:///") else ""
    if path and not os.path.exists(path):
        return ""
    if isinstance(folder, dict) and folder.get("editable"):
        return f"-e {path}"
    vcs = said.get("vcs_info")
    if isinstance(vcs, dict) and vcs.get("vcs") and vcs.get("commit_id"):
        return f"{one.name} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"{one.name} @ {url}" if url else ""


def _plain(path: str) -> str:
    """A path out of its URL form: %20 is a blank."""
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda byte: bytes.fromhex(byte[1].decode()), path.encode("utf-8"))
    return os.fsdecode(raw)


def _direct_url(location: str) -> dict[str, Any]:
    try:
        with open(f"{location}/direct_url.json", "rb") as file:
            said = msgspec.json.decode(file.read(65536))
    except (OSError, msgspec.DecodeError, UnicodeError):
        return {}
    return said if isinstance(said, dict) else {}


def backend(wanted: Iterable[str]) -> str:
    """The label that pins of PyTorch's own index carry: cu121, cpu; "" where none does."""
    labels = [text.rpartition("+")[2] for text in wanted if text.startswith(TORCH) and "==" in text and "+" in text]
    return next((label for label in labels if label == "cpu" or label.startswith("cu")), "")


def size(distributions: Iterable[Distribution]) -> int:
    """Bytes of all files, as their RECORD lists them."""
    return sum(_size(one.location) for one in distributions)


def _size(location: str) -> int:
    total = 0
    try:
        with open(f"{location}/RECORD", encoding="utf-8", errors="replace") as file:
            for line in file:
                last = line.rstrip("\r\n").rpartition(",")[2]
                total += int(last) if last.isdigit() and len(last) < 14 else 0
    except OSError:
        return 0
    return total
