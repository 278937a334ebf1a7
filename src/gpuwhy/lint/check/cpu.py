"""A build without CUDA where a GPU is meant, and the other way round; conda's CUDA beside pip's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.check.files import keeps_conda
from gpuwhy.lint.mistakes import Mistake, know, mistake
from gpuwhy.lint.repository import TORCH_INDEX
from gpuwhy.lint.rules import names, table
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allowed, major

_INDEXES = know("PyTorch's own indexes", "cpu: without CUDA; the default index: with CUDA on Linux")
_WHEELS = know("PyTorch's wheels on the package index", "on Linux with CUDA")
_COG = know("replicate/cog, docs/yaml.md", "gpu: true chooses a base image with CUDA")
_CHANNELS = know("PyTorch, previous versions", "from 1.13 on: pytorch-cuda -c pytorch -c nvidia")
_PREVIOUS = know("pytorch/pytorch issue 69202", "the builds of the channel pytorch")
_FORGE = know("conda-forge/pytorch-cpu-feedstock", "CUDA 11.8 was left after 2.4")
_EXTRA = know("JAX and TensorFlow installation guides", "jax[cuda12], tensorflow[and-cuda]")
_OWN = know("requirements of the wheels", "pip's builds bring or open their own CUDA")
_NO_CUDA: dict[str, tuple[str, ...]] = table("cpu.no_cuda")
"""Packages whose wheels on the index have no CUDA, since which release, and what has it."""
_CPU = {"tensorflow": "tensorflow", "onnxruntime": "onnxruntime-gpu", "paddle": "paddlepaddle-gpu"}
_USERS = frozenset(names("cpu.users"))
"""Packages that may be what the GPU is for, where ONNX Runtime is somebody's helper."""
_TOOLKITS: dict[str, tuple[str, ...]] = table("cpu.toolkits")
"""PyTorch of its own channel → the cudatoolkit that it has builds for."""


def cpu_wheel(scope: Scope) -> Iterator[Mistake]:
    """A build without CUDA, and nothing else that could be the one for the GPU."""
    if not scope.environment.runs or scope.named_otherwise:
        return
    yield from _of_channels(scope)
    meant = scope.gpu_meant or ("the file's name says GPU" if scope.named_gpu else "")
    for pin in scope.pins if meant else ():
        since, fix = _NO_CUDA.get(pin.name, ("", ""))
        if not fix:
            yield from _without(scope, pin, meant)
            continue
        plain = pin.installed and not pin.indexes and not scope.environment.other_index
        beside = scope.has_wheels(f"{pin.name}-cu")
        if plain and not beside and at_least(pin.version or "99", since):
            text = f"{pin.name} of the package index is built without CUDA, and {meant}"
            yield mistake("cpu-wheel", pin.place, text, _INDEXES, fix, "warning")


