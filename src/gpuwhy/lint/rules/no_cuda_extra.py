"""JAX without its CUDA plugin where a GPU is meant."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-cuda-extra", "warning", "JAX without its CUDA plugin where a GPU is meant")

_JAX = source("JAX installation guide", "the CUDA plugin is an extra: jax[cuda12], jax[cuda13]")


def check(scope: Scope) -> Iterator[Mistake]:
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
    yield RULE.mistake(pin.place, text, _JAX, f'write "jax[cuda12]{version}"')
