"""What is wrong on the machine that was described: its driver, its GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge import archs, drivers
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Mistake, Place
from gpuwhy.lint.rules import told
from gpuwhy.lint.scope import Scope, is_gpu_build, newest_said
from gpuwhy.lint.sheet import Image, Pin
from gpuwhy.lint.target import Target
from gpuwhy.lint.versions import Release


def check(scope: Scope) -> Iterator[Mistake]:
    """Builds by their label, other releases by their rows, and the image, on that machine."""
    target, stage = scope.target, scope.environment
    if target is None or not stage.runs or scope.named_otherwise:
        return
    for pin in scope.pins:
        label = re.fullmatch(r"cu(\d+)(\d)", pin.variant)
        if label and pin.name in ("torch", "torchvision", "torchaudio"):
            said, cuda = f"{pin.name} +{pin.variant}", f"{label[1]}.{label[2]}"
            yield from _driver(target, cuda, f"{said} is built for", pin.place)
        row = _row(scope, target, pin)
        if row and row.platform == target.platform:
            if isinstance(row.cuda, str):
                said = f"{newest_said(pin, row)} is built for"
                yield from _driver(target, row.cuda, said, pin.place)
            yield from _lacking(target, pin, row)
    if stage.image:
        yield from image(target, stage.image, scope.base.cuda)


def image(target: Target, written: Image, cuda: str) -> Iterator[Mistake]:
    """The CUDA of an image against the driver."""
    if cuda:
        yield from _driver(target, cuda, f"image {written.text} holds", written.place)


def _row(scope: Scope, target: Target, pin: Pin) -> Release | None:
    if not scope.from_index(pin) or not is_gpu_build(pin):
        return None
    extra = next((one for one in pin.extras if one.startswith("cuda")), "")
    if pin.name not in ("jax", "jaxlib"):
        return scope.taken(pin, platform=target.platform)
    return scope.taken(pin, f"jax-{extra[:6]}-plugin", target.platform) if extra else None


def _driver(target: Target, cuda: str, said: str, place: Place) -> Iterator[Mistake]:
    system = "windows" if target.system == "windows" else "linux"
    known = drivers.floor(cuda, system) if target.driver else None
    if known is None:
        return
    enough = numbers(target.driver)[:1] >= numbers(known.driver)[:1]
    if "." in target.driver:
        enough = at_least(target.driver, known.driver)
    if not enough:
        most = drivers.cuda_of_driver(target.driver)
        values = {"said": f"{said} CUDA {cuda}", "needs": known.driver, "driver": target.driver}
        values["most"] = f", or use a build for CUDA {most} or older" if most else ""
        yield told("driver-too-old", place, known.source, values=values)


def _lacking(target: Target, pin: Pin, row: Release) -> Iterator[Mistake]:
    """A release without code for a GPU."""
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple) or not row.sass:
        return
    for gpu in target.gpus:
        if archs.runs_on(row.sass, row.ptx, gpu.capability) == "no":
            code = ", ".join(row.sass) + (f" and PTX for {', '.join(row.ptx)}" if row.ptx else "")
            values = {"said": newest_said(pin, row), "code": code, "gpu": gpu.name}
            values |= {"capability": gpu.capability, "name": row.name}
            yield told("gpu-no-code", pin, evidence_of(row, "sass"), values=values)
