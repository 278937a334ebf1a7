"""JAX without its CUDA plugin, or TensorFlow without its CUDA wheels, where a GPU is meant."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import CONDA_CUDA, Scope
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("no-cuda-extra", "warning", "JAX or TensorFlow without its CUDA extra where a GPU is meant")

_JAX = source("JAX installation guide", "the CUDA plugin is an extra: jax[cuda12], jax[cuda13]")


_TENSORFLOW = source("TensorFlow installation guide", "tensorflow[and-cuda] installs the CUDA libraries as wheels")
_PARTS = ("nvidia-cublas", "nvidia-cuda-runtime")


def check(scope: Scope) -> Iterator[Mistake]:
    """JAX alone in an environment for a GPU; TensorFlow beside cuDNN alone."""
    yield from _jax(scope)
    yield from _tensorflow(scope)


def _tensorflow(scope: Scope) -> Iterator[Mistake]:
    """cuDNN as a wheel, and none of the other libraries: those of the extra are missing."""
    pin = next((p for p in scope.pins if p.name == "tensorflow" and p.origin == "pip" and not p.reference), None)
    row = scope.taken(pin) if pin and "and-cuda" not in pin.extras else None
    alone = scope.has_wheels("nvidia-cudnn-cu1") and not scope.has_wheels(*_PARTS)
    system = scope.base.name or any(p.origin == "conda" and p.name in CONDA_CUDA for p in scope.pins)
    if pin is None or row is None or not at_least(row.version, "2.14") or not alone or system or "torch" in scope.names:
        return
    text = f"tensorflow {row.version} without and-cuda brings no CUDA, and cuDNN is the only library here"
    yield RULE.mistake(pin.place, text, _TENSORFLOW, f'write "tensorflow[and-cuda]{pin.specifier}" without cuDNN')


def _jax(scope: Scope) -> Iterator[Mistake]:
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
