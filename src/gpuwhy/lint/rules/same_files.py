"""Two packages that own the same files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gpuwhy.knowledge.bringers import ONNX_BROUGHT, brings_onnxruntime
from gpuwhy.knowledge.flavours import Flavour, flavour, library_wheel
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import ending
from gpuwhy.lint.demands import Demand, demands, evidence, newest, shared_file, ships, wheels_of_two_majors
from gpuwhy.lint.scope import Scope, is_source_only
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows, releases_of, together
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("same-files", "error", "two packages that own the same files")

_FILES = source("RECORD of both wheels", "each writes the same import package, and the one installed last wins")


def check(scope: Scope) -> Iterator[Mistake]:
    """Flavours of one module, conda's and pip's builds, NVIDIA's wheels of two majors, frameworks that bring both."""
    yield from _flavours(scope)
    for pair in wheels_of_two_majors(scope):
        if pair.file:
            one, other = pair.one, pair.other
            text = f"{other.name} and {one.name} (line {one.place.line}) both install {pair.file}: the last one wins"
            fix = f"keep the one for the CUDA major of your framework ({pair.major} or {pair.other_major})"
            yield RULE.mistake(other.place, text, ships(other), fix)
    yield from _implied(scope)
    yield from _beside_framework(scope)
    yield from _brought(scope)
    yield from _opencv(scope)


def _opencv(scope: Scope) -> Iterator[Mistake]:
    """Two wheels of OpenCV: each is the whole module cv2."""
    named = [pin for pin in scope.pins if pin.name in _OPENCV and pin.installed and not pin.arms]
    other = next((pin for pin in named[1:] if pin.name != named[0].name and together(named[0], pin)), None)
    if other and scope.for_gpus and not scope.environment.locked and not scope.environment.forked:
        text = f"{other.name} and {named[0].name} (line {named[0].place.line}) both install cv2: the last one wins"
        yield RULE.mistake(other.place, text, _FILES, "keep one; contrib holds all of the plain one", "warning")


_OPENCV = ("opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless")


def _brought(scope: Scope) -> Iterator[Mistake]:
    """onnxruntime-gpu, and a package whose own requirements bring onnxruntime."""
    yield from _both_by_extra(scope)
    gpu = scope.names.get("onnxruntime-gpu")
    if gpu is None or gpu.origin != "pip" or scope.environment.locked or scope.environment.forked:
        return
    if "onnxruntime" in scope.names:
        return
    for pin in scope.pins:
        if (
            pin.origin == "pip"
            and together(pin, gpu)
            and not scope.is_bare(pin.step)
            and (gpu.step <= pin.step)  # put over it by a later command, the one for GPUs wins
            and brings_onnxruntime(pin.name, pin.version, pin.extras)
        ):
            text = (
                f"{pin.name} asks for onnxruntime, which installs the same files as onnxruntime-gpu "
                f"(line {gpu.place.line}): the last one wins"
            )
            fix = "last of all: pip uninstall -y onnxruntime, then pip install --force-reinstall onnxruntime-gpu"
            yield RULE.mistake(pin.place, text, ONNX_BROUGHT, fix, "warning")
            return


def _both_by_extra(scope: Scope) -> Iterator[Mistake]:
    """A package that asks for onnxruntime always, and for onnxruntime-gpu by its extra."""
    for pin in scope.pins if not scope.environment.locked else ():
        always = "gpu" in pin.extras and _brings_both(pin)
        beside = pin.name == "rembg" and "gpu" in pin.extras and "onnxruntime" in scope.names
        if pin.installed and (always or beside):
            text = f"{pin.name}[{pin.extras[0]}]{' and onnxruntime' if beside else ''}"
            said = f"{text} bring onnxruntime and onnxruntime-gpu, which install the same files: the last one wins"
            fix = "last of all: pip uninstall -y onnxruntime, then pip install --force-reinstall onnxruntime-gpu"
            yield RULE.mistake(pin.place, said, ONNX_BROUGHT, fix, "warning")
            return


def _brings_both(pin: Pin) -> bool:
    """kokoro-onnx always; gliner up to 0.2.28 (read in the metadata of 0.2.13 to 0.2.29)."""
    return pin.name == "kokoro-onnx" or (pin.name == "gliner" and allows("<0.2.29", pin.version or "0.2.29"))


def _flavours(scope: Scope) -> Iterator[Mistake]:
    """Two flavours of one module; conda's and pip's builds of one framework."""
    if scope.environment.forked:
        return
    pins = [p for p in scope.environment.pins if not p.limits and not p.optional]
    yield from _conda_and_pip(scope, pins)
    for module, several in _by_module(pins, scope.environment.locked).items():
        pairs = itertools.combinations(several, 2)
        both = next(((a, b) for a, b in pairs if a.name != b.name and together(a, b)), None)
        if both and not _is_between(scope, *both):
            yield _twice(module, *both)


def _is_between(scope: Scope, one: Pin, other: Pin) -> bool:
    """Whether the first of two is taken away before the second is installed."""
    first, last = sorted((one, other), key=lambda pin: pin.step)
    return any(first.name in ending.gone(scope, step) for step in range(first.step + 1, last.step))


def _by_module(pins: list[Pin], locked: bool) -> dict[str, list[Pin]]:
    """The pins that install the same module; in a lock, tensorflow-cpu-aws stands beside the one that it is part of."""
    out: dict[str, list[Pin]] = {}
    for pin in pins:
        found = (flavour(pin.name) or _MORE.get(pin.name)) if pin.origin == "pip" else None
        fails = is_source_only(pin) or _only_fails(pin)
        if found and not fails and not (locked and pin.name == "tensorflow-cpu-aws"):
            out.setdefault(found.module, []).append(pin)
    return out


