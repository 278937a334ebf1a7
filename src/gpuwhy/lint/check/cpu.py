"""A build without CUDA where a GPU is meant; conda's CUDA beside pip's; --gpu and --driver."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.choose.demand import Demand
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import archs, drivers, images
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.packages import flavour
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.check.files import keeps_conda
from gpuwhy.lint.mistakes import Mistake, Place
from gpuwhy.lint.rules import names, told
from gpuwhy.lint.scope import TENSORFLOW, Scope, is_gpu_build, newest_said
from gpuwhy.lint.sheet import Pin, Word
from gpuwhy.lint.versions import Release, allowed, major

_CPU = {"tensorflow": "tensorflow", "onnxruntime": "onnxruntime-gpu", "paddle": "paddlepaddle-gpu"}
_USERS = frozenset(names("cpu.users"))
"""Packages that may be what the GPU is for, where ONNX Runtime is somebody's helper."""


def cpu_wheel(scope: Scope) -> Iterator[Mistake]:
    """A build without CUDA, and nothing else that could be the one for the GPU."""
    if scope.environment.runs and not scope.named_otherwise:
        yield from _of_channels(scope)
        for pin in scope.pins if scope.meant else ():
            yield from _without(scope, pin)


def _without(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    found = flavour(pin.name)
    if pin.name == "torch" and pin.variant == "cpu":
        what = f"torch {pin.public or 'of this line'} comes from PyTorch's cpu builds, without CUDA"
        fix = f"write torch{'==' + pin.public if pin.public else ''} without the cpu index or +cpu"
    elif pin.origin == "pip" and found and not found.cuda and found.module in _CPU:
        what, fix = f"{pin.name} is built without CUDA", f"write {_instead(pin, found.module)}"
    else:
        return
    named = "-cpu" in pin.name or pin.local == "cpu" or pin.name == "paddlepaddle"
    if re.search("directml|openvino", pin.name) or (not scope.gpu_meant and not named):
        return
    if scope.base.framework not in ("", pin.name) or scope.base.family in ("ngc", "framework"):
        return
    if pin.name != "paddlepaddle" and scope.gpu_framework(pin.name):
        return
    helper = pin.name.startswith(("onnxruntime", "ort-"))
    if not helper or not _USERS & scope.names.keys():
        severity = "warning" if helper else ""
        yield told("cpu-wheel", pin, fix=fix, severity=severity, what=what, meant=scope.meant)


def _instead(pin: Pin, module: str) -> str:
    name = _CPU[module]
    known = pin.version and allowed(name, f"=={pin.version}")
    wanted = gpu_requirement(module, name, pin.version, None) if known else ""
    return wanted or name + pin.specifier


def _of_channels(scope: Scope) -> Iterator[Mistake]:
    """conda's PyTorch, where channels or neighbours leave only the build for the CPU."""
    pin, channels = scope.by_conda("pytorch"), scope.environment.channels
    if not pin or pin.build or "cpuonly" in scope.names:
        return
    number = re.search(r"\d+(\.\d+)+", pin.specifier)
    version = number[0] if number else ""
    toolkit, chosen = scope.by_conda("cudatoolkit"), scope.by_conda("pytorch-cuda")
    first = next((one for one in channels if one in ("pytorch", "conda-forge")), "")
    old = any(not at_least(python, "3.8") for python in scope.environment.pythons)
    late = not old and at_least(version or "99", "1.13")
    if toolkit and version and not chosen and "pytorch" in (first, pin.channel):
        if at_least(version, "1.13"):
            yield told("cpu-wheel.chosen", toolkit, version=version)
    elif toolkit and first == "conda-forge" and not old and not re.match("=|.*<", pin.specifier):
        yield told("cpu-wheel.forge", pin)
    elif late and "pytorch" in channels and not {"nvidia", "conda-forge"} & {*channels}:
        severity = "" if scope.gpu_meant or scope.named_gpu else "warning"
        yield told("cpu-wheel.channel", pin, severity=severity, what=f"pytorch {version}".strip())
    elif not chosen or scope.kind != "conda" or pin.channel or "pytorch" not in channels:
        return
    elif channels[0] == "conda-forge":
        yield told("cpu-wheel.order", chosen)


def conda_pip_mix(scope: Scope) -> Iterator[Mistake]:
    """conda's CUDA beside pip's builds: unused by torch, of another major for TensorFlow."""
    toolkit = scope.by_conda("cudatoolkit", "cuda-toolkit", "pytorch-cuda", "cuda-version")
    if not toolkit:
        return
    users = (*TENSORFLOW, "onnxruntime-gpu")
    opening = any(pin.name in users for pin in scope.pins)
    compiles = any("nvcc" in name for name in scope.names)
    unused = toolkit.name in ("cudatoolkit", "pytorch-cuda") and not compiles
    for pin in scope.pins:
        if not pin.by_name or pin.variant or pin.name not in ("torch", *users):
            continue
        held = scope.by_conda("pytorch" if pin.name == "torch" else pin.name)
        row = scope.taken(pin) if not held or not keeps_conda(held, pin) else None
        if not row or not isinstance(row.cuda, str):
            continue
        values = {"version": row.version, "cuda": row.cuda, "toolkit": toolkit.said}
        if pin.name == "torch" or "and-cuda" in pin.extras:
            if unused and not (opening and pin.name == "torch"):
                yield told("conda-pip-mix.unused", pin, values=values, tool=toolkit.name)
            continue
        bound = numbers(toolkit.specifier.lstrip("=").rstrip(".*"))
        length = 1 if at_least(row.cuda, "11") else 2
        beside = pin.name == "onnxruntime-gpu" and scope.by_pip("torch")
        ended = toolkit.name == "cudatoolkit" and major(row.cuda) > 11
        if not beside and (ended or (bound and bound[:length] != numbers(row.cuda)[:length])):
            fix = f"write {toolkit.name}={major_minor(row.cuda)}"
            if ended:
                fix = f"cudatoolkit ended with 11.8: take the wheels, or an older {pin.name}"
            yield told("conda-pip-mix", pin, evidence_of(row, "cuda"), fix=fix, values=values)


def machine(scope: Scope) -> Iterator[Mistake]:
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
        yield from image_driver(target, stage.image)


def image_driver(target: Demand, written: Word) -> Iterator[Mistake]:
    """The CUDA of an image against the driver."""
    cuda = images.read(written.text).cuda
    if cuda:
        yield from _driver(target, cuda, f"image {written.text} holds", written.place)


def _row(scope: Scope, target: Demand, pin: Pin) -> Release | None:
    if not scope.from_index(pin) or not is_gpu_build(pin):
        return None
    extra = next((one for one in pin.extras if one.startswith("cuda")), "")
    if pin.name not in ("jax", "jaxlib"):
        return scope.taken(pin, platform=target.platform)
    return scope.taken(pin, f"jax-{extra[:6]}-plugin", target.platform) if extra else None


def _driver(target: Demand, cuda: str, said: str, place: Place) -> Iterator[Mistake]:
    system = "windows" if target.system == "windows" else "linux"
    known = drivers.floor(cuda, system) if target.driver_version else None
    if known is None:
        return
    enough = numbers(target.driver_version)[:1] >= numbers(known.driver)[:1]
    if "." in target.driver_version:
        enough = at_least(target.driver_version, known.driver)
    if not enough:
        most = drivers.cuda_of_driver(target.driver_version)
        values = {
            "said": f"{said} CUDA {cuda}",
            "needs": known.driver,
            "driver": target.driver_version,
        }
        values["most"] = f", or use a build for CUDA {most} or older" if most else ""
        yield told("driver-too-old", place, known.source, values=values)


def _lacking(target: Demand, pin: Pin, row: Release) -> Iterator[Mistake]:
    """A release without code for a GPU."""
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple) or not row.sass:
        return
    for gpu in target.gpus:
        if archs.runs_on(row.sass, row.ptx, gpu.capability) == "no":
            code = ", ".join(row.sass) + (f" and PTX for {', '.join(row.ptx)}" if row.ptx else "")
            values = {"said": newest_said(pin, row), "code": code, "gpu": gpu.name}
            values |= {"capability": gpu.capability, "name": row.name}
            yield told("gpu-no-code", pin, evidence_of(row, "sass"), values=values)
