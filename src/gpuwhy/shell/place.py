"""Place: the system and the shell that a printed command is for, by the facts of a machine or by what a text tells."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gpuwhy.knowledge.distributions import Family, family_of
from gpuwhy.knowledge.prompts import WindowsShell, windows_shell
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading
from gpuwhy.shell.boxed import Box, box_of, is_prefixed
from gpuwhy.shell.person import Installer, Rights, installer_of, rights_of
from gpuwhy.shell.pythons import python_told

System = Literal["linux", "windows", "wsl", "macos", "image", ""]
_LIBRARIES = ((".dll", "windows"), (".pyd", "windows"), (".so", "linux"), (".dylib", "macos"))


_LINUX = re.compile(
    r"\(core dumped\)|/lib/python\d\.\d+/(?:site|dist)-packages/"
    r"|(?<![\w.:\\/])/(?:pytorch|opt|root|data|workspace|home|scratch|srv)/\w"
    r"|\bNCCL (?:INFO|WARN)\b|slurmstepd|^srun: |kernel reported version is|\bDSO: \d|^(?:➜|❯) ",
    re.MULTILINE,
)
_THERE = re.compile(r"/lib/python\d\.\d+/(?:site|dist)-packages/")
_HERE = re.compile(r"\\lib\\site-packages|\.dll\b|\.pyd\b", re.IGNORECASE)
_WINDOWS = re.compile(r"Microsoft Windows NT|\bOS: Windows\b")
_MACOS = re.compile(r"/Users/|/opt/homebrew|macosx", re.IGNORECASE)


class Place(msgspec.Struct, frozen=True):
    """Where a command will be typed; "" where that is not known: then it is told for both."""

    system: System = ""
    family: Family | None = None  # of the Linux distribution, where it is known
    no_gpu: bool = False  # this machine has no NVIDIA GPU
    container: bool = False  # the program ran in a container: its driver is the host's
    perhaps_wsl: bool = False  # a text from Linux, which WSL is too
    launcher: Literal["kubernetes", "podman", "singularity", ""] = (
        ""  # what starts containers there, where it is not docker
    )
    python: str = ""  # Windows: the python.exe of a portable or virtual environment that a text is from
    inner: Family | None = None  # of the image's own Linux, where the program ran in a container
    rights: Rights = ""  # what the person may do as root
    installer: Installer = ""  # what installs packages there, where it is neither pip nor conda
    prompt: WindowsShell = ""  # Windows: the shell, where its prompt tells which
    yum: bool = False  # Red Hat's release 7, and what is made of it: no dnf there
    box: Box | None = None  # the container that a text names, where the program ran in one

    @property
    def unix(self) -> bool:
        """Whether its shell is a Unix shell."""
        return self.system in ("linux", "wsl", "macos")


def place_of(facts: Facts | None, reading: Reading | None = None) -> Place:
    """The machine's own; a text from another system decides for itself."""
    told = system_told(reading) if reading else ""
    inside = reading is not None and _of_container(reading)
    if facts is None:
        return _place_told(told, inside, reading) if reading else Place()
    own = system_of(facts)
    if _apart(told, own):
        return Place(told, container=inside)
    here = isinstance(facts.surroundings.container, Known)
    none = isinstance(gpu_present(facts), Absent) and not here
    around = facts.surroundings
    family = family_of(value_or(around.distribution, ""), value_or(around.resembles, ""))
    if reading is None:
        return Place(own, family, none, here, inner=family)
    started = _place_told(told, inside, reading)  # who starts containers and installs packages, the text tells
    inner = started.inner if inside and not here and started.inner else family
    return msgspec.structs.replace(
        started, system=told if not own or told == "wsl" else own, family=family, no_gpu=none,
        container=here or inside, perhaps_wsl=False, inner=inner, rights="", yum=False,
    )  # fmt: skip