def _twice(module: str, one: Pin, other: Pin) -> Mistake:
    text = f"{other.name} and {one.name} (line {one.place.line}) both install {module}/: the last one wins"
    fix = f"keep one of them{_gpu_one(one, other)}, then reinstall it: the files of both are mixed"
    return RULE.mistake(other.place, text, _FILES, fix)


def _only_fails(pin: Pin) -> bool:
    """tensorflow-gpu where pip takes its last, empty release, or one that there never was: nothing is installed."""
    if pin.name != "tensorflow-gpu":
        return False
    found = releases_of(pin)
    return found[-1].platform == "source" if found else bool(pin.version)


def _gpu_one(*pins: Pin) -> str:
    able = [p for p in pins if (own := flavour(p.name) or _MORE.get(p.name)) and own.cuda]
    found = [p.name for p in able if not is_source_only(p) and not _is_cpu_then(p)]
    if len(found) > 1:
        return " (both have CUDA: the one for the CUDA major of your driver and your other packages)"
    return f" ({found[0]} is the one with CUDA)" if found else ""


def _is_cpu_then(pin: Pin) -> bool:
    """Before 2.1 (and in 1.15's case before 1.15) `tensorflow` was the build for the CPU."""
    return pin.name == "tensorflow" and bool(pin.version) and not at_least(pin.version, "1.15")


def _conda_and_pip(scope: Scope, pins: list[Pin]) -> Iterator[Mistake]:
    by_pip = {p.name: p for p in pins if p.origin == "pip"}
    for pin in pins:
        other = by_pip.get(ending.CONDA_NAMES.get(pin.name, "")) if pin.origin == "conda" else None
        if other and together(pin, other) and not ending.is_there_by_conda(scope, other):
            first, last = f"conda's {pin.name}", f"pip's {other.name}"
            if ending.is_after(pin, other):
                first, last = last, first
            late, early = (pin, other) if last.startswith("conda") else (other, pin)
            text = f"{last} overwrites {first} (line {early.place.line}): both install the same files"
            yield RULE.mistake(late.place, text, _FILES, f"keep one: conda's {pin.name} or pip's {other.name}")


def _implied(scope: Scope) -> Iterator[Mistake]:
    """Two frameworks whose own requirements bring one library in two majors into the same folder."""
    if scope.environment.forked or scope.environment.locked:
        return
    asked = [_asked(scope, pin) for pin in scope.pins if not library_wheel(pin.name)]
    for first, second in itertools.combinations(filter(None, asked), 2):
        one, other = first[-1], second[-1]
        for left, right in itertools.product(one.ranges, other.ranges):
            a, b = library_wheel(left), library_wheel(right)
            if a and b and a[0] == b[0] and a[1] != b[1] and (file := shared_file(_as(one, left), _as(other, right))):
                text = (
                    f"{one.title} brings {left} and {other.title} brings {right}: both install {file} in one folder, "
                    "and the last one installed wins"
                )
                both = f"gpuwhy plan {one.pin.name} {other.pin.name}"
                fix = f"use one environment for each, or releases for one CUDA major: {both}"
                yield RULE.mistake(other.pin.place, text, evidence(other), fix, "warning")
                break


def _beside_framework(scope: Scope) -> Iterator[Mistake]:
    """A wheel of NVIDIA's that is named, and the same library for another CUDA, which a framework brings."""
    if scope.environment.forked or scope.environment.locked:
        return
    wheels = [pin for pin in scope.pins if library_wheel(pin.name) and pin.installed]
    bringing = [pin for pin in scope.pins if pin.name in ("torch", "vllm") and not pin.variant and pin.installed]
    for framework, pin in itertools.product(bringing, wheels):
        demands_of = _asked(scope, framework) if together(framework, pin) else []
        for demand in demands_of[-1:]:
            yield from _other_copy(demand, pin)


def _other_copy(demand: Demand, pin: Pin) -> Iterator[Mistake]:
    other = next((name for name in demand.ranges if _is_other(demand, pin, name)), "")
    if other:
        text = f"{pin.name} and {other}, which {demand.title} brings, install the same files: the last one wins"
        fix = f"leave {pin.name} out, or take a {demand.pin.name} for its CUDA"
        yield RULE.mistake(pin.place, text, ships(pin), fix, "warning")


def _is_other(demand: Demand, pin: Pin, name: str) -> bool:
    """Whether a framework's wheel is the same library as a named one, for another CUDA, in the same folder."""
    same, found = library_wheel(name), library_wheel(pin.name)
    return (
        same is not None
        and found is not None
        and same[0] == found[0]
        and same != found
        and shared_file(pin, _as(demand, name)) != ""
    )


_MORE = {
    **dict.fromkeys(("faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12"), Flavour("faiss", True)),
    "faiss-cpu": Flavour("faiss", False),
    "cupy": Flavour("cupy", True),
    "mxnet": Flavour("mxnet", False),
    "fastembed": Flavour("fastembed", False),
    "fastembed-gpu": Flavour("fastembed", True),
}
"""Further packages that install one module."""


def _asked(scope: Scope, pin: Pin) -> list[Demand]:
    """The demands of the releases that a pin allows; of the newest where nothing holds it back."""
    found = demands(scope, pin)
    return found if found or pin.specifier.strip("0123456789.>=") else newest(scope, pin)


def _as(demand: Demand, name: str) -> Pin:
    return Pin(name, demand.pin.place, demand.ranges[name])
