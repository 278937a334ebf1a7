"""Contradictions: what a text tells of GPU, driver, CUDA and release that cannot work together, whatever the message says."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.drivers import floor
from gpuwhy.model.cause import Fix
from gpuwhy.model.symptom import Symptom
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.installing import tensorflow_fitting
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.versions import told_cuda_unfit, versions_told
from gpuwhy.rooms.text.ways import tried

VAGUE = frozenset({"memory.preallocation", "memory.oom", "program.illegal_access", "program.launch", "program.shape", "framework.bug", "framework.gpu_unsupported"})  # fmt: skip
"""Causes whose messages a wrong pair of releases gives too."""
_NGC = "docker run --gpus all -it --rm nvcr.io/nvidia/tensorflow:23.03-tf1-py3"
_NOTHING = Symptom("", 0, "")


def told_to_clash(cause: str, case: Asked) -> Iterator[Fix]:
    """The remedy for the first contradiction among what is told."""
    if cause not in VAGUE:
        return
    told = [major_minor(one) for one in versions_told(case.reading, "cuda", "nvcc") if "." in one]
    newest = max(told, key=numbers, default="")
    needs = archs.first_toolkit("8.6" if case.gpu == "8.9" else case.gpu) if case.gpu else None
    if needs and newest and not at_least(newest, needs):
        yield from _for_newer_gpu(case, needs, newest)
    elif newest and (fix := _newer_driver(case, newest)):
        yield fix
    elif case.framework == "tensorflow" and case.version and told_cuda_unfit(_NOTHING, case.reading):
        yield from tensorflow_fitting(case)


def _for_newer_gpu(case: Asked, needs: str, told: str) -> Iterator[Fix]:
    why = f"This GPU (compute capability {case.gpu}) needs CUDA {needs} or newer, and CUDA {told} is told"
    if case.framework == "tensorflow" and case.version.startswith("1."):
        yield tried(f"{why}: programs for TensorFlow 1 run on it with NVIDIA's own build of 1.15", f'pip install nvidia-pyindex && pip install "nvidia-tensorflow[horovod]"    # Python 3.8; or its image: {_NGC}')  # fmt: skip
    elif found := pin(case, gpu=case.gpu):
        yield found.fix(f"with code for it: {why[0].lower()}{why[1:]}")


def _newer_driver(case: Asked, cuda: str) -> Fix | None:
    """The driver that this CUDA needs, where an older one is told."""
    row = floor(cuda, "windows" if case.windows else "linux")
    if row is None or not row.driver or not numbers(case.driver) or at_least(case.driver, row.driver):
        return None
    text = f"Install driver {row.driver} or newer, which CUDA {cuda} needs: {case.driver} is told"
    return Fix(text, NEWEST_DRIVER, root=True, reboot=True)
