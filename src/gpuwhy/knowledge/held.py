"""Held: which Python, CUDA and packages public images hold, by their names and tags.

A month of NVIDIA's images stands for the release whose development state it was built from.

Read in NVIDIA's release notes (docs.nvidia.com, November 2026): Python 3.6 of PyTorch 19.03, Python 3.5 of TensorFlow
18.05 to 19.02, Python 3.8 of both in 21.05, TensorFlow 1 up to 23.03. The other rows were written from memory of the
same notes and of the images' Dockerfiles; months next to a change say nothing (''), because nobody read them.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from gpuwhy.facts.version import at_least, major_minor
from gpuwhy.knowledge.tables import source

SUPPORT = source(
    "NVIDIA Deep Learning Frameworks support matrix", "Python, CUDA and framework of each month"
)
IMAGES = source("tags and Dockerfiles of the public images", "the Python that each was built with")

_PYTORCH_PYTHON = (("0.4", "3.6"), ("1.4", "3.7"), ("1.11", "3.8"), ("1.12", "3.7"), ("1.13", "3.10"), ("2.4", "3.11"),
                   ("2.10", ""))  # fmt: skip
_TENSORFLOW_PYTHON = (
    ("1.0", "3.5"),
    ("1.13", ""),
    ("1.13.2", "3.6"),
    ("2.7", "3.8"),
    ("2.13", "3.11"),
)
_NGC_PYTHON = (
    (1801, "3.6"),
    (2011, ""),
    (2012, "3.8"),
    (2304, ""),
    (2305, "3.10"),
    (2410, ""),
    (2411, "3.12"),
)
_NGC_TENSORFLOW_PYTHON = ((1801, "3.5"), (1903, ""), (1908, "3.6"))
_NGC_CUDA = ((1801, "9"), (1810, "10"), (2006, "11"), (2301, "12"), (2508, "13"))
_NGC_CUDNN = ((1801, "7"), (2006, "8"), (2404, "9"))
_NGC_TORCH = (
    (1812, "1.0"), (1903, "1.1"), (1907, "1.2"), (1909, "1.3"), (1912, "1.4"), (2003, "1.5"), (2006, "1.6"),
    (2008, "1.7"), (2011, "1.8"), (2103, "1.9"), (2107, "1.10"), (2111, "1.11"), (2203, "1.12"), (2206, "1.13"),
    (2303, "2.0"), (2306, "2.1"), (2311, "2.2"), (2402, "2.3"), (2405, "2.4"), (2408, "2.5"), (2411, "2.6"),
    (2502, "2.7"), (2505, "2.8"), (2509, "2.9"), (2512, ""),
)  # fmt: skip
_LINE = {"32": "3.6", "34": "3.8", "35": "3.8", "36": "3.10"}
"""Jetson's releases (r35) and the Python of their Ubuntu."""

_LATEST = {
    "continuumio/miniconda3": "3.13", "continuumio/anaconda3": "3.13", "condaforge/miniforge3": "3.13",
    "condaforge/mambaforge": "3.12",
}  # fmt: skip
"""Images of conda whose newest tag holds that Python in its base environment."""

LIMITED = 2212
"""From this month on NVIDIA's images of PyTorch keep their packages by a constraints file of pip's."""


def month(tag: str) -> int:
    """23.10-py3 → 2310; 0 where a tag names no month."""
    found = re.match(r"(\d\d)\.(\d\d)(?:\.\d+)?(?:-|$)", tag)
    return int(found[1] + found[2]) if found else 0


def _since(rows: tuple[tuple[int, str], ...], number: int) -> str:
    at = bisect_right([since for since, _ in rows], number)
    return rows[at - 1][1] if at and number else ""


def _of(rows: tuple[tuple[str, str], ...], version: str) -> str:
    found = [value for since, value in rows if at_least(version, since)]
    return found[-1] if found else ""


def pytorch_python(version: str) -> str:
    """The Python of pytorch/pytorch:VERSION-…"""
    return _of(_PYTORCH_PYTHON, version) if version else ""


