"""Builds of the frameworks for an older CUDA, as fixes: what to install when the driver cannot be replaced."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Framework
from gpuwhy.model.version import at_least

# framework: (oldest CUDA the driver must speak, what that build is for, command), newest build first.
# What the default package index offers: torch turned to CUDA 13 at 2.11, to 12 at 2.1, to 11 at 1.13;
# onnxruntime-gpu to 13 at 1.27 and to 12 at 1.19; TensorFlow to 12 at 2.15.
BUILDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "torch": (
        ("12.0", "CUDA 12", 'pip install "torch<2.11"'),
        ("11.0", "CUDA 11.7 (Python 3.8 to 3.11)", 'pip install "torch<2.1"'),
        ("10.2", "CUDA 10.2 (Python 3.7 to 3.10)", 'pip install "torch<1.13"'),
    ),
    "tensorflow": (
        ("12.0", "CUDA 12", 'pip install "tensorflow[and-cuda]<2.22"'),
        ("11.0", "CUDA 11.8 (Python 3.9 to 3.11)", 'pip install "tensorflow[and-cuda]<2.15"'),
        ("10.1", "CUDA 10.1 (Python 3.5 to 3.8)", 'pip install "tensorflow<2.4"'),
    ),
    "jax": (("12.0", "CUDA 12", 'pip uninstall -y jax-cuda13-plugin jax-cuda13-pjrt && pip install "jax[cuda12]"'),),
    "onnxruntime": (
        ("12.0", "CUDA 12", 'pip install "onnxruntime-gpu<1.27"'),
        ("11.0", "CUDA 11", 'pip install "onnxruntime-gpu<1.19"'),
    ),
    "cupy": (
        ("12.0", "CUDA 12", "pip uninstall -y {distribution} && pip install cupy-cuda12x"),
        ("11.0", "CUDA 11", "pip uninstall -y {distribution} && pip install cupy-cuda11x"),
    ),
}


def older_builds(one: Framework, driver_cuda: str) -> Iterator[Fix]:
    """The newest build of this framework that a driver speaking `driver_cuda` runs, if one is known."""
    for oldest, what, command in BUILDS.get(one.name, ()):
        if at_least(driver_cuda, oldest):
            command = command.replace("{distribution}", one.distribution)
            yield Fix(f"Install a build for {what}, which this driver runs", command, safe=True)
            break
    if one.name == "torch" and at_least(driver_cuda, "11.0"):
        family = "cu126" if at_least(driver_cuda, "12.0") else "cu118"
        yield Fix(f"Or keep a newer PyTorch: its {family} build from PyTorch's own package index", safe=True)
