"""Conditions on versions that a text tells: whether they fit each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product

from gpuwhy.knowledge import archs, gpus
from gpuwhy.knowledge.cudnn_rules import CUDA_OF
from gpuwhy.knowledge.releases import find
from gpuwhy.model.release import Release
from gpuwhy.model.symptom import Condition, Reading, Symptom
from gpuwhy.model.version import numbers


def told_version(name: str, pattern: str) -> Condition:
    """A told version of something matches."""
    wanted = re.compile(pattern)
    return lambda s, r: any(wanted.match(v) for v in versions_told(r, name))


def versions_told(r: Reading, *names: str) -> list[str]:
    """The told versions; of TensorFlow also those that somebody wrote in a sentence."""
    more = ("tf",) if "tensorflow" in names else ()
    return [v for name in (*names, *more) for v in r.told.versions.get(name, ())]


def beyond(s: Symptom, r: Reading) -> bool:
    """What is there is newer than everything that the message names as supported, or is called too new."""
    has, most = numbers(s.get("has")), numbers(s.get("most") or s.get("least"))
    return bool(has) and (not most or has[: len(most)] > most)


def short_of(s: Symptom, r: Reading) -> bool:
    """What is there is older than everything that the message names as supported."""
    has, least = numbers(s.get("has")), numbers(s.get("least"))
    return bool(has and least) and has[: len(least)] < least


def _builds(s: Symptom, r: Reading) -> list[Release]:
    """What is known of the TensorFlow and ONNX Runtime releases that the text names; 2.3 stands for 2.3.0."""
    platform = "windows-x86_64" if r.told.os == "windows" else "linux-x86_64"
    names = (("tensorflow", "tensorflow-gpu"), ("onnxruntime-gpu",))
    rows = [
        find(name, v, platform)
        for group in names
        for told in versions_told(r, *group)
        for v in dict.fromkeys((told, f"{told}.0" if told.count(".") == 1 else told))
        for name in group
    ]
    return [row for row in rows if row is not None]


def told_cuda_unfit(s: Symptom, r: Reading) -> bool:
    """The text names a TensorFlow and a CUDA that this release was not built for."""
    told = {numbers(v)[:2] for v in versions_told(r, "cuda", "nvcc") if len(numbers(v)) > 1}
    built = {numbers(row.cuda)[:2] for row in _builds(s, r) if isinstance(row.cuda, str)} if told else set()
    return bool(built) and not any(t == b or t[0] == b[0] >= 11 for t in told for b in built)


def told_driver_older(s: Symptom, r: Reading) -> bool:
    """nvidia-smi names an older CUDA than the one that the PyTorch or TensorFlow named was built for."""
    most = [numbers(v)[:2] for v in r.told.versions.get("driver_cuda", ())]
    rows = [*_builds(s, r), *(find("torch", v, "linux-x86_64") for v in versions_told(r, "torch") if "+" not in v)]
    built = [numbers(row.cuda)[:2] for row in rows if row is not None and isinstance(row.cuda, str)]
    built += _labels(r)
    return bool(most and built) and all(_too_old_for(m, b) for m, b in product(most, built))


def _labels(r: Reading) -> list[tuple[int, ...]]:
    """The CUDA of PyTorch's own builds, by their labels (+cu121), or by conda's package beside them."""
    tags = [tag[1] for v in versions_told(r, "torch") if (tag := re.search(r"\+cu(\d{2,3})$", v))]
    asked = [numbers(one)[:2] for one in re.findall(r"\bcudatoolkit=+(\d+\.\d+)", r.excerpt)]  # of conda
    return [*((int(tag[:-1]), int(tag[-1])) for tag in tags), *asked]


def _too_old_for(driver: tuple[int, ...], built: tuple[int, ...]) -> bool:
    """Since CUDA 11 a driver runs every release of its major."""
    return driver[:1] < built[:1] if built[0] > 10 else driver < built


def native_windows_tf(s: Symptom, r: Reading) -> bool:
    """TensorFlow 2.11 or newer on native Windows."""
    return r.told.os == "windows" and any(
        numbers(v)[:2] >= (2, 11) for v in versions_told(r, "tensorflow", "tensorflow-gpu")
    )


def told_cudnn_unfit(s: Symptom, r: Reading) -> bool:
    """The text names a cuDNN that does not exist for the CUDA named, or not the one that the TensorFlow named needs."""
    told = [_cudnn_release(v) for v in versions_told(r, "cudnn")]
    spans = [CUDA_OF[release[0]] for release in told if release[0] in CUDA_OF]
    cuda = _cuda_told(r)
    if spans and cuda and not _any_within(spans, cuda):
        return True
    built = [numbers(row.cudnn)[:2] for row in _builds(s, r) if isinstance(row.cudnn, str)]
    return bool(told and built) and not any(_serves(t, b) for t, b in product(told, built))


def _cuda_told(r: Reading) -> list[tuple[int, ...]]:
    return [numbers(v)[:2] for v in versions_told(r, "cuda", "nvcc") if len(numbers(v)) > 1]


def _any_within(spans: Iterable[tuple[tuple[int, ...], tuple[int, ...]]], cuda: Sequence[tuple[int, ...]]) -> bool:
    return any(low <= one <= high for (low, high), one in product(spans, cuda))


def _serves(told: tuple[int, ...], built: tuple[int, ...]) -> bool:
    """Whether a cuDNN does for a build: of the same major, and as far as the minor is told not older."""
    return told[0] == built[0] and (len(told) < 2 or told >= built)


def _cudnn_release(version: str) -> tuple[int, ...]:
    """(7, 6) of 7.6.5, of 7605 and of 7600."""
    parts = numbers(version)[:2]
    if parts and parts[0] > 9999:
        return parts[0] // 10000, parts[0] // 100 % 100
    return (parts[0] // 1000, parts[0] // 100 % 10) if parts and parts[0] > 999 else tuple(parts) or (0,)


def told_gpu_newer(s: Symptom, r: Reading) -> bool:
    """The GPU that is named is newer than the CUDA that is named, or than the one that TensorFlow was built for."""
    rows = [row for name in r.told.gpus if (row := gpus.by_name(_GLUED.sub(" ", name)))]
    first = [_first_toolkit(row.capability) for row in rows if row.capability]
    needs = [numbers(version)[:2] for version in first if version]
    cuda = _cuda_told(r)
    cuda += [numbers(row.cuda)[:2] for row in _builds(s, r) if isinstance(row.cuda, str)]
    return bool(needs and cuda) and max(cuda) < min(needs)


def _first_toolkit(capability: str) -> str | None:
    return archs.first_toolkit("8.6" if capability == "8.9" else capability)  # Ada runs Ampere's code


_GLUED = re.compile(r"(?<=tx)(?=\d)|(?<=\d)(?=ti\b|super\b)", re.IGNORECASE)  # RTX3070ti


def drivers_differ(s: Symptom, r: Reading) -> bool:
    """The text gives one version of libcuda and another of the kernel module."""
    library = {_release(o) for o in r.all("tf.libcuda_version")}
    module = {_release(o) for o in r.all("tf.kernel_version", "told.module")}
    return bool(library and module) and library.isdisjoint(module)


def _release(s: Symptom) -> tuple[int, ...]:
    parts = list(numbers(s.get("version")))
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
