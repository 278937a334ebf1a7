"""Gone from apt: packages that people still ask for, and the first release of the distribution without them."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from gpuwhy.knowledge.tables import source

KNOW = source(
    "the package lists of Ubuntu's and Debian's archives, with updates and security, 18 November 2026",
    "no such name, nor one that a single package provides; `python` images without a code name are Debian 13",
)


class Gone(msgspec.Struct, frozen=True):
    """A package: the first Ubuntu and the first Debian without it ('' = not known), and what to take instead."""

    ubuntu: str
    debian: int
    instead: str


GONE: dict[str, Gone] = {
    "python-pip": Gone("20.04", 11, "python3-pip"),
    **{
        f"python{part}": Gone("22.04", 12, f"python3{part}")
        for part in (
            "",
            "-dev",
            "-virtualenv",
            "-setuptools",
            "-numpy",
            "-tk",
            "-opencv",
            "-scipy",
            "-matplotlib",
            "-yaml",
            "-six",
            "-wheel",
            "-pil",
            "-h5py",
            "-skimage",
            "-sklearn",
            "-pandas",
            "-nose",
            "-protobuf",
            "-lxml",
        )
    },
    "libgl1-mesa-glx": Gone("24.04", 13, "libgl1"),
    "libegl1-mesa": Gone("24.04", 13, "libegl1"),
    "python3-distutils": Gone("24.04", 13, "python3-setuptools"),
    "libtinfo5": Gone("24.04", 0, "libtinfo6"),
    "libncurses5": Gone("24.04", 0, "libncurses6"),
    "libssl1.1": Gone("22.04", 12, "libssl3"),
    "libasound2": Gone("24.04", 0, "libasound2t64"),
    "libpng12-dev": Gone("18.04", 9, "libpng-dev"),
    "libjasper-dev": Gone("18.04", 9, "nothing: OpenCV builds without it"),
    **{
        name: Gone("", 9, "an nvidia/cuda image: Debian has it in non-free alone, which its images do not ask")
        for name in ("nvidia-cuda-toolkit", "nvidia-cuda-dev", "nvidia-driver", "nvidia-smi", "nvidia-cudnn")
    },
    "libpng12-0": Gone("18.04", 9, "libpng16-16"),
    "libav-tools": Gone("18.04", 10, "ffmpeg"),
    "python-software-properties": Gone("18.04", 9, "software-properties-common"),
    "libgstreamer0.10-dev": Gone("18.04", 9, "libgstreamer1.0-dev"),
    "libcurl3": Gone("20.04", 10, "libcurl4"),
    "libqt4-dev": Gone("20.04", 11, "qtbase5-dev"),
    "qt5-default": Gone("22.04", 11, "qtbase5-dev"),
    "libdc1394-22-dev": Gone("22.04", 12, "libdc1394-dev"),
    "libffi6": Gone("20.04", 11, "libffi8"),
    "libffi7": Gone("22.04", 12, "libffi8"),
    "libtiff5": Gone("24.04", 12, "libtiff6"),
    "netcat": Gone("24.04", 12, "netcat-openbsd"),
    "libatlas-base-dev": Gone("", 13, "libopenblas-dev"),
    "libmysqlclient-dev": Gone("", 10, "default-libmysqlclient-dev"),
    "openjdk-8-jdk": Gone("", 10, "default-jdk"),
    "openjdk-11-jdk": Gone("", 12, "default-jdk"),
    **{
        f"{compiler}-{version}": Gone(ubuntu, 0, f"{compiler}, or one of the PPA ubuntu-toolchain-r/test")
        for version, ubuntu in (("4.8", "20.04"), ("5", "20.04"), ("6", "20.04"), ("7", "22.04"), ("8", "22.04"))
        for compiler in ("gcc", "g++")
    },
    "software-properties-common": Gone("", 13, "nothing, or an image of Debian 12 (…-bookworm)"),
}
_LATEST_UBUNTU, _DEFAULT_DEBIAN = "24.04", 13
_OF_PYTHON = {"4": 9, "5": 10, "6": 11, "7": 12, "8": 12}
"""The Debian of Docker's python images that stand still, by the minor release of their Python 3."""
_CODES = {"stretch": 9, "buster": 10, "bullseye": 11, "bookworm": 12, "trixie": 13}
_WORDS = {"focal": "20.04", "jammy": "22.04", "noble": "24.04"}


def system(image: str) -> tuple[str, str]:
    """The distribution of an image, and its release, as far as packages went away: ('ubuntu', '24.04')."""
    path, _, tag = image.partition("@")[0].rpartition(":")
    path, tag = (path, tag) if path and "/" not in tag else (image, "")
    last = path.rsplit("/", 1)[-1]
    if found := re.search(r"ubuntu-?(\d\d\.\d\d)", tag) or (
        re.match(r"(\d\d\.\d\d)", tag) if last == "ubuntu" else None
    ):
        return "ubuntu", found[1]
    if last == "ubuntu":
        word = next((w for w in _WORDS if tag.startswith(w)), "")
        return ("ubuntu", _WORDS.get(word, "") or (_LATEST_UBUNTU if tag in ("", "latest", "rolling") else ""))
    own = path.removeprefix("docker.io/").removeprefix("library/")
    named = any(word in tag for word in _CODES)
    return _debian(last, tag) if "/" not in own or named else ("", "")  # others' python is not Docker's


def _debian(last: str, tag: str) -> tuple[str, str]:
    code = next((number for word, number in _CODES.items() if word in tag), 0)
    if last == "debian" and not code:
        found = re.match(r"(\d+)", tag)
        code = int(found[1]) if found else _DEFAULT_DEBIAN if tag in ("", "latest", "stable") else 0
    if last == "python" and not code and (found := re.fullmatch(r"(?:3(?:\.(\d+))?(?:\.\d+)?)?-?(slim)?|latest", tag)):
        code = _OF_PYTHON.get(found[1] or "", _DEFAULT_DEBIAN)
        code = 0 if re.match(r"\d+\.\d+\.\d+", tag) else code  # a patch release keeps the Debian of its day
    return ("debian", str(code)) if code else ("", "")


def missing(names: Iterable[str], family: str, release: str) -> dict[str, Gone]:
    """Those of some packages that a release no longer has."""
    rows = {name: GONE[name] for name in names if name in GONE}
    if family == "ubuntu" and release:
        return {n: row for n, row in rows.items() if row.ubuntu and float(release) >= float(row.ubuntu)}
    if family == "debian" and release:
        return {n: row for n, row in rows.items() if row.debian and int(release) >= row.debian}
    return {}