def _without(scope: Scope, pin: Pin, meant: str) -> Iterator[Mistake]:
    found = flavour(pin.name)
    if pin.name == "torch" and pin.variant == "cpu":
        text = f"torch {pin.public or 'of this line'} comes from PyTorch's cpu builds, without CUDA"
        fix = f"write torch{'==' + pin.public if pin.public else ''} without the cpu index or +cpu"
    elif pin.name == "cpuonly" and pin.origin == "conda":
        text, fix = "cpuonly keeps conda to PyTorch without CUDA", "remove cpuonly"
    elif pin.name == "tensorflow" and re.match(r"(mkl|eigen|cpu)_", pin.build):
        text = f"{pin.name}={pin.version}={pin.build} is conda's build without CUDA"
        fix = f"leave the build string of {pin.name} out, or write a gpu_ build"
    elif pin.origin == "pip" and found and not found.cuda and found.module in _CPU:
        text, fix = f"{pin.name} is built without CUDA", f"write {_instead(pin, found.module)}"
    else:
        return
    named = "-cpu" in pin.name or pin.local == "cpu" or pin.name in ("cpuonly", "paddlepaddle")
    if re.search("directml|openvino", pin.name) or (not scope.gpu_meant and not named):
        return
    if scope.base.framework not in ("", pin.name) or scope.base.family in ("ngc", "framework"):
        return
    other = ("pytorch", "torch") if pin.name == "cpuonly" else ()
    if pin.name != "paddlepaddle" and scope.gpu_framework(pin.name, *other):
        return
    helper = pin.name.startswith(("onnxruntime", "ort-"))
    if not helper or not _USERS & scope.names.keys():
        severity = "warning" if helper else "error"
        yield mistake("cpu-wheel", pin.place, f"{text}, and {meant}", _INDEXES, fix, severity)


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
    place, severity = pin.place, "warning"
    if toolkit and version and not chosen and "pytorch" in (first, pin.channel):
        yield from _by_toolkit(pin, toolkit, version)
        return
    if toolkit and first == "conda-forge" and not version and not old:
        text = "conda-forge builds the newest PyTorch for CUDA 12 and 13; beside cudatoolkit, "
        text += "which ended with 11.8, conda takes the build without CUDA"
        fix = "leave cudatoolkit out (cuda-version=12 chooses the CUDA), or pin pytorch<2.5"
        source = _FORGE
    elif late and "pytorch" in channels and not {"nvidia", "conda-forge"} & {*channels}:
        text = f"pytorch {version}".strip() + " of the channel pytorch takes CUDA from the channel "
        text += "nvidia, which is not named: conda chooses its build for the CPU, or stops"
        fix, source = "add -c nvidia and pytorch-cuda=12.4 (or 11.8)", _CHANNELS
        severity = "error" if scope.gpu_meant or scope.named_gpu else "warning"
    elif (
        chosen
        and scope.kind == "conda"
        and not pin.channel
        and channels[:1] == ["conda-forge"]
        and "pytorch" in channels
    ):
        text = "conda-forge stands before the channel pytorch, so PyTorch comes from there; "
        text += "pytorch-cuda does not choose its CUDA"
        fix = "name pytorch and nvidia before conda-forge, or write pytorch::pytorch"
        place, source = chosen.place, _CHANNELS
    else:
        return
    yield mistake("cpu-wheel", place, text, source, fix, severity)


def _by_toolkit(pin: Pin, toolkit: Pin, version: str) -> Iterator[Mistake]:
    wanted = re.match(r"==\s*(\d+\.\d+)", toolkit.specifier)
    built = _TOOLKITS.get(major_minor(version), ())
    if at_least(version, "1.13"):
        text = f"cudatoolkit does not choose the build of pytorch {version} in the channel pytorch"
        fix = "write pytorch-cuda=11.8 (or 12.1) with -c nvidia instead of cudatoolkit"
        yield mistake("cpu-wheel", toolkit.place, text, _CHANNELS, fix, "warning")
    elif built and wanted and wanted[1] not in built:
        text = f"the channel pytorch has pytorch {version} for cudatoolkit {' and '.join(built)}, "
        text += f"not for {wanted[1]}: conda takes its build for the CPU"
        fix = f"write cudatoolkit={built[-1]}"
        yield mistake("cpu-wheel", toolkit.place, text, _PREVIOUS, fix)


