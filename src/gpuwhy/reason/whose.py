"""Whose log is it? Facts of this machine speak about a text only where the text can come from it."""

from __future__ import annotations

import re

from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Device, Facts, Framework
from gpuwhy.model.symptom import Reading, Symptom

SPEAKERS = {
    "tf": "tensorflow", "torch": "torch", "jax": "jax", "ort": "onnxruntime", "cupy": "cupy", "numba": "numba",
    "triton": "triton", "paddle": "paddle", "mxnet": "mxnet",
}  # fmt: skip
"""Which framework prints the messages of a family."""
OWNERS = {"tensorflow_core": "tensorflow", "keras": "tensorflow", "jaxlib": "jax", "jax_plugins": "jax"}
"""Folders of packages that belong to a framework of another name."""
ROLES = ("error", "echo", "context", "aside")
_KNOWN = frozenset((*SPEAKERS.values(), "torchvision", "torchaudio", "xformers", "flash_attn", "bitsandbytes"))
_PYTHON = re.compile(r"[\\/]python(\d\.\d{1,2})[\\/](?:site|dist)-packages")
_MODEL = re.compile(r"\d{2,4}|[ABHLPTV]\d{1,3}\b")


def frameworks_of(reading: Reading) -> frozenset[str]:
    """The frameworks that speak in a text, or whose code its traceback runs through."""
    spoken = {SPEAKERS.get(s.speaker, "") for s in reading.symptoms if s.role in ROLES and _signed(s)}
    owners = {OWNERS.get(f.owner, f.owner) for f in reading.ending.stack}
    return frozenset((spoken | (owners & _KNOWN)) - {""})


def _signed(symptom: Symptom) -> bool:
    """Whether a message names its framework: many are printed by several, XLA's by three."""
    name = SPEAKERS.get(symptom.speaker, "")
    return bool(name) and name.removesuffix("runtime") in symptom.text.lower()


def foreign(reading: Reading, facts: Facts) -> str:
    """Why a text cannot come from this machine and environment; "" where it can."""
    return _system(reading, facts) or _framework(reading, facts) or _device(reading, facts) or _driver(reading, facts)


def _system(reading: Reading, facts: Facts) -> str:
    here = value_or(facts.surroundings.system, "")
    there = reading.told.os
    if there in ("windows", "macos") and here == "linux":
        return f"it comes from {'Windows' if there == 'windows' else 'macOS'}, and this is Linux"
    if there == "linux" and here == "windows":
        return "it comes from Linux, and this is Windows"
    if there == "wsl" and isinstance(facts.surroundings.wsl, Absent):
        return "it comes from WSL, and this is none"
    return ""


def _framework(reading: Reading, facts: Facts) -> str:
    found = facts.target.frameworks
    if not isinstance(found, Known | Absent):
        return ""
    installed: dict[str, Framework] = {f.name: f for f in found.value} if isinstance(found, Known) else {}
    for name in sorted(frameworks_of(reading) & frozenset(SPEAKERS.values())):
        if name not in installed:
            return f"{name} speaks in it, and the environment here has no {name}"
    for name, versions in reading.told.versions.items():
        one = installed.get("tensorflow" if name in ("tf", "tensorflow-gpu") else name)
        if one is not None and not any(_same(version, one.version) for version in versions):
            return f"it tells of {one.name} {versions[0]}, and the environment here has {one.version}"
    return _python(reading, facts)


def _same(told: str, installed: str) -> bool:
    """Whether a told version, which may be shortened, can be the installed one."""
    short, full = told.split("+")[0], installed.split("+")[0]
    return full == short or full.startswith(f"{short}.")


def _python(reading: Reading, facts: Facts) -> str:
    interpreter = facts.target.interpreter
    stack = (one.file for one in reading.ending.stack)
    told = {m[1] for file in stack if (m := _PYTHON.search(file))} or set(_PYTHON.findall(reading.excerpt))
    if not isinstance(interpreter, Known) or len(told) != 1:
        return ""
    here = ".".join(interpreter.value.version.split(".")[:2])
    return f"it ran on Python {min(told)}, and the environment here has {here}" if here and here not in told else ""


def _device(reading: Reading, facts: Facts) -> str:
    found = facts.devices.devices
    if not reading.told.gpus or not isinstance(found, Known | Absent):
        return ""
    devices: tuple[Device, ...] = found.value if isinstance(found, Known) else ()
    if not devices and not isinstance(gpu_present(facts), Absent):  # a card that is there and does not answer
        return ""
    if any(_alike(told, one.name) for told in reading.told.gpus for one in devices):
        return ""
    here = f"this machine has {devices[0].name}" if devices else "this machine has no such GPU"
    return f"it tells of {reading.told.gpus[0].strip()}, and {here}"


def _alike(told: str, name: str) -> bool:
    """Whether two names of a GPU share their model number."""
    numbers = set(_MODEL.findall(told.upper()))
    return not numbers or bool(numbers & set(_MODEL.findall(name.upper())))


def _driver(reading: Reading, facts: Facts) -> str:
    told, here = reading.told.version("driver"), facts.driver.module_version
    disputed = any(s.speaker in ("nvml", "nvidia", "kernel") for s in reading.symptoms if s.role != "told")
    disputed = disputed and not isinstance(
        gpu_present(facts), Absent
    )  # without a GPU no driver of here told its number
    if not told or disputed or not isinstance(here, Known | Absent):
        return ""
    if isinstance(here, Known) and (here.value.startswith(told) or told.startswith(here.value)):
        return ""
    mine = f"driver {here.value} is loaded here" if isinstance(here, Known) else "no driver is loaded here"
    return f"it tells of driver {told}, and {mine}"
