"""Tags of frameworks' images that were never published: by the releases, and the CUDA that each was built with."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import releases
from gpuwhy.knowledge.tables import source


class Never(msgspec.Struct, frozen=True):
    """What the tag says that no tag has, what to write instead, and how that is known."""

    text: str
    instead: str
    source: Source


_TORCH: dict[str, tuple[str, ...]] = {
    "1.0": ("10.0",), "1.1": ("10.0",), "1.2": ("10.0",), "1.3": ("10.1",), "1.4": ("10.1",), "1.5": ("10.1",),
    "1.6": ("10.1",), "1.7": ("11.0",), "1.8": ("10.2", "11.1"), "1.9": ("10.2", "11.1"), "1.10": ("11.3",),
    "1.11": ("11.3",), "1.12": ("11.3",), "1.13": ("11.6",), "2.0": ("11.7",), "2.1": ("11.8", "12.1"),
    "2.2": ("11.8", "12.1"), "2.3": ("11.8", "12.1"), "2.4": ("11.8", "12.1", "12.4"),
    "2.5": ("11.8", "12.1", "12.4"), "2.6": ("11.8", "12.4", "12.6"), "2.7": ("11.8", "12.6", "12.8"),
    "2.8": ("12.6", "12.8", "12.9"), "2.9": ("12.6", "12.8", "13.0"), "2.10": ("12.6", "12.8", "13.0"),
}  # fmt: skip
"""The CUDA releases that pytorch/pytorch has images of, by the release of PyTorch."""
_CUDNN8, _CUDNN9 = (1, 7), (2, 4)
_HUB = source(
    "tags of pytorch/pytorch on Docker Hub; PyTorch's RELEASE.md",
    "one image for each CUDA of a release",
)
_TF = source(
    "tags of tensorflow/tensorflow on Docker Hub", "a tag for each release; -py3 ended with 2.1.0"
)
_NGC = source(
    "NVIDIA's catalogue of containers, release notes of each framework", "year.month-py3, -tf2-py3"
)
_SERVERS = source(
    "tags on Docker Hub", "vLLM and SGLang write v before the number, Ollama does not"
)
_BITNAMI = source(
    "bitnami/containers issue 83267", "moved to bitnamilegacy, 28 August to 29 September 2025"
)
_PYTHON = source(
    "Docker's official image of Python, supported tags", "bookworm, trixie … of Debian, and alpine"
)
_UBUNTU = r"-(xenial|bionic|focal|jammy|noble)\b"
_MONTHS = 12


def never(short: str, tag: str) -> Never | None:
    """Why a framework's image has no such tag; None where nothing is known against it."""
    if short == "pytorch/pytorch":
        return _pytorch(tag)
    if short == "tensorflow/tensorflow":
        return _tensorflow(tag)
    if re.match(r"bitnami/(pytorch|tensorflow)", short) and tag[:1].isdigit():
        text = "Bitnami took its numbered tags away from Docker Hub in September 2025"
        return Never(text, f"bitnamilegacy/{short.split('/')[-1]}:… (which stands still)", _BITNAMI)
    if short in ("python", "library/python") and (code := re.search(_UBUNTU, tag)):
        return Never(
            "Docker's python images are built on Debian, not on Ubuntu",
            tag.replace(code[0], ""),
            _PYTHON,
        )
    if short in ("vllm/vllm-openai", "lmsysorg/sglang") and re.match(r"\d+\.\d+\.\d+", tag):
        return Never(f"the tags of {short} begin with v", f"v{tag}", _SERVERS)
    if short == "ollama/ollama" and re.match(r"v\d", tag):
        return Never("the tags of ollama/ollama have no v before the number", tag[1:], _SERVERS)
    return None


