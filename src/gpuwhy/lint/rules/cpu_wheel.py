"""A build without CUDA where a GPU is meant."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.knowledge.variants import middle_index
from gpuwhy.lint import joining
from gpuwhy.lint.naming import named_pythons
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allowed, releases_of
from gpuwhy.model.lint import Mistake, Rule, Severity
from gpuwhy.model.version import at_least

RULE = Rule("cpu-wheel", "error", "a build without CUDA where a GPU is meant")

_CPU = {
    "tensorflow": ("tensorflow", "tensorflow"),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu"),
    "paddle": ("paddle", "paddlepaddle-gpu"),
}


_SERVES = {"cpuonly": ("pytorch", "torch")}


_PYTORCH = source(
    "PyTorch's own indexes", "cpu: without CUDA; cu126 …: for that CUDA; the default index: with CUDA on Linux"
)


_GPU_USERS = frozenset(
    [
        "faster-whisper", "ctranslate2", "llama-cpp-python", "whisperx", "xgboost", "lightgbm", "numba", "cuda-python",
        "pycuda", "tensorrt", "tensorrt-cu11", "tensorrt-cu12", "tensorrt-cu13", "tensorrt-llm", "polygraphy",
    ]
)  # fmt: skip
"""Packages that may be what the GPU is for, where ONNX Runtime is somebody's helper."""


def check(scope: Scope) -> Iterator[Mistake]:
    """A build without CUDA, no other framework that could be the one for the GPU, and something that means a GPU."""
    if not scope.environment.runs or scope.environment.forked or (scope.named_otherwise and not scope.named_gpu):
        return
    yield from _plain_llama(scope)
    yield from _plain_dgl(scope)
    yield from _channel(scope)
    yield from _plain_mxnet(scope)
    for pin in scope.pins:
        why = _without_cuda(pin)
        if why and not pin.optional and not _by_another(scope, pin):
            meant = _meant(scope, pin)
            if meant:
                yield _mistake(scope, pin, f"{why}, and {meant}")


def _channel(scope: Scope) -> Iterator[Mistake]:
    """conda's PyTorch without a build string, where channels or neighbours leave only the one for the CPU."""
    pin = next((p for p in scope.pins if p.name == "pytorch" and p.origin == "conda"), None)
    if pin and not pin.build and "cpuonly" not in scope.names:
        yield from _of_forge(scope, pin)
        yield from _of_pytorch(scope, pin)
        yield from _by_toolkit(scope, pin)
        yield from _other_channel(scope, pin)


