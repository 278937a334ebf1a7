"""Conditions on versions that a text tells: whether they fit each other."""

from __future__ import annotations

import re

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
    tags = [tag.group(1) for v in versions_told(r, "torch") if (tag := re.search(r"\+cu(\d{2,3})$", v))]
    built += [(int(tag[:-1]), int(tag[-1])) for tag in tags]
    return bool(most and built) and all(m[:1] < b[:1] if b[0] > 10 else m < b for m in most for b in built)


def native_windows_tf(s: Symptom, r: Reading) -> bool:
    """TensorFlow 2.11 or newer on native Windows."""
    return r.told.os == "windows" and any(
        numbers(v)[:2] >= (2, 11) for v in versions_told(r, "tensorflow", "tensorflow-gpu")
    )


def told_cudnn_unfit(s: Symptom, r: Reading) -> bool:
    """The text names a cuDNN that does not exist for the CUDA named, or not the one that the TensorFlow named needs."""
    told = [_cudnn_release(v) for v in versions_told(r, "cudnn")]
    cuda = [numbers(v)[:2] for v in versions_told(r, "cuda", "nvcc") if len(numbers(v)) > 1]
    spans = [CUDA_OF[t[0]] for t in told if t[0] in CUDA_OF]
    if spans and cuda and not any(low <= c <= high for low, high in spans for c in cuda):
        return True
    built = [numbers(row.cudnn)[:2] for row in _builds(s, r) if isinstance(row.cudnn, str)]
    return bool(told and built) and not any(_serves(t, b) for t in told for b in built)


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
    rows = [gpus.by_name(_GLUED.sub(" ", name)) for name in r.told.gpus]
    first = [
        archs.first_toolkit("8.6" if row.capability == "8.9" else row.capability)  # Ada runs Ampere's code
        for row in rows
        if row is not None and row.capability
    ]
    needs = [numbers(f)[:2] for f in first if f]
    cuda = [numbers(v)[:2] for v in versions_told(r, "cuda", "nvcc") if len(numbers(v)) > 1]
    cuda += [numbers(row.cuda)[:2] for row in _builds(s, r) if isinstance(row.cuda, str)]
    return bool(needs and cuda) and all(c < n for c in cuda for n in needs)


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
