"""Image tags that cannot be pulled: removed by their makers, or never published; each with its source and a date."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import framework_tags
from gpuwhy.knowledge.tables import source


class Tag(msgspec.Struct, frozen=True):
    """Why a tag is not there, what to write instead, and how that is known."""

    text: str
    instead: str
    source: Source
    stale: bool = False  # it can be pulled, and stands still


_GONE: tuple[
    tuple[str, str, str, str], ...
] = (  # versions, what is left, where it was reported, when
    (
        r"([1-9]|10)(\.\d+)*",
        "11.8.0",
        "NVIDIA/nvidia-docker issues 1768 and 1790",
        "July to October 2023",
    ),
    (
        r"11\.0(\.[0-2])?",
        "11.0.3",
        "NVIDIA/nvidia-docker issue 1735, kokkos/kokkos pull request 5509",
        "March 2023",
    ),
    (
        r"11\.1(\.0)?",
        "11.1.1",
        "microsoft/Bringing-Old-Photos-Back-to-Life issue 264",
        "March 2023",
    ),
    (
        r"11\.2(\.[01])?",
        "11.2.2",
        "iterative/cml pull request 1405, NVIDIA/nvidia-docker issue 1763",
        "July 2023",
    ),
    (
        r"11\.3(\.0)?",
        "11.3.1",
        "replicate/cog, pkg/config/cuda_compatibility.json",
        "tags of Docker Hub, May 2026",
    ),
    (
        r"11\.4(\.[0-2])?",
        "11.4.3",
        "openhackathons-org/nways_accelerated_programming issue 14",
        "December 2023",
    ),
    (
        r"11\.5(\.[01])?",
        "11.5.2",
        "replicate/cog, pkg/config/cuda_compatibility.json",
        "tags of Docker Hub, May 2026",
    ),
    (r"11\.6(\.0)?", "11.6.2", "romansavrulin/ffmpeg-cuda-docker issue 3", "December 2024"),
    (
        r"11\.7(\.0)?",
        "11.7.1",
        "EleutherAI/gpt-neox pull request 1014, kuielab/sdx23 issue 5",
        "August 2023",
    ),
)
_NEWEST_PATCH = {"11.3": 1, "11.5": 2, "11.6": 2, "11.7": 1, "11.8": 0, "12.0": 1, "12.1": 1, "12.2": 2, "12.3": 2,
                 "12.4": 1, "12.5": 1, "12.6": 3}  # fmt: skip
_UBUNTUS: dict[str, str] = {
    "11.0.3": "16.04 18.04 20.04", "11.1.1": "16.04 18.04 20.04", "11.2.2": "16.04 18.04 20.04",
    "11.3.1": "16.04 18.04 20.04", "11.4.3": "18.04 20.04", "11.5.2": "18.04 20.04", "11.6.1": "20.04",
    "11.6.2": "18.04 20.04", "11.7.1": "18.04 20.04 22.04", "11.8.0": "18.04 20.04 22.04",
    "12.0.0": "18.04 20.04 22.04", "12.0.1": "18.04 20.04 22.04", "12.1.0": "18.04 20.04 22.04",
    "12.1.1": "18.04 20.04 22.04", "12.2.0": "20.04 22.04", "12.2.2": "20.04 22.04", "12.3.2": "20.04 22.04",
    "12.4.1": "20.04 22.04", "12.5.1": "20.04 22.04", "12.6.0": "20.04 22.04 24.04", "12.6.1": "20.04 22.04 24.04",
    "12.6.2": "20.04 22.04 24.04", "12.6.3": "20.04 22.04 24.04", "12.8.0": "20.04 22.04 24.04",
    "12.8.1": "20.04 22.04 24.04", "12.9.0": "20.04 22.04 24.04", "12.9.1": "20.04 22.04 24.04",
    "13.0.0": "22.04 24.04", "13.0.1": "22.04 24.04", "13.0.2": "22.04 24.04",
}  # fmt: skip
"""CUDA releases that have images with cuDNN, and the Ubuntus of those."""
_WITHOUT_CUDNN = {"12.2.0": "12.2.2", "12.2.1": "12.2.2", "12.3.0": "12.3.2", "12.3.1": "12.3.2", "12.4.0": "12.4.1",
                  "12.5.0": "12.5.1"}  # fmt: skip
_HUB = source(
    "replicate/cog, pkg/config/cuda_compatibility.json", "tags of Docker Hub with cuDNN, May 2026"
)
_RELEASES = source("CUDA Toolkit archive", "every release with its updates")
_CUDNN = source(
    "NVIDIA CUDA images, overview of the tags",
    "cudnn8 up to 12.2, cudnn9 for 12.3, cudnn from 12.4 on",
)
_JUPYTER = re.compile(r"(?:docker\.io/)?jupyter/(\w+-notebook)(?::latest)?")
_QUAY = source(
    "jupyter/docker-stacks, README", "since 2023-10-20 images are only pushed to quay.io"
)
_FROZEN = source(
    "TensorFlow installation guide, Docker", "tags with -py3 ended with 2.1.0, January 2020"
)


def missing(text: str) -> Tag | None:
    """Why an image cannot be pulled by its tag; None where nothing is known against it."""
    path, _, tag = text.partition("@")[0].rpartition(":")
    short = "/".join(path.split("/")[-2:])
    if found := _JUPYTER.fullmatch(text):
        never = found[1] == "pytorch-notebook"
        said = (
            f"Docker Hub has no jupyter/{found[1]}"
            if never
            else "Docker Hub's copy stands still since October 2023"
        )
        return Tag(said, f"quay.io/jupyter/{found[1]} (with a tag)", _QUAY, stale=not never)
    if not path or "$" in text or "{" in text:
        return None
    if short == "nvidia/cuda" and path.split("/")[0] in ("nvidia", "docker.io", "nvcr.io"):
        return _cuda(tag)
    if short == "tensorflow/tensorflow" and re.fullmatch(
        r"latest(-gpu)?-py3(-jupyter)?|(latest-)?devel-gpu-py3", tag
    ):
        return Tag(
            f"tag {tag} stands still since TensorFlow 2.1.0 (January 2020)",
            "a version: 2.1.0 if what it holds is meant, else a newer one",
            _FROZEN,
            stale=True,
        )
    return _of_framework(path, short, tag)


def _of_framework(path: str, short: str, tag: str) -> Tag | None:
    """A tag of a framework's own image, or of NVIDIA's monthly ones, that was never published."""
    monthly = path.startswith("nvcr.io/nvidia/") and path.count("/") == 2
    hub = path.split("/")[0] in (short.split("/")[0], "docker.io")
    name = short.split("/")[-1]
    found = (
        framework_tags.never_of_ngc(name, tag)
        if monthly
        else framework_tags.never(short, tag)
        if hub
        else None
    )
    return Tag(found.text, found.instead, found.source) if found else None


def _cuda(tag: str) -> Tag | None:
    found = re.match(r"(\d+(?:\.\d+)*)(?:-(cudnn\d*))?", tag)
    if not found:
        return None
    version, cudnn = found[1], found[2] or ""
    for pattern, left, where, when in _GONE:
        if re.fullmatch(pattern, version):
            text = f"nvidia/cuda has removed its tags of CUDA {version}"
            return Tag(text, _written(tag, version, left), source(where, when))
    return _never(tag, version, cudnn)


def _never(tag: str, version: str, cudnn: str) -> Tag | None:
    """Numbers and spellings that no tag ever had."""
    parts = numbers(version)
    minor = ".".join(str(n) for n in parts[:2])
    newest = _NEWEST_PATCH.get(minor)
    if newest is not None and len(parts) == 2:
        return Tag(
            f"nvidia/cuda names its tags of CUDA {minor} with three numbers",
            _written(tag, version, f"{minor}.{newest}"),
            _RELEASES,
        )
    if newest is not None and len(parts) == 3 and parts[2] > newest:
        return Tag(
            f"CUDA {version} does not exist: {minor}.{newest} is the last {minor}",
            _written(tag, version, f"{minor}.{newest}"),
            _RELEASES,
        )
    return _unlisted(tag, version, cudnn) or _other_cudnn(tag, version, cudnn)


def _unlisted(tag: str, version: str, cudnn: str) -> Tag | None:
    """An Ubuntu, or cuDNN at all, that a release has no images for."""
    ubuntu = re.search(r"ubuntu(\d\d\.\d\d)", tag)
    listed = _UBUNTUS.get(version, "").split()
    if ubuntu and listed and ubuntu[1] not in listed:
        text = f"nvidia/cuda has CUDA {version} for Ubuntu {' and '.join(listed)} alone"
        return Tag(text, tag.replace(ubuntu[1], listed[-1]), _HUB)
    if cudnn and version in _WITHOUT_CUDNN:
        left = _WITHOUT_CUDNN[version]
        return Tag(
            f"nvidia/cuda has no images of CUDA {version} with cuDNN",
            _written(tag, version, left),
            _HUB,
        )
    return None


def _other_cudnn(tag: str, version: str, cudnn: str) -> Tag | None:
    """cuDNN spelt as other releases have it."""
    parts = numbers(version)
    if cudnn == "cudnn8" and parts[:2] == (12, 3):
        return Tag(
            f"nvidia/cuda has no cudnn8 for CUDA {version}", tag.replace("cudnn8", "cudnn9"), _HUB
        )
    if cudnn == "cudnn8" and parts >= (12, 4):
        return Tag(
            f"nvidia/cuda has no cudnn8 for CUDA {version}", tag.replace("cudnn8", "cudnn"), _CUDNN
        )
    if cudnn == "cudnn" and parts < (12, 4):
        return Tag(
            f"nvidia/cuda says cudnn8 for CUDA {version}", tag.replace("cudnn", "cudnn8"), _CUDNN
        )
    return None


def _written(tag: str, version: str, left: str) -> str:
    """The same tag for another release, where that one has its parts."""
    tag = (
        re.sub(r"-cudnn8?(?=-)", "-cudnn9" if left == "12.3.2" else "-cudnn", tag)
        if left >= "12.3"
        else tag
    )
    return left + tag[len(version) :] if version[:2] == left[:2] and "." in version else left + "-…"