def _of_forge(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """The newest of conda-forge beside cudatoolkit, which it is no longer built for."""
    first = scope.environment.channels[:1] == ["conda-forge"] and not pin.channel
    old = any(not at_least(python, "3.9") for python in scope.environment.pythons)  # with releases of that time
    if first and "cudatoolkit" in scope.names and not is_pinned(pin) and not old:
        text = "conda-forge builds the newest PyTorch for CUDA 12 and 13; beside cudatoolkit, which ended with 11.8, "
        fix = "leave cudatoolkit out (cuda-version=12 chooses the CUDA), or pin pytorch<2.5"
        yield RULE.mistake(pin.place, f"{text}conda takes the build without CUDA", _FORGE, fix, "warning")


def _of_pytorch(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """PyTorch 1.13 and newer of its own channel: CUDA comes from the channel nvidia, and nobody names that."""
    channels = scope.environment.channels
    version = re.search(r"\d+(\.\d+)+", pin.specifier)
    late = not version or at_least(version[0], "1.13")
    if any(not at_least(python, "3.7") for python in (*scope.environment.pythons, *_of_files(scope))):
        return  # with releases of that time, which take cudatoolkit
    if not late or "pytorch" not in channels or {"nvidia", "conda-forge"} & {*channels}:
        return
    if _is_of_old(scope):
        return
    unsaid = "nothing says that the CPU is meant" if "cpu" not in scope.environment.path.lower() else ""
    meant = scope.gpu_meant or ("the file's name says GPU" if scope.named_gpu else unsaid)
    if meant:
        said = f"pytorch{' ' + version[0] if version else ''}"
        text = (
            f"{said} of the channel pytorch takes CUDA from the channel nvidia, which is not named: conda chooses its "
        )
        fix = "add -c nvidia and pytorch-cuda=12.4 (or 11.8)"
        severity: Severity | None = "warning" if meant == unsaid else None
        comes = f"{text}build for the CPU, and {meant}"
        if "pytorch-cuda" in scope.names:
            comes = (
                f"{text.removesuffix('conda chooses its ')}nothing provides what pytorch-cuda asks for, and conda stops"
            )
        yield RULE.mistake(pin.place, comes, _CHANNELS, fix, severity)


def _is_of_old(scope: Scope) -> bool:
    """Whether cuda90 or its like is named, which chose the build before cudatoolkit did: releases of that time."""
    return any(re.fullmatch(r"cuda\d+", name) for name in scope.names)


def _of_files(scope: Scope) -> Iterator[str]:
    """The Pythons of the environments that a script makes from files before."""
    for include in scope.environment.conda_files:
        yield from named_pythons("environment.yml", scope.read(joining.found(include, scope.read)) or "", "")


_TOOLKITS = {
    "1.5": ("9.2", "10.1", "10.2"), "1.6": ("9.2", "10.1", "10.2"), "1.7": ("9.2", "10.1", "10.2", "11.0"),
    "1.8": ("10.1", "10.2", "11.1"), "1.9": ("10.2", "11.1"), "1.10": ("10.2", "11.1", "11.3"),
    "1.11": ("10.2", "11.3"), "1.12": ("10.2", "11.3", "11.6"),
}  # fmt: skip
"""PyTorch of its own channel → the cudatoolkit that it has builds for."""


def _by_toolkit(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """cudatoolkit beside a PyTorch of its own channel that has no build for it, or whose pytorch-cuda chooses."""
    channels, toolkit = scope.environment.channels, scope.names.get("cudatoolkit")
    version = re.match(r"==\s*(\d+\.\d+)", pin.specifier)
    first = next((c for c in channels if c in ("pytorch", "conda-forge")), "") == "pytorch" or pin.channel == "pytorch"
    if not toolkit or toolkit.origin != "conda" or not first or not version or "pytorch-cuda" in scope.names:
        return
    wanted = re.match(r"==\s*(\d+\.\d+)", toolkit.specifier)
    built = _TOOLKITS.get(version[1], ())
    if at_least(version[1], "1.13"):
        text = f"cudatoolkit does not choose the build of pytorch {version[1]} in the channel pytorch"
        fix = "write pytorch-cuda=11.8 (or 12.1) with -c nvidia instead of cudatoolkit"
        yield RULE.mistake(toolkit.place, f"{text}: conda may take the one for the CPU", _CHANNELS, fix, "warning")
    elif built and wanted and wanted[1] not in built:
        text = (
            f"the channel pytorch has pytorch {version[1]} for cudatoolkit {' and '.join(built)}, not for {wanted[1]}"
        )
        fix = f"write cudatoolkit={built[-1]}"
        yield RULE.mistake(toolkit.place, f"{text}: conda takes its build for the CPU", _PREVIOUS, fix)


_PREVIOUS = source(
    "pytorch/pytorch issue 69202, pytorch/pytorch.github.io pull request 1813", "the builds of the channel pytorch"
)


def _other_channel(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """conda-forge before the channel pytorch: its PyTorch is taken, which pytorch-cuda says nothing to."""
    channels, chosen = scope.environment.channels, scope.names.get("pytorch-cuda")
    if scope.kind != "conda":  # each command has an order of its own
        own = (c for c in scope.environment.commands if "pytorch-cuda" in c.text and c.words[0] != "pip")
        words = next((c.words for c in own), ())
        channels = [b for a, b in itertools.pairwise(words) if a in ("-c", "--channel")]
    both = "pytorch" in channels and "conda-forge" in channels
    if both and chosen and not pin.channel and channels.index("conda-forge") < channels.index("pytorch"):
        text = (
            "conda-forge stands before the channel pytorch, so PyTorch comes from there; pytorch-cuda does not choose "
        )
        fix = "name pytorch and nvidia before conda-forge, or write pytorch::pytorch"
        yield RULE.mistake(
            chosen.place, f"{text}its CUDA, and a build without one may be taken", _CHANNELS, fix, "warning"
        )


_FORGE = source("conda-forge/pytorch-cpu-feedstock", "CUDA 11.8 was left after 2.4, and cudatoolkit ended with it")
_CHANNELS = source("PyTorch, previous versions", "from 1.13 on: conda install … pytorch-cuda=11.7 -c pytorch -c nvidia")


def _by_another(scope: Scope, pin: Pin) -> bool:
    """Whether something else here computes on the GPU: the image's own framework, or one that serves the same."""
    if scope.base.framework not in ("", pin.name) or scope.base.family in ("ngc", "framework"):
        return True
    if _another(scope, pin):
        return True
    if pin.name != "onnxruntime":
        return False
    return not _GPU_USERS.isdisjoint(scope.names) or scope.repository.imports("onnxruntime") is False


def _mistake(scope: Scope, pin: Pin, text: str) -> Mistake:
    row = next(iter(releases_of(pin)), None)
    know = evidence_of(row, "cuda") if row and row.cuda is None else _PYTORCH
    helper = pin.name.startswith(("onnxruntime", "ort-"))  # often somebody's helper
    fix = _of_its_index(pin) if pin.name == "torch" and scope.for_windows else _instead(pin)
    return RULE.mistake(pin.place, text, know, fix, "warning" if helper else None)


def _another(scope: Scope, pin: Pin) -> str:
    """Another framework that may be the one for the GPU; beside Paddle none may."""
    served = _SERVES.get(pin.name, ())
    if pin.name == "paddlepaddle":
        return "paddlepaddle-gpu" if "paddlepaddle-gpu" in scope.names else ""
    if _is_cpu_build(pin):
        return scope.gpu_framework("tensorflow", "tensorflow-gpu", "tensorflow-base")
    return scope.gpu_framework(pin.name, *served)


def _is_cpu_build(pin: Pin) -> bool:
    """conda's builds name what they were made with: mkl_py36…, eigen_…, cpu_…"""
    return pin.name == "tensorflow" and pin.origin == "conda" and bool(re.match(r"(mkl|eigen|cpu)_", pin.build))


def _plain_dgl(scope: Scope) -> Iterator[Mistake]:
    """dgl from the default index, whose wheels have no CUDA."""
    pin = scope.names.get("dgl")
    if pin is None or pin.origin != "pip" or pin.reference or pin.indexes or scope.environment.other_index:
        return
    if (scope.gpu_meant or scope.named_gpu) and not (pin.version and not at_least(pin.version, "1.0")):
        meant = scope.gpu_meant or "the file's name says GPU"
        text = f"dgl of the package index is built without CUDA, and {meant}"
        yield RULE.mistake(pin.place, text, _DGL, "add -f https://data.dgl.ai/wheels/… for its CUDA build", "warning")


_DGL = source("DGL, installation guide", "CUDA builds are on data.dgl.ai; the package index has the one for the CPU")


def _plain_mxnet(scope: Scope) -> Iterator[Mistake]:
    """mxnet, whose builds for CUDA have other names."""
    pin = scope.by_pip("mxnet")
    meant = scope.gpu_meant or ("the file's name says GPU" if scope.named_gpu else "")
    if pin and meant and not pin.reference and not any(name.startswith("mxnet-cu") for name in scope.names):
        text = f"mxnet of the package index is built without CUDA, and {meant}"
        yield RULE.mistake(pin.place, text, _MXNET, "take mxnet-cu112, or the one for your CUDA", "warning")


_MXNET = source("the wheels of mxnet and mxnet-cu112 on the package index", "the name says the CUDA")


def _plain_llama(scope: Scope) -> Iterator[Mistake]:
    """llama-cpp-python from the default index, which has its source alone: without CMAKE_ARGS that is for the CPU."""
    pin = scope.names.get("llama-cpp-python")
    told = [*scope.environment.variables, *(name for c in scope.environment.commands for name, _ in c.assigned)]
    if pin is None or pin.reference or pin.indexes or scope.environment.other_index or not scope.gpu_meant:
        return
    if not {"CMAKE_ARGS", "FORCE_CMAKE", "LLAMA_CUBLAS"} & set(told) and scope.kind in ("dockerfile", "modal", "cog"):
        text = f"llama-cpp-python is compiled without CUDA unless CMAKE_ARGS says so, and {scope.gpu_meant}"
        fix = 'set CMAKE_ARGS="-DGGML_CUDA=on" for it, in an image with nvcc'
        yield RULE.mistake(pin.place, text, _LLAMA, fix, "warning")


_LLAMA = source("llama-cpp-python, README", "CUDA: CMAKE_ARGS=-DGGML_CUDA=on, or the project's index of built wheels")


def _meant(scope: Scope, pin: Pin) -> str:
    named = scope.named_gpu and not scope.gpu_meant and scope.kind in ("requirements", "conda")
    if named and (pin.name.endswith("-cpu") or pin.local == "cpu" or pin.name == "cpuonly"):
        return "the file's name says GPU"
    if pin.name == "paddlepaddle" and not scope.gpu_meant:
        return "the file's name says GPU" if scope.named_gpu else ""
    return (
        scope.gpu_meant
        if _is_cpu_build(pin) or not (pin.origin == "conda" and pin.name in scope.gpu_meant.split())
        else ""
    )


def _without_cuda(pin: Pin) -> str:
    if pin.name == "torch" and pin.variant == "cpu":
        return f"torch{' ' + pin.version if pin.version else ''} comes from PyTorch's cpu builds, without CUDA"
    if _is_cpu_build(pin):
        return f"{pin.name}={pin.version}={pin.build} is conda's build without CUDA"
    if pin.origin == "conda":
        return "cpuonly keeps conda to PyTorch without CUDA" if pin.name == "cpuonly" else ""
    found = flavour(pin.name)
    if found and not found.cuda and found.module in _CPU and "directml" not in pin.name and "openvino" not in pin.name:
        return f"{pin.name} is built without CUDA"
    return ""


def _of_its_index(pin: Pin) -> str:
    """On Windows the default index has no CUDA either: an index of PyTorch's own has."""
    version = pin.version.split("+")[0]
    return f"write torch{'==' + version if version else ''} with --index-url {middle_index(version)} (or another CUDA)"


def _instead(pin: Pin) -> str:
    if pin.name == "torch":
        return f"write torch{'==' + pin.version.split('+')[0] if pin.version else ''} without the cpu index or +cpu"
    if pin.name == "cpuonly":
        return "remove cpuonly"
    if _is_cpu_build(pin):
        return f"leave the build string of {pin.name} and of _tflow_select out, or write a gpu_ build"
    module, other = _CPU[flavour(pin.name).module]  # type: ignore[union-attr]
    version = pin.version
    known = gpu_requirement(module, other, version, None) if version and allowed(other, f"=={version}") else ""
    return f"write {known or other + pin.specifier}"
