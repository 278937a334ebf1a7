"""The catalogue of rules: ids never change; docs/commands/lint.md shows this table."""

from __future__ import annotations

from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Place, Rule, Severity

_ROWS: tuple[tuple[str, Severity, str], ...] = (
    ("bad-gpu-request", "error", "a GPU request that the runtime refuses or reads in another way"),
    ("base-image", "error", "an image whose CUDA or cuDNN is not the one the framework opens"),
    ("broken-release", "error", "a release that does not work as it was published"),
    ("build-cuda-mismatch", "error", "an extension compiled with another CUDA major than its torch"),
    ("compat-first", "warning", "LD_LIBRARY_PATH with cuda-compat before the host's driver, in the image that runs"),
    ("conda-pip-mix", "warning", "CUDA libraries of conda beside a pip build that brings or wants others"),
    ("cpu-image", "error", "an image of the CPU build where a GPU is asked for"),
    ("cpu-wheel", "error", "a build without CUDA where a GPU is meant"),
    ("driver-capabilities", "error", "NVIDIA_DRIVER_CAPABILITIES without compute: no libcuda in the container"),
    ("driver-in-image", "warning", "a driver installed in an image, where the host's is mounted"),
    ("driver-too-old", "error", "CUDA newer than the described driver runs (--driver)"),
    ("framework-conflict", "error", "two frameworks that demand different versions of one NVIDIA wheel"),
    ("gpu-at-build", "error", "a build step that needs a GPU, which builds do not have"),
    ("gpu-no-code", "error", "a release without code for the described GPU (--gpu)"),
    ("gpus-hidden", "warning", "a GPU asked for and hidden by a variable"),
    ("image-overridden", "warning", "an image made for a framework, and another build of it installed over it"),
    ("image-tag", "error", "an image tag that does not exist"),
    ("mixed-cuda", "warning", "NVIDIA wheels of several CUDA majors"),
    ("musl", "error", "a framework without wheels for musl on an Alpine image"),
    ("no-cuda-extra", "warning", "JAX without its CUDA plugin where a GPU is meant"),
    ("no-gpu-request", "error", "a container made for a GPU that asks for none"),
    ("no-nvcc", "error", "CUDA code compiled in an image without nvcc"),
    ("no-such-release", "error", "a release that the package index does not have"),
    ("no-system-cuda", "error", "a framework that needs CUDA from the system, in an image without it"),
    ("nvidia-pin", "error", "an NVIDIA wheel pinned outside of what the framework demands"),
    ("pair-mismatch", "error", "a companion package for another release of its framework"),
    ("platform-dropped", "error", "a platform for which the release has no CUDA build"),
    ("python-no-wheel", "error", "a release without a wheel for the Python that is used"),
    ("same-files", "error", "two packages that own the same files"),
    ("shared-memory", "warning", "PyTorch workers with 64 MB of shared memory"),
    ("stubs", "error", "LD_LIBRARY_PATH with the stub libraries, in the image that runs"),
    ("tombstone", "error", "tensorflow-gpu after its last release"),
    ("unstated-limit", "error", "a NumPy or protobuf newer than a release can use, which it does not forbid"),
    ("visible-devices", "warning", "NVIDIA_VISIBLE_DEVICES set past the scheduler"),
    ("yanked", "warning", "a release that its makers withdrew"),
)

RULES: dict[str, Rule] = {row[0]: Rule(*row) for row in _ROWS}
"""Every rule by its id."""


def mistake(rule: str, place: Place, text: str, know: Source, fix: str, severity: Severity | None = None) -> Mistake:
    """A mistake under a rule, with the rule's severity unless another is given."""
    return Mistake(rule, severity or RULES[rule].severity, place, text, know, fix)
