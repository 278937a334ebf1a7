"""Told facts from the lines that were pasted along with an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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


def told_by(symptoms: Iterable[Symptom], service: str = "") -> Told:
    """Put the told lines together; a service whose name compose wrote before them is in a container."""
    symptoms = list(symptoms)
    versions: dict[str, dict[str, None]] = {}
    for one in symptoms:
        for name, version in _versions(one):
            versions.setdefault(name, {})[version] = None
    gpus = [one.get("gpu") for one in symptoms if one.signature in ("told.gpu", "told.gpu_found")]
    files = [path for one in symptoms for path in _files(one)]
    seen = {one.signature for one in symptoms}
    return Told(
        {name: tuple(found) for name, found in versions.items()},
        tuple(filter(None, dict.fromkeys(gpus))),
        tuple(dict.fromkeys(files)),
        _system(seen),
        bool(service) or bool(seen & {"told.container", "container.run", "container.generic"}),
    )


def _versions(one: Symptom) -> Iterator[tuple[str, str]]:
    """The releases that a line tells, by what they are of."""
    if one.signature == "told.cuda" and "driver version" in one.text.lower():
        return  # nvidia-smi names the newest CUDA that the driver runs, not an installed one
    name = one.get("name").lower() if one.signature == "told.package" else _NAMES.get(one.signature, "")
    if name and one.get("version"):
        yield _alias(name), one.get("version")
    if one.signature == "harmless.loaded_ok" and (opened := _RUNTIME.search(one.get("library"))):
        yield "cuda", ".".join(part for part in opened.groups() if part)
    if one.signature == "told.smi" and one.get("cuda"):
        yield "driver_cuda", one.get("cuda")


def _files(one: Symptom) -> Iterator[str]:
    if one.signature in ("told.file", "told.listed", "loader.resolved") and one.get("path"):
        yield one.get("path")
        yield from _LIBRARY.findall(one.text) if one.signature == "told.listed" else ()


def _alias(name: str) -> str:
    return "torch" if name == "pytorch" else "cuda" if name == "cudatoolkit" else name


def _system(seen: set[str]) -> System:
    if "told.wsl" in seen:
        return "wsl"
    if "told.windows" in seen:
        return "windows"
    if "told.macos" in seen:
        return "macos"
    if any(one.startswith(("windows.", "shell.")) for one in seen):  # its loader or its prompt speaks
        return "windows"
    return "linux" if "told.linux" in seen else ""
