"""CUDA libraries of conda beside a pip build that brings or wants others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gpuwhy.knowledge import asked
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import ending
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers

RULE = Rule("conda-pip-mix", "warning", "CUDA libraries of conda beside a pip build that brings or wants others")

_CONDA = source("requirements of the wheels", "pip's builds bring or open their own CUDA, whatever conda installed")


_TOOLKITS = ("cudatoolkit", "cuda-toolkit", "pytorch-cuda", "cuda-version")


def check(scope: Scope) -> Iterator[Mistake]:
    """conda's CUDA beside pip's builds: unused by torch, and of the wrong major for TensorFlow."""
    toolkit = next((p for p in scope.pins if p.origin == "conda" and p.name in _TOOLKITS), None)
    if toolkit is not None and not scope.environment.locked:
        yield from _beside(scope, toolkit)
    yield from _put_over(scope)


def _beside(scope: Scope, toolkit: Pin) -> Iterator[Mistake]:
    """What conda's CUDA means for each of pip's builds."""
    yield from _onnx(scope, toolkit)
    for pin in scope.pins:
        plain = pin.by_name and pin.name in ("torch", *TENSORFLOW) and not pin.variant
        plain = plain and not ending.is_there_by_conda(scope, pin)
        row = scope.taken(pin) if plain else None
        if row and isinstance(row.cuda, str):
            yield from (_unused if _brings(pin, row) else _other_major)(scope, pin, row, toolkit)


def _put_over(scope: Scope) -> Iterator[Mistake]:
    """A pinned package of pip's that asks for another release of what conda pins: pip puts its own over that."""
    if scope.environment.locked or len(scope.pins) >= _EXPORTED:
        return
    exact = [pin for pin in scope.pins if pin.installed and pin.version and not pin.marker and _is_read(pin)]
    excluded = (found for pin in exact for found in _excluded(scope, pin))
    for pin, name, wish, other in islice(excluded, 1):
        text = f"pip's {pin.name} {pin.version} asks for {name}{wish}; conda installs {name}{other.specifier} "
        text += f"(line {other.place.line}): pip puts another over it, and conda's packages keep the old one"
        yield RULE.mistake(pin.place, text, asked.SOURCE, f"write {name} as {pin.name} wants it")


def _excluded(scope: Scope, pin: Pin) -> Iterator[tuple[Pin, str, str, Pin]]:
    """What a pin asks for, with conda's pin that lies outside."""
    pinned = {p.name: p for p in scope.pins if p.origin == "conda" and p.specifier.startswith("==")}
    for name, wishes in asked.asks(pin.name, pin.version.partition("+")[0]).items():
        wish = _here(wishes, scope.environment.pythons) if name in pinned and asked.knows(name) else ""
        if wish and _differ(name, pinned[name].specifier, wish):
            yield pin, name, wish, pinned[name]


_EXPORTED = 60  # packages: an environment that somebody exported whole


def _is_read(pin: Pin) -> bool:
    return asked.knows(pin.name) and asked.has(pin.name, pin.version.partition("+")[0])


def _here(wishes: tuple[str, ...], pythons: tuple[str, ...]) -> str:
    """What is asked for on the one Python of the file; '' where that is not known."""
    parts = [wish.partition(";") for wish in wishes]
    met = [spec for spec, _, where in parts if not where or (pythons and pythons[0] in where.split(","))]
    return ",".join(filter(None, met)) if len(pythons) == 1 else ""


def _differ(name: str, one: str, other: str) -> bool:
    first, second = asked.allowed(name, one), asked.allowed(name, other)
    return bool(first and second) and not first & second


def _brings(pin: Pin, row: Release) -> bool:
    """Whether its CUDA comes along as wheels."""
    return isinstance(row.requires, dict) and (pin.name == "torch" or "and-cuda" in pin.extras)


def _onnx(scope: Scope, toolkit: Pin) -> Iterator[Mistake]:
    """onnxruntime-gpu for CUDA 12 or 13 beside conda's cudatoolkit, whose last release is 11.8."""
    pin = scope.names.get("onnxruntime-gpu")
    row = scope.taken(pin) if pin and pin.origin == "pip" and toolkit.name == "cudatoolkit" else None
    alone = not any(p.name == "torch" and p.origin == "pip" for p in scope.pins)
    if pin and row and isinstance(row.cuda, str) and numbers(row.cuda)[0] > 11 and alone:
        at = toolkit.place.line
        text = f"onnxruntime-gpu {row.version} opens CUDA {row.cuda}; conda's cudatoolkit (line {at}) ended with 11.8"
        fix = "take onnxruntime-gpu<1.19 for CUDA 11, or conda's cuda-runtime instead of cudatoolkit"
        yield RULE.mistake(pin.place, text, evidence_of(row, "cuda"), fix, "error")


def _other_major(scope: Scope, pin: Pin, row: Release, toolkit: Pin) -> Iterator[Mistake]:
    told, cuda = toolkit.specifier.lstrip("=").rstrip(".*"), str(row.cuda)
    length = 1 if at_least(cuda, "11") else 2  # before 11 every minor release had libraries of its own
    if (
        told
        and len(numbers(told)) >= length
        and numbers(told)[:length] != numbers(cuda)[:length]
        and pin.name != "torch"
    ):
        at = toolkit.place.line
        text = f"{pin.name} {row.version} opens CUDA {cuda}; conda installs {toolkit.name} {told} (line {at})"
        fix = f"write {toolkit.name}={major_minor(cuda)}"
        yield RULE.mistake(pin.place, text, evidence_of(row, "cuda"), fix, "error")


def _opened_by_another(scope: Scope, pin: Pin) -> bool:
    """Whether another framework beside it takes CUDA from the system."""
    others = [
        p for p in scope.pins if p is not pin and p.origin == "pip" and p.name in (*TENSORFLOW, "onnxruntime-gpu")
    ]
    return any(not p.extras for p in others)


def _unused(scope: Scope, pin: Pin, row: Release, toolkit: Pin) -> Iterator[Mistake]:
    compiles = any("nvcc" in name for name in scope.names) or toolkit.name not in ("cudatoolkit", "pytorch-cuda")
    if not compiles and not _opened_by_another(scope, pin):
        said = f"{toolkit.name}{toolkit.specifier} (line {toolkit.place.line})"
        text = f"pip's {pin.name} {row.version} brings CUDA {row.cuda} itself; conda's {said} is not used"
        fix = f"remove {toolkit.name}, or take {pin.name} from conda too"
        yield RULE.mistake(pin.place, text, _CONDA, fix)