def _pytorch(tag: str) -> Never | None:
    found = re.match(r"(\d+\.\d+)(\.\d+)?-cuda(\d+(?:\.\d+)?)-cudnn(\d+)", tag)
    built = _TORCH.get(found[1]) if found else None
    if not found or not built:
        return None
    minor, cuda = found[1], found[3]
    if cuda not in built:
        near = max(
            (one for one in built if numbers(one) <= numbers(cuda)), key=numbers, default=built[0]
        )
        text = f"pytorch/pytorch has PyTorch {minor} for CUDA {' and '.join(built)} alone"
        return Never(
            text,
            f"{_version(found)}-cuda{near}-cudnn{_cudnn(minor, near)}{tag[found.end() :]}",
            _HUB,
        )
    wanted = _cudnn(minor, cuda)
    if found[4] != wanted:
        text = f"pytorch/pytorch has PyTorch {minor} for CUDA {cuda} with cuDNN {wanted}"
        return Never(text, f"{_version(found)}-cuda{cuda}-cudnn{wanted}{tag[found.end() :]}", _HUB)
    return None


def _version(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2] or ''}"


def _cudnn(minor: str, cuda: str) -> str:
    own = numbers(minor)
    return "9" if own >= _CUDNN9 else "7" if own < _CUDNN8 or cuda == "10.2" else "8"


def _tensorflow(tag: str) -> Never | None:
    if short := re.fullmatch(r"(2\.\d+)(-gpu)?(-jupyter)?", tag):
        return Never(
            "the tags of tensorflow/tensorflow have three numbers",
            tag.replace(short[1], f"{short[1]}.0"),
            _TF,
        )
    found = re.match(r"(\d+\.\d+\.\d+)(?![\w.])", tag)
    if not found:
        return None
    version = found[1]
    found_rows = releases.family("tensorflow")
    known = {row.version for row in found_rows.rows} if found_rows else set()
    stable = sorted((v for v in known if re.fullmatch(r"[2-9]\.\d+\.\d+", v)), key=numbers)
    if (
        version not in stable
        and stable
        and numbers(stable[0]) < numbers(version) < numbers(stable[-1])
    ):
        near = next((v for v in stable if numbers(v) > numbers(version)), stable[-1])
        return Never(f"there is no TensorFlow {version}", near + tag[len(version) :], _TF)
    if "-py3" in tag and numbers(version) >= (2, 2):
        return Never(f"the tags of TensorFlow {version} have no -py3", tag.replace("-py3", ""), _TF)
    return None


def never_of_ngc(name: str, tag: str) -> Never | None:
    """Of NVIDIA's monthly images: a month that there is not, or a spelling that no month had."""
    if name not in ("pytorch", "tensorflow"):
        return None
    if single := re.match(r"(\d\d)\.(\d-\S+)$", tag):
        return Never("the month has two digits", f"{single[1]}.0{single[2]}", _NGC)
    found = re.match(r"(\d\d)\.(\d\d)(-\S+)?$", tag)
    return _monthly(name, tag, found) if found else None


def _monthly(name: str, tag: str, found: re.Match[str]) -> Never | None:
    month, rest = (int(found[1]), int(found[2])), found[3] or ""
    if not 1 <= month[1] <= _MONTHS:
        return Never(f"{found[1]}.{found[2]} is no month", f"{found[1]}.12{rest}", _NGC)
    if not rest and month >= (20, 1):
        end = "-py3" if name == "pytorch" else "-tf2-py3"
        return Never(f"the tags of nvcr.io/nvidia/{name} end in {end}", tag + end, _NGC)
    if name == "tensorflow" and rest.startswith("-tf1") and month > (23, 3):
        return Never("23.03 was the last month with TensorFlow 1", "23.03-tf1-py3", _NGC)
    if name == "tensorflow" and rest == "-py3" and month >= (20, 3):
        return Never(
            "the tags of nvcr.io/nvidia/tensorflow end in -tf1-py3 or -tf2-py3",
            f"{tag[:5]}-tf2-py3",
            _NGC,
        )
    return None
