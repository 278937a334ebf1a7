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
from gpuwhy.lint.versions import allowed, major

_CPU = {"tensorflow": "tensorflow", "onnxruntime": "onnxruntime-gpu", "paddle": "paddlepaddle-gpu"}
_USERS = frozenset(names("cpu.users"))
"""Packages that may be what the GPU is for, where ONNX Runtime is somebody's helper."""


def cpu_wheel(scope: Scope) -> Iterator[Mistake]:
    """A build without CUDA, and nothing else that could be the one for the GPU."""
    if not scope.environment.runs or scope.named_otherwise:
        return
    yield from _of_channels(scope)
    for pin in scope.pins if scope.meant else ():
        found, known = flavour(pin.name), ()
        if pin.name == "torch" and pin.variant == "cpu":
            which, exact = pin.public or "of this line", f"=={pin.public}" if pin.public else ""
            what = f"torch {which} comes from PyTorch's cpu builds, without CUDA"
            fix = f"write torch{exact} without the cpu index or +cpu"
        elif pin.origin == "pip" and found and not found.cuda and found.module in _CPU:
            what, name = f"{pin.name} is built without CUDA", _CPU[found.module]
            known = allowed(name, f"=={pin.version}") if pin.version else ()
            wanted = gpu_requirement(found.module, name, pin.version, None) if known else ""
            fix = f"write {wanted or name + pin.specifier}"
        else:
            continue
        helper = pin.name.startswith(("onnxruntime", "ort-"))
        if _is_on_purpose(scope, pin) or (helper and _USERS & scope.names.keys()):
            continue
        severity = "warning" if helper else ""
        yield told("cpu-wheel", pin, fix=fix, severity=severity, what=what, meant=scope.meant)


def _is_on_purpose(scope: Scope, pin: Pin) -> bool:
    """Whether a build without CUDA is no mistake: too little speaks for a GPU, or others use it."""
    named = "-cpu" in pin.name or pin.local == "cpu" or pin.name == "paddlepaddle"
    return (
        bool(re.search("directml|openvino", pin.name))
        or (not scope.gpu_meant and not named)
        or scope.base.framework not in ("", pin.name)
        or scope.base.family in ("ngc", "framework")
        or (pin.name != "paddlepaddle" and bool(scope.gpu_framework(pin.name)))
    )


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
    elif late and "pytorch" in channels and not {"nvidia", "conda-forge"} & {*channels}:
        severity = "" if scope.gpu_meant or scope.named_gpu else "warning"
        yield told("cpu-wheel.channel", pin, severity=severity, what=f"pytorch {version}".strip())


def conda_pip_mix(scope: Scope) -> Iterator[Mistake]:
    """conda's CUDA beside pip's builds: unused by torch, of another major for TensorFlow."""
    toolkit = scope.by_conda("cudatoolkit", "cuda-toolkit", "pytorch-cuda", "cuda-version")
    users = (*TENSORFLOW, "onnxruntime-gpu")
    opening = any(pin.name in users for pin in scope.pins)
    compiles = any("nvcc" in name for name in scope.names)
    for pin in scope.pins if toolkit else ():
        if not toolkit or not pin.by_name or pin.variant or pin.name not in ("torch", *users):
            continue
        held = scope.by_conda("pytorch" if pin.name == "torch" else pin.name)
        row = scope.taken(pin) if not held or not keeps_conda(held, pin) else None
        if not row or not isinstance(row.cuda, str):
            continue
        values = {"version": row.version, "cuda": row.cuda, "toolkit": toolkit.said}
        if pin.name == "torch" or "and-cuda" in pin.extras:
            unused = toolkit.name in ("cudatoolkit", "pytorch-cuda") and not compiles
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
        extra = next((one for one in pin.extras if one.startswith("cuda")), "")
        plugin = f"jax-{extra[:6]}-plugin" if pin.name in ("jax", "jaxlib") else ""
        judged = scope.from_index(pin) and is_gpu_build(pin) and (extra or not plugin)
        row = scope.taken(pin, plugin, target.platform) if judged else None
        if row is None or row.platform != target.platform:
            continue
        if isinstance(row.cuda, str):
            said = f"{newest_said(pin, row)} is built for"
            yield from _driver(target, row.cuda, said, pin.place)
        known = isinstance(row.sass, tuple) and isinstance(row.ptx, tuple) and row.sass
        for gpu in target.gpus if known else ():
            if archs.runs_on(row.sass, row.ptx, gpu.capability) == "no":
                ptx = f" and PTX for {', '.join(row.ptx)}" if row.ptx else ""
                values = {"said": newest_said(pin, row), "code": ", ".join(row.sass) + ptx}
                values |= {"gpu": gpu.name, "capability": gpu.capability, "name": row.name}
                yield told("gpu-no-code", pin, evidence_of(row, "sass"), values=values)
    if stage.image:
        yield from image_driver(target, stage.image)


def image_driver(target: Demand, written: Word) -> Iterator[Mistake]:
    """The CUDA of an image against the driver."""
    cuda = images.read(written.text).cuda
    if cuda:
        yield from _driver(target, cuda, f"image {written.text} holds", written.place)


def _driver(target: Demand, cuda: str, said: str, place: Place) -> Iterator[Mistake]:
    system, driver = "windows" if target.system == "windows" else "linux", target.driver_version
    known = drivers.floor(cuda, system) if driver else None
    if known is None:
        return
    enough = numbers(driver)[:1] >= numbers(known.driver)[:1]
    if "." in driver:
        enough = at_least(driver, known.driver)
    if not enough:
        most = drivers.cuda_of_driver(driver)
        values = {"said": f"{said} CUDA {cuda}", "needs": known.driver, "driver": driver}
        values["most"] = f", or use a build for CUDA {most} or older" if most else ""
        yield told("driver-too-old", place, known.source, values=values)
