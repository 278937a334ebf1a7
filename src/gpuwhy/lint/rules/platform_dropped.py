"""A platform for which the release has no CUDA build."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import platforms
from gpuwhy.lint.index import FRAMEWORKS, rows_name
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import ON_WINDOWS, allowed, where
from gpuwhy.model.lint import Mistake, Rule, Severity

RULE = Rule("platform-dropped", "error", "a platform for which the release has no CUDA build")


def check(scope: Scope) -> Iterator[Mistake]:
    """Windows since TensorFlow 2.11, JAX on Windows, aarch64."""
    for pin in scope.environment.pins:
        framework = FRAMEWORKS.get(pin.name, "")
        if framework and not pin.limits and pin.origin == "pip" and not pin.reference and not scope.base.musl:
            yield from _no_cuda_there(scope, pin, framework)


def _no_cuda_there(scope: Scope, pin: Pin, framework: str) -> Iterator[Mistake]:
    there = _without_cuda(scope, pin)
    wants = scope.gpu_meant or any(extra.startswith(("and-cuda", "cuda")) for extra in pin.extras)
    is_asked = wants or (scope.for_windows and not pin.name.endswith("-cpu"))
    if not there or framework == "torch" or not is_asked:
        return
    judged = _judged(scope, pin, framework, there)
    if judged is None:
        return
    row, said, is_certain = judged
    last = f", or {pin.name}=={row.last}" if row.last else ""
    text = f"{row.text}; {said} is asked for there{'' if wants else ' (if a GPU is meant)'}"
    severity: Severity = "error" if wants and is_certain else "warning"
    yield RULE.mistake(pin.place, text, row.source, f"{row.instead}{last}", severity)


def _judged(
    scope: Scope, pin: Pin, framework: str, there: tuple[str, str]
) -> tuple[platforms.Dropped, str, bool] | None:
    """What was dropped, what asks for it, and whether whatever is taken has no CUDA there; else the newest, as pip."""
    name, platform = rows_name(pin), "-".join(there)
    found = allowed(name, pin.specifier, platform)
    if not found and framework != "jax":
        return None
    oldest = found[0].version if found else "0"
    if row := platforms.dropped(framework, oldest, *there, ""):
        return row, f"{pin.name} {oldest}" if pin.version else f"{pin.name}{pin.specifier}", True
    taken = scope.taken(pin, name, platform)
    if taken and (row := platforms.dropped(framework, taken.version, *there, "")):
        asking = f"{pin.name}{pin.specifier}"
        return row, f"{pin.name} {taken.version}, which {asking} takes,", "and-cuda" in pin.extras
    return None


def _without_cuda(scope: Scope, pin: Pin) -> tuple[str, str] | None:
    """The system and machine of an environment, where some frameworks have no build for the GPU there."""
    environment, places = scope.environment, where(pin.marker) if pin.marker else None
    if environment.system == "windows" or scope.base.windows or (places is not None and places <= ON_WINDOWS):
        return "windows", "x86_64"
    return ("linux", "aarch64") if (environment.system, environment.machine) == ("linux", "aarch64") else None
