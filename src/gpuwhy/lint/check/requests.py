"""Services that are made for a GPU and ask for none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.choose.demand import Demand
from gpuwhy.knowledge import images
from gpuwhy.lint.check.cpu import image_driver
from gpuwhy.lint.check.images import wrong_tag
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import pattern, told
from gpuwhy.lint.sheet import Workload

_OTHER = pattern("requests.other")
_IDLE = pattern("requests.idle")
_BY_VARIABLE = "and gets one only where Docker's default runtime is nvidia"
_HIDDEN = ("", "-1", "none", "void", "NoDevFiles")


def service(work: Workload, target: Demand | None) -> Iterator[Mistake]:
    """Everything about one service of a compose file."""
    if work.image:
        yield from wrong_tag(work.image)
        yield from image_driver(target, work.image) if target else ()
    devices = work.variables.get("CUDA_VISIBLE_DEVICES")
    idle = bool(devices and devices.text in _HIDDEN) or _IDLE.search(work.command)
    values = [*work.arguments.values(), *(one.text for one in work.variables.values())]
    whole = " ".join((work.name, *work.origin, *values)).lower()
    says_cpu = re.search(r"(^|[^a-z])cpu([^a-z]|$)", whole)
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    hides = bool(visible and visible.text in _HIDDEN)
    if work.request or work.partial or work.exempt or idle or says_cpu or hides:
        return
    base = images.read(work.image.text) if work.image else images.Base("")
    built = images.read(work.built_on) if work.built_on else base
    words = f"{work.name} {' '.join(work.origin)}".lower()
    named = re.search(r"(^|[^a-z])(gpu|cuda)([^a-z]|$)", words) and not _OTHER.search(words)
    place, level, why = work.place, "warning", ""
    if work.image and base.gpu:
        asks = _BY_VARIABLE if visible else "and asks for none"
        why = f"runs {work.image.text}, an image for GPUs, {asks}"
        place, level = work.image.place, "warning" if visible else ""
    elif built.gpu and not work.image:
        why = f"is built on {work.built_on}, an image for GPUs, and asks for none"
    elif named and not visible and base.gpu is None:
        why = "is for a GPU, by its name, its image's or its Dockerfile's, and asks for none"
    if why:
        source = images.source("request")
        yield told("no-gpu-request", place, source, severity=level, name=work.name, why=why)
