"""JAX without its CUDA plugin, or TensorFlow without its CUDA wheels, where a GPU is meant."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import CONDA_CUDA, Scope
from gpuwhy.lint.sheet import Pin
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
    alone = scope.has_wheels("nvidia-cudnn-cu1") and not scope.has_wheels(*_PARTS)
    if not alone or "torch" in scope.names or _has_system_cuda(scope):
        return
    pin = next((p for p in scope.pins if p.name == "tensorflow" and p.by_name), None)
    row = scope.taken(pin) if pin and "and-cuda" not in pin.extras else None
    if pin is None or row is None or not at_least(row.version, "2.14"):
        return
    text = f"tensorflow {row.version} without and-cuda brings no CUDA, and cuDNN is the only library here"
    yield RULE.mistake(pin.place, text, _TENSORFLOW, f'write "tensorflow[and-cuda]{pin.specifier}" without cuDNN')


def _has_system_cuda(scope: Scope) -> bool:
    return bool(scope.base.name) or any(p.origin == "conda" and p.name in CONDA_CUDA for p in scope.pins)


def _jax(scope: Scope) -> Iterator[Mistake]:
    """JAX alone, in an environment that is meant for a GPU."""
    pin = scope.by_pip("jax")
    if pin is None or not scope.environment.runs or scope.gpu_framework("jax") or not scope.gpu_meant:
        return
    if pin.reference or scope.environment.locked or _brings_cuda(scope, pin):
        return
    if scope.repository.imports("jax", "flax", "haiku", "equinox", "brax", "numpyro") is False:
        return  # something else brought it, and no program here computes with it
    version = f"=={pin.version}" if pin.version else pin.specifier
    text = f"jax{version} without a cuda extra installs for the CPU, and {scope.gpu_meant}"
    yield RULE.mistake(pin.place, text, _JAX, f'write "jax[cuda12]{version}"')


def _brings_cuda(scope: Scope, pin: Pin) -> bool:
    """Whether an extra, a build of jaxlib or the image brings a JAX for an accelerator."""
    extras = [extra for one in scope.pins if one.name == pin.name for extra in one.extras]
    if any(extra.startswith(("cuda", "tpu", "rocm")) for extra in extras):
        return True
    own = any("cuda" in p.local for p in scope.environment.named("jaxlib"))
    return own or scope.base.family in ("ngc", "framework")
