"""System CUDA: which releases open CUDA libraries that nothing in Python brings, and which image holds them."""

from __future__ import annotations

from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers


def needs_system(scope: Scope, pin: Pin) -> Release | None:
    """The release that opens CUDA libraries which nothing in Python brings; None where it is not so, or not known."""
    if not pin.installed or scope.has_wheels("nvidia-cudnn", "nvidia-cublas"):
        return None
    if pin.name in ("tensorflow", "tensorflow-gpu") and "and-cuda" not in pin.extras:
        return scope.taken(pin)
    if pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        return None if {"torch", "pytorch"} & scope.names.keys() else scope.taken(pin)
    if pin.name == "jax" and any(extra.endswith("-local") for extra in pin.extras):
        return scope.taken(pin, f"jax-{pin.extras[0][:6]}-plugin")
    return None


def fitting_image(pin: Pin, row: Release) -> str:
    """An image of that CUDA, or the wheels."""
    cudnn = numbers(row.cudnn)[0] if isinstance(row.cudnn, str) else 0
    tag = f"cudnn{'' if cudnn >= 9 else cudnn}-" if cudnn else ""
    image = f"start from an nvidia/cuda image with CUDA {row.cuda} whose tag has {tag}runtime"
    if pin.name == "onnxruntime-gpu":
        wheels = gpu_requirement("onnxruntime", pin.name, row.version, None)
        return f'{image}, or write "{wheels}"' if "[" in wheels else image
    if pin.name.startswith("tensorflow") and at_least(row.version, "2.14"):
        return f'{image}, or write "{gpu_requirement("tensorflow", "tensorflow", row.version, None)}"'
    return image
