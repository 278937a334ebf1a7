"""The native stages in order: which child runs each, what it needs, which libraries it tests."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import LoadTree
from gpuwhy.facts.version import numbers


class Step(NamedTuple):
    """One native stage."""

    name: str
    title: str
    group: str  # stages of one group run in one child process, in order
    library: str = ""  # the family without which it is skipped
    after: tuple[str, ...] = ()  # the stages that must have passed before, on the same GPU
    gentle: bool = False  # reads only: takes no memory and no context on the GPU
    gpu: bool = True  # fails where there is no GPU
    per_gpu: bool = False


STEPS = (
    Step("libcuda", "loading the driver library", "driver", gentle=True),
    Step("init", "cuInit", "driver", after=("libcuda",), gentle=True),
    Step("devices", "driver version, devices", "driver", after=("init",), gentle=True),
    Step("context", "context", "device", after=("devices",), per_gpu=True),
    Step("memory", "allocate, copy, free", "device", after=("context",), per_gpu=True),
    Step("nvrtc", "compile a kernel (NVRTC)", "device", "nvrtc", gpu=False),
    Step("launch", "launch it", "device", "nvrtc", ("memory", "nvrtc"), per_gpu=True),
    Step("cudart", "CUDA runtime", "runtime", "cudart", gentle=True, gpu=False),
    Step("cublas", "cuBLAS matmul", "blas", "cublas", ("context",), per_gpu=True),
    Step("cudnn", "cuDNN and its parts", "cudnn", "cudnn", gentle=True, gpu=False),
    Step("cudnn_create", "cudnnCreate", "convolution", "cudnn", ("context", "cudnn"), per_gpu=True),
    Step("nccl", "NCCL all-reduce", "nccl", "nccl", ("context",)),
)
BY_NAME: Mapping[str, Step] = {one.name: one for one in STEPS}
NEEDED = {
    "libcuda": "the driver library",
    "init": "cuInit",
    "devices": "a GPU",
    "context": "a context",
    "memory": "GPU memory",
    "nvrtc": "a compiled kernel",
    "cudnn": "a cuDNN that is whole",
}
"""What a stage gives to those after it."""
FRAMEWORK_STAGES = ("import", "devices", "matmul", "convolution")
"""What a framework does in its own interpreter, in order; the first needs no GPU."""
FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime", "cupy")


def _files(*names: str) -> str:
    """How the files of libraries are called: libcudart.so.12, cudart64_12.dll."""
    return rf"(lib)?({'|'.join(names)})(\.so|(64)?_)"


class Group(NamedTuple):
    """What a child is given: libraries under test, and the names of those loaded before them."""

    families: tuple[str, ...]
    preload: str = "$^"
    again: bool = False  # after a crash, something is left to do: other GPUs, other stages


_ALL = ("cudart", "cublas", "cublasLt", "nvrtc", "nvrtc-builtins", "nvJitLink")
GROUPS: Mapping[str, Group] = {
    "driver": Group(("cuda",)),
    "device": Group(("cuda", "nvrtc"), _files("nvrtc-builtins"), again=True),
    "runtime": Group(("cudart",)),
    "blas": Group(("cuda", "cublas"), _files("cudart", "cublasLt", "nvrtc"), again=True),
    "cudnn": Group(("cudnn",), _files("cudart")),
    "convolution": Group(("cuda", "cudnn", "cudart"), _files(*_ALL), again=True),
    "nccl": Group(("cuda", "nccl"), _files("cudart")),
}

# ------------------------------------------------------------ the libraries

ALONE = ("nvrtc", "nccl")
_SYSTEM = ("ld.so.cache", "LD_LIBRARY_PATH", "PATH", "toolkit")
_NAME = re.compile(
    r"(?:lib)?(cudart|cublas|cublasLt|cudnn|nvrtc|nccl)(?:\.so\.\d+|64_[\d_]+\.dll)$"
)
_DEPENDENCY = re.compile(
    r"(lib)?(cudart|cublas|cublasLt|nvrtc|nvrtc-builtins|nvJitLink|z(libwapi)?)(\.so|(64)?_|\.dll)"
)


class Stack(NamedTuple):
    """One set of CUDA libraries: a file per family, and what is opened before, in order."""

    libraries: Mapping[str, str] = {}
    preload: tuple[str, ...] = ()


def stack(facts: Facts) -> Stack:
    """Those of the framework that uses most; without one, the newest that the loader knows."""
    trees = value_or(facts.loads.trees, ())
    found = [_of_tree(tree, facts) for tree in trees]
    if found:
        return max(found, key=lambda one: len(one.libraries))
    return _of_system(value_or(facts.libraries.copies, ()))


def _of_tree(tree: LoadTree, facts: Facts) -> Stack:
    own = _families((one.name, one.path) for one in tree.libraries)
    return Stack(
        {**_beside(own, facts), **own},
        tuple(one.path for one in tree.libraries if _DEPENDENCY.match(one.name)),
    )


def _beside(own: Mapping[str, str], facts: Facts) -> dict[str, str]:
    """Libraries of the same wheels that a framework opens later or never; they stand alone."""
    if not own:
        return {}
    copies = [one for one in value_or(facts.libraries.copies, ()) if one.where == "wheel"]
    found = _families((one.name, one.path) for one in copies)
    return {name: path for name, path in found.items() if name in ALONE}


def _of_system(copies: tuple[LibraryCopy, ...]) -> Stack:
    found = [one for one in copies if one.where in _SYSTEM and isinstance(one.version, Known)]
    found.sort(key=lambda one: numbers(value_or(one.version, "0")), reverse=True)
    return Stack(_families((one.name, one.path) for one in found))


def _families(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, path in named:
        if match := _NAME.match(name):
            out.setdefault(match.group(1), path)
    return out
