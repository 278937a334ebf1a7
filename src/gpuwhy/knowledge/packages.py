"""Packages: what the package index does not say of them."""

from typing import NamedTuple

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import asked
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.tables import load, source

SOURCES = source(
    "the sources of the newest release of each on the package index",
    "no wheel, setup.py imports torch, and nothing demands torch for the build; November 2026",
)
ONNX_BROUGHT = source(
    "uv pip compile of each of them, November 2026", "onnxruntime is among what it asks for"
)
CTRANSLATE2 = source(
    "CTranslate2's changelog and SYSTRAN/faster-whisper issues 783, 1086, 1431",
    "4.0: CUDA 12; 4.5: cuDNN 9",
)
_ONNX_EXTRAS = {"optimum": "onnxruntime", "sentence-transformers": "onnx"}


class Table(msgspec.Struct, frozen=True):
    """packages.json."""

    need_torch: frozenset[str]  # sources alone, whose setup.py imports torch and does not ask
    repositories: frozenset[str]  # projects that are built from their repositories in that way
    bring_onnxruntime: frozenset[str]  # always, the build without CUDA


class Borrowed(msgspec.Struct, frozen=True):
    """The majors of the system's, or of a framework's, libraries that a release opens."""

    cuda: str
    cudnn: str
    source: Source


def table() -> Table:
    """Every name."""
    return load("packages.json", Table)


def brings_onnxruntime(name: str, version: str, extras: tuple[str, ...]) -> bool:
    """Whether a release asks for onnxruntime, by metadata, else by the list; "" = the newest."""
    if _ONNX_EXTRAS.get(name) in extras:
        return True
    by_table = asked.asks(name, version)
    if by_table:
        return "onnxruntime" in by_table
    found = [row for row in guests(name) if not version or row.version == version]
    if found and found[-1].asks is not None:
        return "onnxruntime" in found[-1].asks
    return name in table().bring_onnxruntime and (not found or not version)


def ctranslate2(version: str) -> Borrowed:
    """What a release of CTranslate2 opens; "" = the newest one."""
    if version and not at_least(version, "4.0"):
        return Borrowed("11", "8", CTRANSLATE2)
    return Borrowed("12", "8" if version and not at_least(version, "4.5") else "9", CTRANSLATE2)


def of_faster_whisper(version: str) -> Borrowed:
    """What the CTranslate2 opens that pip takes for it: 3.x before 1.0, else the newest 4.x."""
    return ctranslate2("3.24.0" if version and not at_least(version, "1.0") else "")


class Flavour(NamedTuple):
    """What a distribution is a flavour of."""

    module: str  # import name that all flavours write
    cuda: bool  # a build that can use CUDA, where the platform has one


_PREFIXES = {"cupy-cuda": "cupy", "mxnet-cu": "mxnet"}
_WITH_CUDA = {
    "tensorflow": "tensorflow tensorflow-gpu tf-nightly tf-nightly-gpu",
    "onnxruntime": "onnxruntime-gpu ort-nightly-gpu",
    "paddle": "paddlepaddle-gpu",
}
_WITHOUT = {
    "tensorflow": "tensorflow-cpu tf-nightly-cpu intel-tensorflow tensorflow-cpu-aws",
    "onnxruntime": "onnxruntime ort-nightly onnxruntime-directml onnxruntime-openvino",
    "paddle": "paddlepaddle",
}
ALL = {
    name: Flavour(module, cuda)
    for cuda, rows in ((True, _WITH_CUDA), (False, _WITHOUT))
    for module, names in rows.items()
    for name in names.split()
}
MAIN = frozenset({"tensorflow", "torch", "jax"})
"""Frameworks that people install for their own sake; the others often come as somebody's helper."""
COMPILES_AT_RUN_TIME = frozenset({"numba", "numba_cuda", "triton", "cupy"})
"""Packages that make code for the GPU that they find: the code they carry decides nothing."""
FOLLOWERS = frozenset(
    {"numba", "numba_cuda", "triton", "torchvision", "torchaudio", "xformers", "flash_attn"}
    | {"bitsandbytes", "vllm", "tensorrt", "torch_tensorrt"}
)
"""Packages with one build for all machines, or whose build follows another's: never CPU-only."""


def flavour(distribution: str) -> Flavour | None:
    """What the distribution is a flavour of; None when it has no rival."""
    for prefix, module in _PREFIXES.items():
        if distribution.startswith(prefix):
            return Flavour(module, True)
    return ALL.get(distribution)


def is_follower(framework: str) -> bool:
    """Whether a framework's build says nothing by itself."""
    return framework.replace("-", "_") in FOLLOWERS


def compiles_at_run_time(framework: str) -> bool:
    """Whether a framework makes its GPU code where it runs."""
    return framework.replace("-", "_") in COMPILES_AT_RUN_TIME


def library_wheel(distribution: str) -> tuple[str, int] | None:
    """A library wheel's family and CUDA major: nvidia-cudnn-cu12 → ('nvidia-cudnn', 12)."""
    family, found, major = distribution.rpartition("-cu")
    if not found or not family.startswith("nvidia-") or not major.isdigit():
        return None
    return family, int(major[:2] if len(major) == 3 else major)  # -cu115: CUDA 11.5
