"""Rules for a described machine: the driver and the GPU that the files are meant for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import archs, drivers
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.catalogue import mistake
from gpuwhy.lint.rules.workloads import base_of
from gpuwhy.lint.scope import Scope, is_gpu_build, is_pinned
from gpuwhy.lint.sheet import Image, Pin, Workload
from gpuwhy.lint.versions import LINUX
from gpuwhy.model.lint import Mistake, Place
from gpuwhy.model.plan import Machine
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers

LABEL = re.compile(r"cu(\d+)(\d)")
"""The label of a build from PyTorch's own index: cu121."""


def releases(scope: Scope) -> Iterator[Mistake]:
    """Each framework's release against the driver and the GPUs."""
    machine = scope.machine
    if machine is None or not scope.environment.runs:
        return
    for pin in scope.pins:
        labelled = LABEL.fullmatch(pin.variant)
        if labelled and pin.name in ("torch", "torchvision", "torchaudio"):
            cuda = f"{labelled[1]}.{labelled[2]}"
            yield from _driver(machine, cuda, f"{pin.name} +{pin.variant} is built for CUDA {cuda}", pin.place)
        row = _row(scope, pin)
        if row is None or row.platform != machine.platform:
            continue
        said = f"{pin.name} {row.version}" + ("" if is_pinned(pin) else " (the newest)")
        if isinstance(row.cuda, str):
            yield from _driver(machine, row.cuda, f"{said} is built for CUDA {row.cuda}", pin.place)
        yield from _code(machine, row, said, pin.place)


def _row(scope: Scope, pin: Pin) -> Release | None:
    if pin.origin != "pip" or pin.variant or pin.reference or not is_gpu_build(pin) or scope.environment.other_index:
        return None
    platform = scope.machine.platform if scope.machine else LINUX
    if pin.name in ("jax", "jaxlib"):
        extra = next((e for e in pin.extras if e.startswith("cuda")), "")
        return scope.taken(pin, f"jax-{extra[:6]}-plugin", platform) if extra else None
    return scope.taken(pin, platform=platform)


def image(scope: Scope) -> Iterator[Mistake]:
    """The CUDA of the image that runs."""
    if scope.machine and scope.environment.runs and scope.environment.image:
        yield from _image(scope.machine, scope.base.cuda, scope.environment.image)


def workload(work: Workload, machine: Machine | None) -> Iterator[Mistake]:
    """The CUDA of the image that is started."""
    if machine and work.image:
        yield from _image(machine, base_of(work).cuda, work.image)


def _image(machine: Machine, cuda: str, written: Image) -> Iterator[Mistake]:
    if cuda:
        yield from _driver(machine, cuda, f"image {written.text} holds CUDA {cuda}", written.place)


def _driver(machine: Machine, cuda: str, said: str, place: Place) -> Iterator[Mistake]:
    known = drivers.floor(cuda, "windows" if machine.system == "windows" else "linux") if machine.driver else None
    if known is None:
        return
    whole = "." in machine.driver
    enough = (
        at_least(machine.driver, known.driver) if whole else numbers(machine.driver)[:1] >= numbers(known.driver)[:1]
    )
    if not enough:
        speaks = drivers.cuda_of_driver(machine.driver)
        text = f"{said}, which needs driver {known.driver} or newer; the machine has {machine.driver}"
        fix = "update the driver" + (f", or use a build for CUDA {speaks} or older" if speaks else "")
        yield mistake("driver-too-old", place, text, known.source, fix)


def _code(machine: Machine, row: Release, said: str, place: Place) -> Iterator[Mistake]:
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple) or not row.sass:
        return
    for gpu in machine.gpus:
        if archs.runs_on(row.sass, row.ptx, gpu.capability) == "no":
            ptx = f" and PTX for {', '.join(row.ptx)}" if row.ptx else ""
            text = f"{said} has code for {', '.join(row.sass)}{ptx}; {gpu.name} is compute capability {gpu.capability}"
            yield mistake(
                "gpu-no-code", place, text, evidence_of(row, "sass"), f"gpuwhy plan --gpu {gpu.capability} {row.name}"
            )
