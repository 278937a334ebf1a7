"""Packages with CUDA beside the frameworks: compiled modules that need its libraries.

Where PyTorch or JAX is installed the process has their libraries already: then such packages are
judged with them, and none is a framework of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.facts.frameworks import Framework, Opened
from gpuwhy.look.frameworks.builds import (
    Built,
    Installed,
    cuda_by_names,
    gpu_code,
    library_files,
    needed,
)
from gpuwhy.machine.machine import Machine

_OTHERS = (
    r"(?:.+-)?(?:gpu|cuda|cu\d{2,3}|cuda\d{2,3}x?)(?:-.+)?|faiss|llama-cpp-python|xgboost|lightgbm"
    r"|catboost|pycuda|k2|dgl|stable-diffusion-cpp-python|pywhispercpp|open3d|exllamav2"
    r"|spacy-transformers"
)
_NOT = (
    r"nvidia-.*|cuda-.*|numba-cuda|jax-cuda.*|tensorrt.*|cupy.*|torch.*|tensorflow.*"
    r"|onnxruntime.*|mxnet.*|paddle.*"
)
_HOSTS = ("torch", "jax", "tensorflow", "paddle")  # bring CUDA's libraries into the process
_LINKED_IN = ("xgboost", "lightgbm", "catboost")
_INSIDE = Unknown("CUDA's libraries are linked into it, and no name tells their release")
_MOST = 24  # compiled files that are read of one package


def others(
    machine: Machine, every: tuple[Package, ...], windows: bool, found: Sequence[Framework]
) -> Iterator[Framework]:
    """Packages that need CUDA's libraries, each as a framework of its own name."""
    if any(one.name in _HOSTS for one in found):
        return
    for package in every:
        if re.fullmatch(_OTHERS, package.name) and not re.fullmatch(_NOT, package.name):
            one = Installed(machine, package, package.site, every, windows)
            yield from _of(one, list(library_files(package, _MOST)))


def _of(one: Installed, files: Sequence[str]) -> Iterator[Framework]:
    opens = needed(one, files)
    if value_or(opens, ()):
        yield _framework(one.package, opens)
    elif one.package.name in _LINKED_IN:
        for path in files:
            sass, ptx = gpu_code(one.machine, path)
            if isinstance(sass, Known):
                gpu = known(True, "file", path, "holds GPU code")
                nothing: Fact[tuple[Opened, ...]] = known((), "file", path, "CUDA is linked in")
                built = Built(gpu, _INSIDE, sass=sass, ptx=ptx, opens=nothing)
                yield _record(one.package, path.rpartition("/")[0], built)
                return


def _framework(package: Package, opens: Fact[tuple[Opened, ...]]) -> Framework:
    first = value_or(opens, ())[0]
    gpu = known(True, "file", first.by, f"needs {first.name}")
    built = Built(gpu, _cuda(opens), opens=opens)
    return _record(package, first.by.rpartition("/")[0], built)


def _cuda(opens: Fact[tuple[Opened, ...]]) -> Fact[str]:
    """By the runtime's or cuBLAS' name; else by the name of whatever other library tells it."""
    from gpuwhy.knowledge.libraries import cuda_of

    found = cuda_by_names(opens)
    if isinstance(found, Known):
        return found
    for one in value_or(opens, ()):
        cuda = "" if "cudnn" in one.name.lower() else cuda_of(one.name)
        if cuda:
            return known(cuda, "file", one.by, f"needs {one.name}")
    return found


def _record(package: Package, path: str, built: Built) -> Framework:
    from gpuwhy.look.frameworks.installed import framework

    return framework(package.name, package.name, package, path, built)
