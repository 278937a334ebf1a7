"""Which cuDNN a framework accepts at run time, and which one old TensorFlow releases were compiled with."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.knowledge.tables import source
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers

Needs = Literal["minor or newer", "same minor", "same major"]

CUDA_OF: dict[int, tuple[tuple[int, int], tuple[int, int]]] = {
    5: ((7, 5), (8, 0)),
    6: ((7, 5), (8, 0)),
    7: ((8, 0), (10, 2)),
    8: ((10, 2), (12, 9)),
    9: ((11, 8), (13, 9)),
}
"""The oldest and the newest CUDA that a major release of cuDNN exists for."""


def exists_for(cudnn: int, cuda: int) -> bool:
    """Whether a major release of cuDNN exists for a major release of CUDA."""
    low, high = CUDA_OF.get(cudnn, ((0, 0), (0, 0)))
    return low[0] <= cuda <= high[0]


def has_minor(cudnn: int, cuda: str) -> bool:
    """Whether a major release of cuDNN exists for a release of CUDA ('10.1')."""
    low, high = CUDA_OF.get(cudnn, ((0, 0), (0, 0)))
    return low <= numbers(cuda)[:2] <= high


class Rule(msgspec.Struct, frozen=True):
    """How a framework compares the cuDNN it finds with the one it was compiled with, from one release on."""

    framework: str
    since: str
    needs: Needs
    text: str
    source: Source


class Compiled(msgspec.Struct, frozen=True):
    """The cuDNN headers that a release was compiled with, as its own version check carries them."""

    framework: str
    release: str  # major.minor
    cudnn: str
    source: Source


def _message(release: str) -> Source:
    return source(f"tensorflow {release}, linux x86_64", "the text and the numbers of its own cuDNN version check")


_TORCH = source("torch/backends/cudnn/__init__.py", "the same in torch 2.5.1, 2.11.0 and 2.15.0")
_XLA = source("jax-cuda12-plugin 0.12.0, xla_cuda_plugin.so", "the text of XLA's cuDNN version check")
_SONAME = source("onnxruntime-gpu 1.31.1", "its CUDA provider is linked to libcudnn.so.9; no check beyond that name")

_NEWER = "{} wants the major version it was compiled with, and that minor version or a newer one"

RULES: tuple[Rule, ...] = (  # per framework, newest first
    Rule("tensorflow", "1.8", "minor or newer", _NEWER.format("TensorFlow"), _message("1.14 to 2.13")),
    Rule(
        "tensorflow",
        "0",
        "same minor",
        "TensorFlow up to 1.7 wants the very minor version it was compiled with",
        source("tensorflow up to 1.7, linux x86_64", "the text of its own cuDNN version check"),
    ),
    Rule("torch", "1.13", "minor or newer", _NEWER.format("PyTorch"), _TORCH),
    Rule("jax", "0.4", "minor or newer", _NEWER.format("XLA"), _XLA),
    Rule("onnxruntime", "0", "same major", "ONNX Runtime takes any cuDNN of the major it was linked to", _SONAME),
)

COMPILED: tuple[Compiled, ...] = tuple(
    Compiled("tensorflow", major_minor(release), cudnn, _message(release))
    for release, cudnn in (
        ("1.14.0", "7.3.0"),
        ("1.15.5", "7.6.0"),
        ("2.0.4", "7.6.0"),
        ("2.1.4", "7.6.4"),
        ("2.2.3", "7.6.4"),
        ("2.3.4", "7.6.4"),
        ("2.4.4", "8.0.4"),
        ("2.5.3", "8.1.0"),
        ("2.6.5", "8.1.0"),
        ("2.9.3", "8.1.0"),
        ("2.10.1", "8.1.0"),
        ("2.11.1", "8.1.0"),
        ("2.12.1", "8.6.0"),
        ("2.13.1", "8.6.0"),
    )
)
"""Read from the immediates that libtensorflow_framework compares; a release stands for its minor series."""

DROPPED_SM = source("torch 2.15.0, torch/backends/cudnn/__init__.py; fatbins of the cuDNN 9.10 and 9.11 wheels")
OLDEST_GPU = (("9.11", "7.5"),)
"""cuDNN release from which on, oldest compute capability that it still has code for."""


def rule(framework: str, version: str) -> Rule | None:
    """The rule of one release; None when no row knows the framework."""
    return next((r for r in RULES if r.framework == framework and at_least(version, r.since)), None)


def compiled(framework: str, version: str) -> Compiled | None:
    """What a release was compiled with, where a row knows."""
    wanted = (framework, major_minor(version))
    return next((row for row in COMPILED if (row.framework, row.release) == wanted), None)


def fits(needs: Needs, built: str, loaded: str) -> bool | None:
    """Whether a loaded cuDNN serves a build; None when the build's minor version is needed and not known."""
    want, have = numbers(built), numbers(loaded)
    if not want or not have:
        return None
    if want[0] != have[0]:
        return False
    if needs == "same major":
        return True
    if len(want) < 2 or len(have) < 2:
        return None
    return have[1] == want[1] if needs == "same minor" else have[1] >= want[1]


def oldest_gpu(cudnn: str) -> str:
    """The oldest compute capability that a cuDNN release serves; '' where no row knows a floor."""
    return next((gpu for release, gpu in OLDEST_GPU if at_least(cudnn, release)), "")
