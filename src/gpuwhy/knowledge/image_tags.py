"""Image tags that cannot be pulled: removed by their makers, or never published."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import releases
from gpuwhy.knowledge.tables import load

_JUPYTER = re.compile(r"(?:docker\.io/)?jupyter/(\w+-notebook)(?::latest)?")
_FROZEN = re.compile(r"latest(-gpu)?-py3(-jupyter)?|(latest-)?devel-gpu-py3")
_UBUNTU = re.compile(r"-(xenial|bionic|focal|jammy|noble)\b")
_PYTORCH = re.compile(r"(?P<version>(?P<minor>\d+\.\d+)(\.\d+)?)-cuda(\d+(?:\.\d+)?)-cudnn(\d+)")
_CUDNN8, _CUDNN9 = (1, 7), (2, 4)
_MONTHS = 12


class Tag(msgspec.Struct, frozen=True):
    """Why a tag does not exist, what to write instead, and how that is known."""

    text: str
    instead: str
    source: Source
    stale: bool = False  # it can be pulled, and stands still


class Table(msgspec.Struct, frozen=True):
    """image_tags.json."""

    gone: tuple[tuple[str, str, Source], ...]  # of nvidia/cuda: versions, what is left
    newest_patch: dict[str, int]
    ubuntus: dict[str, tuple[str, ...]]  # CUDA releases with cuDNN: the Ubuntus of those
    without_cudnn: dict[str, str]
    torch: dict[str, tuple[str, ...]]  # PyTorch's release: the CUDA releases of its images
    sources: dict[str, Source]


def _table() -> Table:
    return load("image_tags.json", Table)


def _tag(text: str, instead: str, source: str, stale: bool = False) -> Tag:
    return Tag(text, instead, _table().sources[source], stale)


def missing(text: str) -> Tag | None:
    """Why an image cannot be pulled by its tag; None where nothing is known against it."""
    if found := _JUPYTER.fullmatch(text):
        instead = f"quay.io/jupyter/{found[1]} (with a tag)"
        if found[1] == "pytorch-notebook":
            return _tag(f"Docker Hub has no jupyter/{found[1]}", instead, "quay")
        return _tag("Docker Hub's copy stands still since October 2023", instead, "quay", True)
    path, _, tag = text.partition("@")[0].rpartition(":")
    if not path or "$" in text or "{" in text:
        return None
    first, short = path.split("/")[0], "/".join(path.split("/")[-2:])
    if short == "nvidia/cuda" and first in ("nvidia", "docker.io", "nvcr.io"):
        return _cuda(tag)
    if short == "tensorflow/tensorflow" and _FROZEN.fullmatch(tag):
        text = f"tag {tag} stands still since TensorFlow 2.1.0 (January 2020)"
        instead = "a version: 2.1.0 if what it holds is meant, else a newer one"
        return _tag(text, instead, "frozen", True)
    if path in ("nvcr.io/nvidia/pytorch", "nvcr.io/nvidia/tensorflow"):
        return _ngc(path.split("/")[-1], tag)
    if first not in (short.split("/")[0], "docker.io"):
        return None
    if short == "pytorch/pytorch":
        return _pytorch(tag)
    return _tensorflow(tag) if short == "tensorflow/tensorflow" else _other(short, tag)


# ---------------------------------------------------------------- nvidia/cuda


def _cuda(tag: str) -> Tag | None:
    found = re.match(r"(\d+(?:\.\d+)*)(?:-(cudnn\d*))?", tag)
    if not found:
        return None
    version, cudnn = found[1], found[2] or ""
    for pattern, left, source in _table().gone:
        if re.fullmatch(pattern, version):
            text = f"nvidia/cuda has removed its tags of CUDA {version}"
            return Tag(text, _written(tag, version, left), source)
    return (
        _unnumbered(tag, version)
        or _unlisted(tag, version, cudnn)
        or _other_cudnn(tag, version, cudnn)
    )


def _unnumbered(tag: str, version: str) -> Tag | None:
    """Two numbers where tags have three, or a patch that does not exist."""
    parts = numbers(version)
    minor = ".".join(str(n) for n in parts[:2])
    newest = _table().newest_patch.get(minor)
    if newest is None:
        return None
    last = f"{minor}.{newest}"
    if len(parts) == 2:
        text = f"nvidia/cuda names its tags of CUDA {minor} with three numbers"
        return _tag(text, _written(tag, version, last), "releases")
    if len(parts) == 3 and parts[2] > newest:
        text = f"CUDA {version} does not exist: {last} is the last {minor}"
        return _tag(text, _written(tag, version, last), "releases")
    return None


def _unlisted(tag: str, version: str, cudnn: str) -> Tag | None:
    """An Ubuntu, or cuDNN at all, that a release has no images for."""
    ubuntu = re.search(r"ubuntu(\d\d\.\d\d)", tag)
    listed = _table().ubuntus.get(version)
    if ubuntu and listed and ubuntu[1] not in listed:
        text = f"nvidia/cuda has CUDA {version} for Ubuntu {' and '.join(listed)} alone"
        return _tag(text, tag.replace(ubuntu[1], listed[-1]), "hub")
    left = _table().without_cudnn.get(version) if cudnn else None
    if left:
        text = f"nvidia/cuda has no images of CUDA {version} with cuDNN"
        return _tag(text, _written(tag, version, left), "hub")
    return None


def _other_cudnn(tag: str, version: str, cudnn: str) -> Tag | None:
    """A cuDNN that is written as other releases have it."""
    new = numbers(version) >= (12, 4)
    if cudnn == "cudnn8" and numbers(version)[:2] == (12, 3):
        text = f"nvidia/cuda has no cudnn8 for CUDA {version}"
        return _tag(text, tag.replace("cudnn8", "cudnn9"), "hub")
    if cudnn == "cudnn8" and new:
        text = f"nvidia/cuda has no cudnn8 for CUDA {version}"
        return _tag(text, tag.replace("cudnn8", "cudnn"), "cudnn")
    if cudnn == "cudnn" and not new:
        text = f"nvidia/cuda says cudnn8 for CUDA {version}"
        return _tag(text, tag.replace("cudnn", "cudnn8"), "cudnn")
    return None


def _written(tag: str, version: str, left: str) -> str:
    """The same tag for another release, where that one has its parts."""
    if left >= "12.3":
        tag = re.sub(r"-cudnn8?(?=-)", "-cudnn9" if left == "12.3.2" else "-cudnn", tag)
    same = version[:2] == left[:2] and "." in version
    return left + tag[len(version) :] if same else left + "-…"


# ---------------------------------------------------------------- frameworks


def _pytorch(tag: str) -> Tag | None:
    found = _PYTORCH.match(tag)
    built = _table().torch.get(found["minor"]) if found else None
    if not found or not built:
        return None
    minor, cuda, cudnn = found["minor"], found[4], found[5]
    older = (one for one in built if numbers(one) <= numbers(cuda))
    near = max(older, key=numbers, default=built[0])
    wanted = _cudnn_of(minor, near)
    instead = f"{found['version']}-cuda{near}-cudnn{wanted}{tag[found.end() :]}"
    if cuda not in built:
        text = f"pytorch/pytorch has PyTorch {minor} for CUDA {' and '.join(built)} alone"
        return _tag(text, instead, "torch")
    if cudnn != wanted:
        text = f"pytorch/pytorch has PyTorch {minor} for CUDA {cuda} with cuDNN {wanted}"
        return _tag(text, instead, "torch")
    return None


def _cudnn_of(minor: str, cuda: str) -> str:
    own = numbers(minor)
    return "9" if own >= _CUDNN9 else "7" if own < _CUDNN8 or cuda == "10.2" else "8"


def _tensorflow(tag: str) -> Tag | None:
    if short := re.fullmatch(r"(2\.\d+)(-gpu)?(-jupyter)?", tag):
        instead = tag.replace(short[1], f"{short[1]}.0")
        return _tag("the tags of tensorflow/tensorflow have three numbers", instead, "tensorflow")
    found = re.match(r"(\d+\.\d+\.\d+)(?![\w.])", tag)
    if not found:
        return None
    version, known = found[1], releases.family("tensorflow")
    every = {row.version for row in known.rows} if known else set()
    stable = sorted((v for v in every if re.fullmatch(r"[2-9]\.\d+\.\d+", v)), key=numbers)
    newer = [one for one in stable if numbers(one) > numbers(version)]
    if version not in stable and newer and numbers(stable[0]) < numbers(version):
        instead = newer[0] + tag[len(version) :]
        return _tag(f"there is no TensorFlow {version}", instead, "tensorflow")
    if "-py3" in tag and numbers(version) >= (2, 2):
        text = f"the tags of TensorFlow {version} have no -py3"
        return _tag(text, tag.replace("-py3", ""), "tensorflow")
    return None


def _ngc(name: str, tag: str) -> Tag | None:
    """Of NVIDIA's monthly images: a month that does not exist, or a spelling that no month had."""
    if single := re.match(r"(\d\d)\.(\d-\S+)$", tag):
        return _tag("the month has two digits", f"{single[1]}.0{single[2]}", "ngc")
    found = re.match(r"(\d\d)\.(\d\d)(-\S+)?$", tag)
    if not found:
        return None
    month, rest = (int(found[1]), int(found[2])), found[3] or ""
    if not 1 <= month[1] <= _MONTHS:
        return _tag(f"{found[1]}.{found[2]} is no month", f"{found[1]}.12{rest}", "ngc")
    if not rest and month >= (20, 1):
        end = "-py3" if name == "pytorch" else "-tf2-py3"
        return _tag(f"the tags of nvcr.io/nvidia/{name} end in {end}", tag + end, "ngc")
    if name == "tensorflow" and rest.startswith("-tf1") and month > (23, 3):
        return _tag("23.03 was the last month with TensorFlow 1", "23.03-tf1-py3", "ngc")
    if name == "tensorflow" and rest == "-py3" and month >= (20, 3):
        text = "the tags of nvcr.io/nvidia/tensorflow end in -tf1-py3 or -tf2-py3"
        return _tag(text, f"{tag[:5]}-tf2-py3", "ngc")
    return None


def _other(short: str, tag: str) -> Tag | None:
    if re.match(r"bitnami/(pytorch|tensorflow)", short) and tag[:1].isdigit():
        text = "Bitnami took its numbered tags away from Docker Hub in September 2025"
        instead = f"bitnamilegacy/{short.split('/')[-1]}:… (which stands still)"
        return _tag(text, instead, "bitnami")
    if short in ("python", "library/python") and (code := _UBUNTU.search(tag)):
        text = "Docker's python images are built on Debian, not on Ubuntu"
        return _tag(text, tag.replace(code[0], ""), "python")
    if short in ("vllm/vllm-openai", "lmsysorg/sglang") and re.match(r"\d+\.\d+\.\d+", tag):
        return _tag(f"the tags of {short} begin with v", f"v{tag}", "servers")
    if short == "ollama/ollama" and re.match(r"v\d", tag):
        return _tag("the tags of ollama/ollama have no v before the number", tag[1:], "servers")
    return None
