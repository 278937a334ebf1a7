"""Told facts from the lines that were pasted along with an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from gpuwhy.model.symptom import Symptom, Told

_LIBRARY = re.compile(r"lib(?:cu|nv)[\w+-]*\.so(?:\.\d+)+", re.IGNORECASE)
_RUNTIME = re.compile(r"cudart(?:\.so\.(\d|10)\.(\d)|64_(\d|10)(\d))\b(?!\d)", re.IGNORECASE)
"""The CUDA runtime before 11, whose file's name has its release; from 11 on it has the major alone."""
System = Literal["", "linux", "windows", "wsl", "macos"]

_NAMES = {
    "told.cuda": "cuda",
    "told.cudnn": "cudnn",
    "told.nvcc": "nvcc",
    "told.runtime": "cuda",
    "told.driver": "driver",
    "told.module": "module",
    "told.smi": "driver",
    "told.python": "python",
    "told.tf": "tf",
    "told.torch_local": "torch",
    "told.ort": "onnxruntime-gpu",
}


def told_by(symptoms: Iterable[Symptom]) -> Told:
    """Put the told lines together."""
    versions: dict[str, list[str]] = {}
    gpus: list[str] = []
    files: list[str] = []
    seen: set[str] = set()
    for one in symptoms:
        seen.add(one.signature)
        name = one.get("name").lower() if one.signature == "told.package" else _NAMES.get(one.signature, "")
        if one.signature == "told.cuda" and "driver version" in one.text.lower():
            continue  # nvidia-smi names the newest CUDA that the driver runs, not an installed one
        if name and one.get("version"):
            versions.setdefault(_alias(name), []).append(one.get("version"))
        if opened := _RUNTIME.search(one.get("library")) if one.signature == "harmless.loaded_ok" else None:
            versions.setdefault("cuda", []).append(".".join(part for part in opened.groups() if part))
        if one.signature == "told.smi" and one.get("cuda"):
            versions.setdefault("driver_cuda", []).append(one.get("cuda"))
        if one.signature in ("told.gpu", "told.gpu_found") and one.get("gpu"):
            gpus.append(one.get("gpu"))
        if one.signature in ("told.file", "told.listed", "loader.resolved") and one.get("path"):
            files += [one.get("path"), *(_LIBRARY.findall(one.text) if one.signature == "told.listed" else ())]
    unique = {name: tuple(dict.fromkeys(found)) for name, found in versions.items()}
    container = bool(seen & {"told.container", "container.run", "container.generic"})
    return Told(unique, tuple(dict.fromkeys(gpus)), tuple(dict.fromkeys(files)), _system(seen), container)


def _alias(name: str) -> str:
    return "torch" if name == "pytorch" else "cuda" if name == "cudatoolkit" else name


def _system(seen: set[str]) -> System:
    if "told.wsl" in seen:
        return "wsl"
    if "told.windows" in seen:
        return "windows"
    if "told.macos" in seen:
        return "macos"
    return "linux" if "told.linux" in seen else ""
