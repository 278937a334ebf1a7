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
    wants = "and-cuda" in pin.extras or any(e.startswith("cuda") for e in pin.extras) or bool(scope.gpu_meant)
    places = where(pin.marker) if pin.marker else None
    windows = (
        scope.environment.system == "windows" or scope.base.windows or (places is not None and places <= ON_WINDOWS)
    )
    arm = scope.environment.system == "linux" and scope.environment.machine == "aarch64"
    if not wants or not (windows or arm) or (framework == "torch"):
        return
    system, machine = ("windows", "x86_64") if windows else ("linux", "aarch64")
    found = allowed(rows_name(pin), pin.specifier, f"{system}-{machine}")
    oldest = found[0].version if found else "0"
    row = platforms.dropped(framework, oldest, system, machine, "")
    if row and (found or framework == "jax"):
        said = f"{pin.name} {oldest}" if pin.version else f"{pin.name}{pin.specifier}"
        text = f"{row.text}; {said} is asked for there"
        last = f", or {pin.name}=={row.last}" if row.last else ""
        yield RULE.mistake(pin.place, text, row.source, f"{row.instead}{last}")
