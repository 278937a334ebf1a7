"""Services that ask for a GPU wrongly or not at all."""

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
    base = images.read(work.image.text) if work.image else images.Base("")
    built = images.read(work.built_on) if work.built_on else base
    plain = built.family in ("python", "distro") and not built.gpu
    said = {*work.variables, *work.built_sets}
    if work.only_runtime and work.request and plain and "NVIDIA_VISIBLE_DEVICES" not in said:
        source, place = images.source("toolkit"), work.request
        yield told("no-gpu-request.runtime", place, source, name=work.name, image=built.name)
    hidden = work.variables.get("CUDA_VISIBLE_DEVICES")
    idle = bool(hidden and hidden.text in _HIDDEN) or _IDLE.search(work.command)
    if not (work.request or work.partial or work.exempt or idle or _says_cpu(work)):
        yield from _asks_nothing(work, base, built)


def _asks_nothing(work: Workload, base: images.Base, built: images.Base) -> Iterator[Mistake]:
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    hides = bool(visible and visible.text in _HIDDEN)
    words = f"{work.name} {' '.join(work.origin)}".lower()
    named = re.search(r"(^|[^a-z])(gpu|cuda)([^a-z]|$)", words) and not _OTHER.search(words)
    place, level, why = work.place, "warning", ""
    if work.image and base.gpu and not hides:
        asks = _BY_VARIABLE if visible else "and asks for none"
        why = f"runs {work.image.text}, an image for GPUs, {asks}"
        place, level = work.image.place, "warning" if visible else ""
    elif built.gpu and not work.image and not hides:
        why = f"is built on {work.built_on}, an image for GPUs, and asks for none"
    elif named and not visible and base.gpu is None:
        why = "is for a GPU, by its name, its image's or its Dockerfile's, and asks for none"
    if why:
        source = images.source("request")
        yield told("no-gpu-request", place, source, severity=level, name=work.name, why=why)


def _says_cpu(work: Workload) -> bool:
    """Whether a name of the service, of its image or of its build says that it stays on the CPU."""
    values = [*work.arguments.values(), *(one.text for one in work.variables.values())]
    words = " ".join((work.name, *work.origin, *values)).lower()
    return bool(re.search(r"(^|[^a-z])cpu([^a-z]|$)", words))
