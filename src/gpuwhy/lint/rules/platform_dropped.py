"""A platform for which the release has no CUDA build."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import platforms
from gpuwhy.lint.index import FRAMEWORKS, rows_name
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import ON_WINDOWS, allowed, where
from gpuwhy.model.lint import Mistake, Rule

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
    if not wants or not there or framework == "torch":
        return
    system, machine = there
    found = allowed(rows_name(pin), pin.specifier, f"{system}-{machine}")
    oldest = found[0].version if found else "0"
    row = platforms.dropped(framework, oldest, system, machine, "")
    if row and (found or framework == "jax"):
        said = f"{pin.name} {oldest}" if pin.version else f"{pin.name}{pin.specifier}"
        last = f", or {pin.name}=={row.last}" if row.last else ""
        yield RULE.mistake(pin.place, f"{row.text}; {said} is asked for there", row.source, f"{row.instead}{last}")


def _without_cuda(scope: Scope, pin: Pin) -> tuple[str, str] | None:
    """The system and machine of an environment, where some frameworks have no build for the GPU there."""
    environment, places = scope.environment, where(pin.marker) if pin.marker else None
    if environment.system == "windows" or scope.base.windows or (places is not None and places <= ON_WINDOWS):
        return "windows", "x86_64"
    return ("linux", "aarch64") if (environment.system, environment.machine) == ("linux", "aarch64") else None