def tensorflow_python(version: str, tag: str) -> str:
    """The Python of tensorflow/tensorflow:TAG; those before 2.2 say -py3, or hold Python 2."""
    if re.fullmatch(r"(latest|nightly)(-gpu)?(-jupyter)?", tag):
        return "3.11"
    if "py3" in tag and not version:
        return "3.6"
    if not version:
        return ""
    if "py3" not in tag and "jupyter" not in tag and not at_least(version, "2.1"):
        return "2.7"
    return _of(_TENSORFLOW_PYTHON, version)


def ngc(number: int, name: str = "") -> tuple[str, str, str]:
    """Python, CUDA's major and cuDNN's major of a month of NVIDIA's images; TensorFlow's kept Ubuntu 16.04 longer."""
    early = name == "tensorflow" and number < _NGC_PYTHON[1][0]
    python = _since(_NGC_TENSORFLOW_PYTHON if early else _NGC_PYTHON, number)
    return python, _since(_NGC_CUDA, number), _since(_NGC_CUDNN, number)


def ngc_torch(number: int) -> str:
    """The release that a month's PyTorch precedes: 2.2 for 2.2.0a0."""
    return _since(_NGC_TORCH, number)


def jetson(tag: str) -> tuple[str, str]:
    """Python and torch of an l4t image: r35.2.1-pth2.0-py3."""
    line, torch = re.search(r"(?:^|-)r(\d\d)\.", tag), re.search(r"pth(\d+\.\d+)", tag)
    return _LINE.get(line[1], "") if line else "", torch[1] if torch else ""


def latest_python(short: str, tag: str) -> str:
    """The Python of an image of conda without a tag."""
    return _LATEST.get(short, "") if tag in ("", "latest") else ""


_INSTALLERS = (
    ("Anaconda3", (("5.0", "3.6"), ("5.3", "3.7"), ("2018.12", "3.7"), ("2020.07", "3.8"), ("2021.11", "3.9"),
                   ("2023.03", "3.10"), ("2023.07", "3.11"), ("2024.06", "3.12"), ("2025.06", "3.13"))),
    ("Miniconda3", (("4.3", "3.6"), ("4.5.11", "3.7"), ("4.9", "3.8"), ("4.11", "3.9"))),
)  # fmt: skip


def installer_python(name: str, version: str) -> str:
    """The Python that an installer of conda brings: Miniconda3-latest, Miniconda3-py39_4.12.0, Anaconda3-2021.11."""
    if found := re.match(r"py3(\d+)_", version):
        return f"3.{found[1]}"
    if version.startswith("latest") or name in ("Miniforge3", "Mambaforge"):
        return (
            "3.13"
            if version.startswith(("latest", "Linux", "uname")) and name != "Mambaforge"
            else ""
        )
    return _of(dict(_INSTALLERS).get(name, ()), version) if version[:1].isdigit() else ""


def packages(framework: str, version: str, python: str) -> dict[str, str]:
    """What an image for a framework holds beside it, as far as later commands may change or miss it."""
    if not framework or not version:
        return {}
    out = {framework: version if version.count(".") > 1 else f"{version}.0"}
    out |= _companions(out[framework]) if framework == "torch" else {}
    old = framework == "torch" and not at_least(major_minor(version), "2.5")
    if old or (framework == "tensorflow" and not at_least(major_minor(version), "2.18")):
        out["numpy"] = _NUMPY.get(python, "")
    return {name: number for name, number in out.items() if number}


def _companions(torch: str) -> dict[str, str]:
    """torchvision, and from 1.12 on torchaudio, of the same time."""
    major, minor, patch = (int(part) for part in torch.split(".")[:3])
    vision = minor + (15 if major > 1 else 1)
    audio = f"{torch}" if major > 1 else f"0.{minor}.{patch}"
    return {"torchvision": f"0.{vision}.{patch}"} | (
        {"torchaudio": audio} if (major, minor) >= (1, 12) else {}
    )


_NUMPY = {"3.5": "1.18.5", "3.6": "1.19.5", "3.7": "1.21.6", "3.8": "1.22.4", "3.9": "1.26.4", "3.10": "1.26.4",
          "3.11": "1.26.4"}  # fmt: skip
"""A NumPy 1 that an image of that Python may hold: only whether it stays below 2 is asked."""