def cuda_for_cpu(scope: Scope) -> Iterator[Mistake]:
    """torch of the default index in a file for the CPU; a CUDA build where Cog has no GPU."""
    stage = scope.environment
    built = next((p for p in scope.pins if p.installed and p.variant.startswith("cu")), None)
    if stage.no_gpu and built:
        text = f"gpu: false makes an image without CUDA; {built.said} is for a GPU"
        fix, place = "write gpu: true, or take the builds for the CPU", scope.at(stage.no_gpu)
        yield mistake("cuda-for-cpu", place, text, _COG, fix, "warning")
    pin, project = scope.by_pip("torch"), scope.kind == "pyproject"
    title = stage.part if project else stage.path.rsplit("/", 1)[-1]
    named = re.search(r"(^|[^a-z])cpu([^a-z]|$)", title.lower()) and not scope.named_gpu
    if not named or (project and "torch" not in stage.own):
        return
    if not pin or pin.marker or pin.indexes or not pin.installed or not scope.from_index(pin):
        return
    there = scope.base.framework == "torch" or scope.base.gpu or "pytorch" in scope.names
    own = scope.read(stage.path) or ""
    twin = re.search(r"^\s*[\"']?(cu\d{2,3})[\"']?\s*=", own, re.MULTILINE)
    if not there and not twin and "+cpu" not in own and not scope.repository.says(TORCH_INDEX):
        text = f"{title} is for the CPU by its name; torch of the package index brings CUDA"
        fix = "write torch==…+cpu, with --extra-index-url https://download.pytorch.org/whl/cpu"
        yield mistake("cuda-for-cpu", pin.place, text, _WHEELS, fix, "warning")


def no_cuda_extra(scope: Scope) -> Iterator[Mistake]:
    """JAX or TensorFlow without its CUDA extra where a GPU is meant."""
    jax, pin = scope.by_pip("jax"), scope.by_pip("tensorflow")
    extras = [extra for one in scope.pins if one.name == "jax" for extra in one.extras]
    other = scope.gpu_framework("jax") or any(p.local.startswith("cuda") for p in scope.pins)
    brought = other or scope.base.family in ("ngc", "framework")
    brought = brought or any(one.startswith(("cuda", "tpu", "rocm")) for one in extras)
    if jax and jax.by_name and scope.gpu_meant and not brought and scope.environment.runs:
        text = f"jax{jax.specifier} without a cuda extra installs for the CPU, "
        text += f"and {scope.gpu_meant}"
        fix = f'write "jax[cuda12]{jax.specifier}"'
        yield mistake("no-cuda-extra", jax.place, text, _EXTRA, fix, "warning")
    alone = scope.has_wheels("nvidia-cudnn-cu1") and not scope.has_wheels("nvidia-cublas")
    system = scope.base.name or "torch" in scope.names or scope.by_conda("cudatoolkit")
    row = scope.taken(pin) if pin and alone and not system and not pin.extras else None
    if pin and row and at_least(row.version, "2.14"):
        text = f"tensorflow {row.version} without and-cuda brings no CUDA, and cuDNN is alone here"
        fix = f'write "tensorflow[and-cuda]{pin.specifier}" without cuDNN'
        yield mistake("no-cuda-extra", pin.place, text, _EXTRA, fix, "warning")


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
        if pin.name == "torch" or "and-cuda" in pin.extras:
            if unused and not (opening and pin.name == "torch"):
                text = f"pip's {pin.name} {row.version} brings CUDA {row.cuda} itself; conda's "
                text += f"{toolkit.said} is not used"
                fix = f"remove {toolkit.name}, or take {pin.name} from conda too"
                yield mistake("conda-pip-mix", pin.place, text, _OWN, fix, "warning")
            continue
        told = numbers(toolkit.specifier.lstrip("=").rstrip(".*"))
        length = 1 if at_least(row.cuda, "11") else 2
        beside = pin.name == "onnxruntime-gpu" and scope.by_pip("torch")
        ended = toolkit.name == "cudatoolkit" and major(row.cuda) > 11
        if not beside and (ended or (told and told[:length] != numbers(row.cuda)[:length])):
            text = f"{pin.name} {row.version} opens CUDA {row.cuda}; conda installs {toolkit.said}"
            fix = f"write {toolkit.name}={major_minor(row.cuda)}"
            if ended:
                fix = f"cudatoolkit ended with 11.8: take the wheels, or an older {pin.name}"
            source = evidence_of(row, "cuda")
            yield mistake("conda-pip-mix", pin.place, text, source, fix)
