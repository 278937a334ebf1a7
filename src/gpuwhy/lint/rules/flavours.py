"""Rules on flavours: CPU builds where a GPU is meant, packages that own the same files, the end of tensorflow-gpu."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.catalogue import mistake
from gpuwhy.lint.scope import Scope, is_source_only
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allowed, releases_of, rows, together
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Severity

_FILES = source("RECORD of both wheels", "each writes the same import package, and the one installed last wins")
_CPU = {
    "tensorflow": ("tensorflow", "tensorflow"),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu"),
    "paddle": ("paddle", "paddlepaddle-gpu"),
}
_SERVES = {"cpuonly": ("pytorch", "torch")}
_PYTORCH = source(
    "PyTorch's own indexes", "cpu: without CUDA; cu126 …: for that CUDA; the default index: with CUDA on Linux"
)
_JAX = source("JAX installation guide", "the CUDA plugin is an extra: jax[cuda12], jax[cuda13]")


def cpu_wheel(scope: Scope) -> Iterator[Mistake]:
    """A build without CUDA, no other framework that could be the one for the GPU, and something that means a GPU."""
    if not scope.environment.runs:
        return
    for pin in scope.pins:
        why = _without_cuda(pin)
        own = scope.base.framework not in ("", pin.name) or scope.base.family in ("ngc", "framework")
        if not why or pin.optional or own or scope.gpu_framework(pin.name, *_SERVES.get(pin.name, ())):
            continue
        meant = _meant(scope, pin)
        if meant:
            row = next(iter(releases_of(pin)), None)
            know = evidence_of(row, "cuda") if row and row.cuda is None else _PYTORCH
            helper = pin.name.startswith(("onnxruntime", "ort-"))  # often somebody's helper
            severity: Severity | None = "warning" if helper else None
            yield mistake("cpu-wheel", pin.place, f"{why}, and {meant}", know, _instead(pin), severity)


def _meant(scope: Scope, pin: Pin) -> str:
    return scope.gpu_meant if not (pin.origin == "conda" and pin.name in scope.gpu_meant.split()) else ""


def _without_cuda(pin: Pin) -> str:
    if pin.name == "torch" and pin.variant == "cpu":
        return f"torch{' ' + pin.version if pin.version else ''} comes from PyTorch's cpu builds, without CUDA"
    if pin.origin == "conda":
        return "cpuonly keeps conda to PyTorch without CUDA" if pin.name == "cpuonly" else ""
    found = flavour(pin.name)
    if found and not found.cuda and found.module in _CPU and "directml" not in pin.name and "openvino" not in pin.name:
        return f"{pin.name} is built without CUDA"
    return ""


def _instead(pin: Pin) -> str:
    if pin.name == "torch":
        return f"write torch{'==' + pin.version.split('+')[0] if pin.version else ''} without the cpu index or +cpu"
    if pin.name == "cpuonly":
        return "remove cpuonly"
    module, other = _CPU[flavour(pin.name).module]  # type: ignore[union-attr]
    version = pin.version
    known = gpu_requirement(module, other, version, None) if version and allowed(other, f"=={version}") else ""
    return f"write {known or other + pin.specifier}"


def no_cuda_extra(scope: Scope) -> Iterator[Mistake]:
    """JAX alone, in an environment that is meant for a GPU."""
    pin = next((p for p in scope.pins if p.name == "jax" and p.origin == "pip"), None)
    if pin is None or not scope.environment.runs or scope.gpu_framework("jax") or not scope.gpu_meant:
        return
    if (
        any(extra.startswith(("cuda", "tpu", "rocm")) for extra in pin.extras)
        or pin.reference
        or scope.environment.locked
    ):
        return
    if any("cuda" in p.local for p in scope.environment.named("jaxlib")) or scope.base.family in ("ngc", "framework"):
        return
    version = f"=={pin.version}" if pin.version else pin.specifier
    text = f"jax{version} without a cuda extra installs for the CPU, and {scope.gpu_meant}"
    yield mistake("no-cuda-extra", pin.place, text, _JAX, f'write "jax[cuda12]{version}"')


def tombstone(scope: Scope) -> Iterator[Mistake]:
    """tensorflow-gpu where pip takes 2.12.0, a source package that only refuses to be built."""
    for pin in scope.pins:
        found = releases_of(pin) if pin.name == "tensorflow-gpu" and pin.origin == "pip" else ()
        if not found or found[-1].platform != "source":
            continue
        last = next(
            row for row in reversed(rows("tensorflow-gpu")) if row.platform != "source" and "rc" not in row.version
        )
        asked = f"tensorflow-gpu{pin.specifier}" if pin.specifier else "tensorflow-gpu without a version"
        text = f"{asked} takes {found[-1].version}, which has no wheel and only fails; {last.version} was the last one"
        know = Source("know", found[-1].file, f"sha256 {found[-1].sha256[:12]}…")
        version = pin.version if pin.version and allowed("tensorflow", pin.specifier) else ""
        fix = f'write "tensorflow[and-cuda]" (2.14 or newer), or tensorflow{"==" + version if version else "==2.11.1"}'
        yield mistake("tombstone", pin.place, text, know, fix)


def same_files(scope: Scope) -> Iterator[Mistake]:
    """Two flavours of one module; conda's and pip's builds of one framework."""
    if scope.environment.forked:
        return
    pins = [p for p in scope.environment.pins if not p.limits and not p.optional]
    yield from _conda_and_pip(pins)
    modules: dict[str, list[Pin]] = {}
    for pin in pins:
        found = flavour(pin.name) if pin.origin == "pip" else None
        if found and not is_source_only(pin) and not (scope.environment.locked and pin.name == "tensorflow-cpu-aws"):
            modules.setdefault(found.module, []).append(pin)
    for module, several in modules.items():
        for one, other in itertools.combinations(several, 2):
            if one.name != other.name and together(one, other):
                text = f"{other.name} and {one.name} (line {one.place.line}) both install {module}/: the last one wins"
                fix = f"keep one of them{_gpu_one(one, other)}, then reinstall it: the files of both are mixed"
                yield mistake("same-files", other.place, text, _FILES, fix)
                break


def _gpu_one(*pins: Pin) -> str:
    found = [p.name for p in pins if (f := flavour(p.name)) and f.cuda and not is_source_only(p)]
    if len(found) > 1:
        return " (both have CUDA: the one for the CUDA major of your driver and your other packages)"
    return f" ({found[0]} is the one with CUDA)" if found else ""


def _conda_and_pip(pins: list[Pin]) -> Iterator[Mistake]:
    names = {
        "pytorch": "torch",
        "pytorch-gpu": "torch",
        "tensorflow": "tensorflow",
        "tensorflow-gpu": "tensorflow",
        "jax": "jax",
    }
    by_pip = {p.name: p for p in pins if p.origin == "pip"}
    for pin in pins:
        other = by_pip.get(names.get(pin.name, "")) if pin.origin == "conda" else None
        if other:
            text = (
                f"pip's {other.name} overwrites conda's {pin.name} (line {pin.place.line}): both install the same files"
            )
            yield mistake(
                "same-files", other.place, text, _FILES, f"keep one: conda's {pin.name} or pip's {other.name}"
            )