_LAUNCHERS: tuple[tuple[Literal["kubernetes", "podman", "singularity"], re.Pattern[str]], ...] = (
    (
        "kubernetes",
        re.compile(
            r"kubectl|kubelet|kubernetes|(?<!/)\bk[38]s\b(?!/)|\bpods?\b|nvidia\.com/gpu: ?\d|\bopenshift\b"
            r"|(?:^|[$#] ?)oc (?:get|exec|describe|logs|adm|project|apply|set|rollout|rsh)\b",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    ("podman", re.compile(r"\bpodman\b", re.IGNORECASE)),
    ("singularity", re.compile(r"\bsingularity\b|\bapptainer\b|\.sif\b", re.IGNORECASE)),
)
_DOCKER = re.compile(
    r"\bdocker(?:-compose)? (?:run|compose|build|logs|exec|ps|info|start|restart)\b|^docker: ", re.MULTILINE
)


def _launcher(reading: Reading) -> Literal["kubernetes", "podman", "singularity", ""]:
    """What a text says to start its containers by; "" for docker, and where it names docker's own commands too."""
    text = "\n".join((*(one.text for one in reading.symptoms), reading.excerpt))
    if _DOCKER.search(text):
        return ""
    return next((name for name, words in _LAUNCHERS if words.search(text)), "")


_SEVEN = re.compile(
    r"\.el7\b|\.amzn2\b|\bAmazon Linux 2\b(?!0)|\b(?:CentOS|Red Hat|RHEL|Scientific Linux)[^\n]{0,40}?[ (]7(?:\.\d|\b)",
    re.IGNORECASE,
)


def _place_told(told: System, inside: bool, reading: Reading) -> Place:
    """The place that a text alone tells of."""
    python = python_told(reading) if told == "windows" else ""
    family, inner = _families_told(reading, inside) if told in ("linux", "") else (None, None)
    rights, installer = _person(told, reading, inside)
    system: System = told or ("linux" if family or rights == "none" else "")
    launcher = _launcher(reading)
    prompt = windows_shell(reading.excerpt) if told == "windows" else ""
    wsl = told == "linux" and rights != "none"
    seven = bool(_SEVEN.search(reading.excerpt))
    box = box_of(reading.excerpt, reading.service) if inside else None
    return Place(system, family, False, inside, wsl, launcher, python, inner, rights, installer, prompt, seven, box)


def _person(told: System, reading: Reading, inside: bool) -> tuple[Rights, Installer]:
    """What the person may do, on Linux; and the tool that has the environment, which Windows and WSL have too."""
    rights = rights_of(reading.excerpt, inside) if told in ("linux", "") else ""
    return rights, installer_of(reading.excerpt)


_FAMILIES: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("rhel", re.compile(
        r"Red Hat|\bRHEL\b|CentOS|Rocky ?Linux|AlmaLinux|(?:Oracle|Amazon|Alibaba Cloud) Linux|\.el[6-9]\b|\.amzn2"
        r"|\bec2-user@",
        re.IGNORECASE,
    )),
    ("fedora", re.compile(r"\bFedora\b|\.fc\d\d\b", re.IGNORECASE)),
    ("arch", re.compile(r"Arch Linux|Manjaro|EndeavourOS|\d-arch\d|\bpacman -S", re.IGNORECASE)),
    ("suse", re.compile(r"openSUSE|SUSE Linux|\bSLES\b|\bzypper ", re.IGNORECASE)),
    ("nixos", re.compile(r"\bNixOS\b|/nix/store/", re.IGNORECASE)),
    ("ubuntu", re.compile(r"ubuntu|linux mint|pop!_os", re.IGNORECASE)),
    ("debian", re.compile(r"\bdebian\b", re.IGNORECASE)),
)  # fmt: skip


_IMAGE = re.compile(
    r"(?<![\w./-])[\w./-]{1,120}:[\w.-]{0,60}(?:ubuntu|debian|bookworm|bullseye|ubi|rocky|alpine|slim)[\w.-]*"
    r"|(?<= )(?:ubuntu|debian|fedora)(?= (?:nvidia-smi|bash|sh)\b)",
    re.IGNORECASE,
)
"""The name of an image: the distribution in it is not the host's."""


def _families_told(reading: Reading, inside: bool) -> tuple[Family | None, Family | None]:
    """The distribution of the machine that a text names, and that of the image; one and the same outside of images."""
    images = " ".join(_IMAGE.findall(reading.excerpt))
    host = _family_told(_IMAGE.sub("", reading.excerpt))
    return (host, _family_told(images)) if inside else (host, host)


def _family_told(text: str) -> Family | None:
    """The distribution that a text names, where it names one only: by name, by its kernel or by its compiler."""
    found = [name for name, words in _FAMILIES if words.search(text)]
    found = [name for name in found if name != "debian"] or found  # Ubuntu's own packages say debian, too
    return found[0] if len(found) == 1 else None


def _apart(told: str, own: str) -> bool:
    """Whether a text is of another system than this one; Linux, WSL and an image are one."""
    return bool(told and own) and told != own and not {told, own} <= {"linux", "wsl", "image"}


def _inside(reading: Reading) -> bool:
    """Whether a text says that it is of a container: in so many words, or by the names that compose writes."""
    return reading.told.container or bool(reading.service) or is_prefixed(reading.excerpt)


def _of_container(reading: Reading) -> bool:
    """Whether a text is of a container, or of the tools that start one."""
    return _inside(reading) or any(one.signature.startswith("container.") for one in reading.symptoms)


def system_of(facts: Facts) -> System:
    """The system of the machine that was observed."""
    around = facts.surroundings
    if isinstance(around.offline, Known) and isinstance(around.container, Known):
        return "image"
    name = value_or(around.system, "")
    if name == "linux":
        return "wsl" if isinstance(around.wsl, Known) else "linux"
    return {"windows": "windows", "darwin": "macos"}.get(name, "")  # type: ignore[return-value]


def _only_watched(reading: Reading) -> bool:
    """Whether a program of Windows only watches one of Linux: the packages' paths are Linux's."""
    there = reading.told.os == "windows" and _THERE.search(reading.excerpt)
    return bool(there) and not _HERE.search(reading.excerpt)


def system_told(reading: Reading) -> System:
    """The system that a text speaks of: in so many words, or by the names of its libraries."""
    if reading.told.os:
        return "linux" if _only_watched(reading) else reading.told.os
    names = [one.get("library").lower() for one in reading.symptoms if one.get("library")]
    for suffix, system in _LIBRARIES:
        if any(name.endswith(suffix) or (suffix == ".so" and ".so." in name) for name in names):
            return system  # type: ignore[return-value]
    if _WINDOWS.search(reading.excerpt):
        return "windows"
    of_linux = _inside(reading) or (_LINUX.search(reading.excerpt) and not _MACOS.search(reading.excerpt))
    return "linux" if of_linux else ""
