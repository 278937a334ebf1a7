"""Image programs: which usual programs the public images do not have, and the packages that bring each of them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.containers import Base
from gpuwhy.knowledge.tables import source
from gpuwhy.model.version import at_least

KNOW = source("the Dockerfiles of the public images", "what they install beside CUDA and Python")
FFMPEG = source("openai/whisper: whisper/audio.py, load_audio; m-bain/whisperX: whisperx/audio.py", "they start ffmpeg")

PACKAGES: dict[str, str] = {
    "git": r"git(-|$)",
    "git-lfs": r"git-lfs$",
    "wget": r"wget$",
    "curl": r"curl$",
    "pip": r"python[\d.]*-pip$|python3-full$|pipx$|py3-pip$|pip$",
    "python": r"python$|python-|python2$",
    "venv": r"python3(\.\d+)?-(venv|full)$|python3?-virtualenv$|virtualenv$",
    "sudo": r"sudo$",
    "add-apt-repository": r"software-properties-common|python\d?-software-properties|apt-add",
    "unzip": r"unzip$|zip$|p7zip",
    "make": r"make$|build-essential|cmake|autoconf|automake|libtool|dkms|python3?-pip|devscripts|ninja|dpkg-dev|r-base",
    "cmake": r"cmake|extra-cmake",
    "gcc": r"gcc|g\+\+|build-essential|clang|cmake|python3?-pip|dkms|devscripts|autoconf|libtool|r-base|gfortran",
    "g++": r"g\+\+|build-essential|clang|cmake|python3?-pip|devscripts|r-base",
    "ffmpeg": r"ffmpeg",
}
"""Program → the packages that bring it, or may: Debian's python3-pip recommends build-essential."""

_FETCHING = frozenset({"git", "wget", "curl", "unzip", "git-lfs"})
_COMPILING = frozenset({"make", "gcc", "g++"})
_NOWHERE = frozenset({"sudo", "add-apt-repository"})
_BARE = _FETCHING | _COMPILING | _NOWHERE | {"cmake", "ffmpeg", "pip", "python", "venv"}
_SLIM = re.compile(r"(docker\.io/)?(library/)?python:\S+-slim")
_FULL = re.compile(
    r"(docker\.io/)?(library/)?python:(3|3\.\d+|3\.\d+\.\d+|latest)(-(bullseye|bookworm|trixie|buster))?$"
)


def lacking(base: Base) -> frozenset[str]:
    """The programs that an image does not have by itself; none where that is not known."""
    if base.windows or base.musl:
        return frozenset()
    if base.family == "python":
        return _of_python(base.name)
    if base.family == "pytorch":
        plain = base.variant == "runtime" and base.version and at_least(base.version, "1.8")
        return frozenset({"git", "wget", "curl", *_COMPILING, *_NOWHERE}) if plain else frozenset()
    known = base.distro_python and not re.search(r"ubi|rocky|ros", base.name)
    if known and base.family in ("cuda", "distro"):
        return _BARE - _COMPILING if base.variant == "devel" else _BARE
    return frozenset()


def _of_python(name: str) -> frozenset[str]:
    if _SLIM.match(name):
        return _BARE - {"pip", "python", "venv"}
    return _NOWHERE | {"cmake", "ffmpeg", "git-lfs"} if _FULL.match(name) else frozenset()


def is_bare(base: Base) -> bool:
    """Whether an image holds little beside Python or CUDA: a slim one of Python's, one of NVIDIA's, a distribution."""
    return {"git", "wget", "unzip"} <= lacking(base)


def is_full(base: Base) -> bool:
    """Whether it is one of Docker's python images that are not slim."""
    return base.family == "python" and bool(_FULL.match(base.name))
