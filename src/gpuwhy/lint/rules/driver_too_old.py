"""the driver (--driver) is too old for this CUDA version."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import drivers
from gpuwhy.lint.meeting import LABEL, met
from gpuwhy.lint.scope import Scope, base_of
from gpuwhy.lint.sheet import Image, Workload
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.plan import Machine
from gpuwhy.model.version import at_least, numbers

RULE = Rule("driver-too-old", "error", "the driver (--driver) is too old for this CUDA version")


def check(scope: Scope) -> Iterator[Mistake]:
    """Builds of PyTorch's index by their label, other releases by their rows, and the image that runs."""
    machine, stage = scope.machine, scope.environment
    if machine is None or not stage.runs or (scope.named_otherwise and not scope.named_gpu):
        return
    for pin in scope.pins:
        labelled = LABEL.fullmatch(pin.variant)
        if labelled and pin.name in ("torch", "torchvision", "torchaudio"):
            cuda = f"{labelled[1]}.{labelled[2]}"
            yield from _driver(machine, cuda, f"{pin.name} +{pin.variant} is built for CUDA {cuda}", pin.place)
    for one in met(scope):
        if isinstance(one.release.cuda, str):
            text = f"{one.said} is built for CUDA {one.release.cuda}"
            yield from _driver(machine, one.release.cuda, text, one.pin.place)
    if stage.image:
        yield from _image(machine, scope.base.cuda, stage.image)


def check_workload(work: Workload, machine: Machine | None) -> Iterator[Mistake]:
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
        yield RULE.mistake(place, text, known.source, fix)
