"""Ended: distributions whose packages have left the servers that their images ask, and what ended with them."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.knowledge.tables import source

ARCHIVES = source(
    "Debian's wiki (DebianReleases, LTS), Ubuntu's release cycle, CentOS' end of life",
    "Debian 10 and older are on archive.debian.org, CentOS 6 to 8 in the vault; November 2026",
)
DEADSNAKES = source("the page of the PPA deadsnakes", "packages for releases of Ubuntu that have not ended")
GET_PIP = source(
    "bootstrap.pypa.io: get-pip.py and its folders by Python", "pip 26.3 asks for Python 3.10; November 2026"
)
PIP_FLOOR = "3.10"
"""The oldest Python that the newest pip takes, and with it get-pip.py without a folder."""

_DEBIAN = {"jessie": 8, "stretch": 9, "buster": 10, "bullseye": 11, "bookworm": 12, "trixie": 13}
_ARCHIVED_DEBIAN = 10
_UBUNTU = {
    "trusty": "14.04", "xenial": "16.04", "bionic": "18.04", "focal": "20.04", "jammy": "22.04", "noble": "24.04",
    "artful": "17.10", "cosmic": "18.10", "disco": "19.04", "eoan": "19.10", "groovy": "20.10", "hirsute": "21.04",
    "impish": "21.10", "kinetic": "22.10", "lunar": "23.04", "mantic": "23.10", "oracular": "24.10", "plucky": "25.04",
}  # fmt: skip
_LONG = ("14.04", "16.04", "18.04", "20.04", "22.04", "24.04", "26.04")
_SHORT_ENDED = "25.04"
_ENDED_UBUNTU = "20.04"


class System(msgspec.Struct, frozen=True):
    """A distribution's release; `archived`: its servers no longer have its packages."""

    family: str  # debian, ubuntu, centos
    release: str
    archived: bool

    @property
    def title(self) -> str:
        """As people call it."""
        return f"{ {'debian': 'Debian', 'ubuntu': 'Ubuntu', 'centos': 'CentOS'}[self.family] } {self.release}"

    @property
    def archive(self) -> str:
        """Where its packages are now."""
        return {"debian": "archive.debian.org", "ubuntu": "old-releases.ubuntu.com", "centos": "vault.centos.org"}[
            self.family
        ]

    @property
    def without_deadsnakes(self) -> bool:
        """Whether the PPA deadsnakes has taken its packages away."""
        return self.family == "ubuntu" and (self.archived or _number(self.release) <= _number(_ENDED_UBUNTU))


def system(image: str) -> System | None:
    """The distribution that an image's name or tag tells; None where it does not."""
    path, _, tag = image.partition("@")[0].rpartition(":")
    if not path:
        path, tag = image, ""
    last = path.rsplit("/", 1)[-1]
    return _ubuntu(last, tag) or _debian(last, tag) or _centos(last, tag)


def _ubuntu(last: str, tag: str) -> System | None:
    named = (
        re.search(r"(?:ubuntu|^)-?(\d\d\.(?:04|10))", tag)
        if last == "ubuntu"
        else re.search(r"ubuntu-?(\d\d\.(?:04|10))", tag)
    )
    word = next((w for w in _UBUNTU if re.search(rf"(^|[-_]){w}([-_]|$)", tag)), "")
    release = named[1] if named else _UBUNTU.get(word, "") or _of_cuda(last, tag)
    if not release:
        return None
    return System("ubuntu", release, release not in _LONG and _number(release) <= _number(_SHORT_ENDED))


def _of_cuda(last: str, tag: str) -> str:
    """The Ubuntu of NVIDIA's old tags that name no distribution: 9.1-cudnn7-devel."""
    found = re.fullmatch(r"(8|9|10)\.\d(-cudnn\d)?-(base|runtime|devel)", tag) if last == "cuda" else None
    return ("18.04" if found[1] == "10" else "16.04") if found else ""


def _debian(last: str, tag: str) -> System | None:
    word = next((w for w in _DEBIAN if re.search(rf"(^|[-_]){w}([-_]|$)", tag)), "")
    number = _DEBIAN.get(word, 0)
    if last == "debian" and (found := re.match(r"(\d+)", tag)):
        number = int(found[1])
    if not word and _is_built_before_bullseye(last, tag):
        return System("debian", "10 or older", True)
    if not number:
        return None
    said = f"{number} ({word})" if word else str(number)
    return System("debian", said, number <= _ARCHIVED_DEBIAN)


_PYTHONS = {"2.7": 18, "3.3": 7, "3.4": 10, "3.5": 10, "3.6": 13, "3.7": 10, "3.8": 10, "3.9": 5}
"""The last release of each Python whose image was made before Debian 11 came in August 2021."""
_ENDED_PYTHONS = ("2.7", "3.3", "3.4", "3.5")
_CONDAS = {"miniconda3": (4, 8), "miniconda": (4, 8), "anaconda3": (2020, 7), "anaconda": (2020, 7)}
"""The same of conda's images, which were made of the newest Debian of their day."""


def _is_built_before_bullseye(last: str, tag: str) -> bool:
    """Whether an image that names no Debian was made when that was 10 or older, and never again."""
    if last == "python" and (found := re.fullmatch(r"(\d\.\d+)(?:\.(\d+))?(?:-slim)?", tag)):
        minor, patch = found[1], found[2]
        return int(patch) <= _PYTHONS.get(minor, -1) if patch else minor in _ENDED_PYTHONS
    dated = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)?", tag) if last in _CONDAS else None
    return dated is not None and (int(dated[1]), int(dated[2])) <= _CONDAS[last]


def _centos(last: str, tag: str) -> System | None:
    found = (
        re.match(r"(?:centos)?([5678])([.-]|$)", tag)
        if last == "centos"
        else re.search(r"centos-?([5678])([.-]|$)", tag)
    )
    return System("centos", found[1], True) if found else None


def _number(release: str) -> float:
    return float(release)
