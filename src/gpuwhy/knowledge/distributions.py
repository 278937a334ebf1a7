"""Distributions: how each Linux family names the packages that a remedy installs, and the tool that installs them.

The remedies are written for Ubuntu; here they are put into the words of the system that was seen.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from gpuwhy.knowledge.tables import source
from gpuwhy.model import on
from gpuwhy.facts.fact import Source

Family = Literal["ubuntu", "debian", "fedora", "rhel", "arch", "suse", "nixos"]

_FAMILIES: tuple[tuple[Family, str], ...] = (
    ("ubuntu", r"ubuntu|linux mint|pop!_os|elementary|zorin"),
    ("debian", r"debian|devuan|kali|raspbian|proxmox"),
    ("fedora", r"fedora|nobara|bazzite"),
    ("rhel", r"red hat|rhel|centos|rocky|alma|oracle linux|scientific linux|amazon linux"),
    ("arch", r"arch|manjaro|endeavour|garuda|cachyos"),
    ("suse", r"suse|sles"),
    ("nixos", r"nixos"),
)

DRIVER: dict[Family, str] = {
    "ubuntu": "sudo ubuntu-drivers install",
    "debian": "sudo apt install nvidia-driver    # component non-free; Debian 12 has 535, 13 has 550",
    "fedora": "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda    # from RPM Fusion's nonfree repository",
    "rhel": "sudo dnf module install nvidia-driver:latest-dkms"
    " || sudo yum install nvidia-driver-latest-dkms    # the second on 7; on 10: dnf install nvidia-open",
    "arch": "sudo pacman -S nvidia-open nvidia-utils    # cards older than Turing: nvidia-580xx-dkms from the AUR",
    "suse": "sudo zypper install nvidia-open-driver-G06-signed-kmp-default nvidia-compute-utils-G06",
    "nixos": "",
}
NEWEST_DRIVER = on.driver(DRIVER["ubuntu"])
"""The command in fixes and remedies; `put` says it in the words of each family."""
NIXOS_DRIVER = (
    'in configuration.nix: nixpkgs.config.allowUnfree = true; services.xserver.videoDrivers = [ "nvidia" ]; '
    "hardware.graphics.enable = true; hardware.nvidia.open = true (false before Turing); then sudo nixos-rebuild switch"
)
_USED = "installation scripts of public repositories, November 2026"
_OPEN = "openSUSE/SLE 15 SP6 and Leap 15.6, 16: nvidia-open-driver-G06-signed-kmp-default, nvidia-compute-utils-G06"
DRIVER_SOURCES: dict[Family, Source] = {
    "ubuntu": source(_USED, "ubuntu-drivers-common"),
    "debian": source("Debian wiki, NvidiaGraphicsDrivers; packages 535.261.03 (12) and 550.163.01 (13) unpacked"),
    "fedora": source(f"RPM Fusion's howto, as quoted on its list; {_USED}"),
    "rhel": source(
        "Rocky Linux documentation, installing_nvidia_gpu_drivers.md", "8 and 9: the module; 10: nvidia-open"
    ),
    "arch": source("Arch Linux news, December 2025: NVIDIA 590 drops Pascal, main packages become nvidia-open"),
    "suse": source("the packages' maintainer at SUSE, notes on the G06 open driver", _OPEN),
    "nixos": source("NixOS wiki, Nvidia", "services.xserver.videoDrivers, unfree software, hardware.nvidia.open"),
}
"""Where each family's way to the driver stands."""
_INSTALL: dict[Family, str] = {
    "ubuntu": "sudo apt install",
    "debian": "sudo apt install",
    "fedora": "sudo dnf install",
    "rhel": "sudo dnf install",
    "arch": "sudo pacman -S",
    "suse": "sudo zypper install",
    "nixos": "nix-shell -p",
}


class _Names(NamedTuple):
    """One package's name in each family but Debian's own; "" where it has none."""

    fedora: str
    rhel: str
    arch: str
    suse: str
    nixos: str


_PACKAGES: dict[str, _Names] = {
    "build-essential": _Names("gcc gcc-c++ make", "gcc gcc-c++ make", "base-devel", "gcc gcc-c++ make", "gcc gnumake"),
    "ninja-build": _Names("ninja-build", "ninja-build", "ninja", "ninja", "ninja"),
    "cmake": _Names("cmake", "cmake", "cmake", "cmake", "cmake"),
    "python3-dev": _Names("python3-devel", "python3-devel", "python", "python3-devel", "python3"),
    "zlib1g": _Names("zlib-ng-compat", "zlib", "zlib", "libz1", "zlib"),
    "nvidia-container-toolkit": _Names(
        "nvidia-container-toolkit",
        "nvidia-container-toolkit",
        "nvidia-container-toolkit",
        "nvidia-container-toolkit",
        "",
    ),
    "nvidia-cuda-toolkit": _Names("cuda-toolkit", "cuda-toolkit", "cuda", "cuda-toolkit", "cudatoolkit"),
    "cudnn9-cuda-12": _Names("cudnn9-cuda-12", "cudnn9-cuda-12", "cudnn", "libcudnn9-cuda-12", "cudaPackages.cudnn"),
    "cudnn9-cuda-13": _Names("cudnn9-cuda-13", "cudnn9-cuda-13", "cudnn", "libcudnn9-cuda-13", "cudaPackages.cudnn"),
    "libcuda1": _Names(
        "xorg-x11-drv-nvidia-cuda-libs", "nvidia-driver-cuda-libs", "nvidia-utils", "nvidia-compute-G06", ""
    ),
    "linux-headers-$(uname -r)": _Names(
        "kernel-devel-$(uname -r)", "kernel-devel-$(uname -r)", "linux-headers", "kernel-default-devel", ""
    ),
}
_NVIDIA = "NVIDIA CUDA installation guide for Linux: network repositories of Fedora, RHEL and SLES"
_CUDNN = "NVIDIA cuDNN installation guide, Linux: by apt-get or dnf, from NVIDIA's repository"
_CUDNN_HOW = (
    "as installation scripts of public repositories write it: dnf cudnn9-cuda-12 (RHEL 9, AlmaLinux, Fedora), zypper "
    "libcudnn9-cuda-12, pacman cudnn of extra, Nix cudnn of the set cudaPackages; November 2026"
)
PACKAGE_SOURCES: dict[str, Source] = {
    "build-essential": source(_USED, "gcc and make; Arch: the group base-devel"),
    "ninja-build": source(_USED, "ninja-build of Fedora and RHEL (CRB), else ninja"),
    "cmake": source(_USED),
    "python3-dev": source(_USED, "Arch and Nix ship the headers with Python"),
    "zlib1g": source(_USED, "Fedora 40 and newer: zlib-ng-compat"),
    "nvidia-container-toolkit": source("NVIDIA container toolkit installation guide", "apt, dnf, zypper; Arch: extra"),
    "nvidia-cuda-toolkit": source(_NVIDIA, "cuda-toolkit; Arch: cuda in extra; Nix: cudatoolkit"),
    "cudnn9-cuda-12": source(_CUDNN, _CUDNN_HOW),
    "cudnn9-cuda-13": source(_CUDNN, _CUDNN_HOW),
    "libcuda1": source(_USED, "RPM Fusion's cuda-libs, NVIDIA's driver-cuda-libs for RHEL, nvidia-utils, SUSE's G06"),
    "linux-headers-$(uname -r)": source(_NVIDIA, "the headers of the running kernel"),
}
"""Where the names of each row stand."""
_COMPAT = re.compile(r"cuda-compat-[\d-]+")
_LIBRARIES = re.compile(r"libnvidia-compute-\d+")
_APT = re.compile(r"sudo apt(?:-get)? install(?: --only-upgrade)?((?: (?!&&|#)[^\s;&|]+(?: -r\))?)+)")
_WHOLE: dict[str, dict[Family, str]] = {
    "sudo apt install --fix-broken": {
        "fedora": "sudo dnf distro-sync", "rhel": "sudo dnf distro-sync", "arch": "sudo pacman -Syu",
        "suse": "sudo zypper verify", "nixos": "sudo nixos-rebuild switch",
    },
    "sudo dkms autoinstall": {"fedora": "sudo akmods --force"},
    "sudo update-initramfs -u": {
        "fedora": "sudo dracut --force", "rhel": "sudo dracut --force", "suse": "sudo dracut --force",
        "arch": "sudo mkinitcpio -P", "nixos": "sudo nixos-rebuild boot",
    },
}  # fmt: skip


def family_of(distribution: str, like: str = "") -> Family | None:
    """The family of a distribution by its own name ("Rocky Linux 9.4"), else by what it says it is like, the nearest
    first ("rhel centos fedora"); None for one that is not known."""
    told = (distribution, *like.split())
    found = (name for one in told for name, words in _FAMILIES if re.search(words, one, re.IGNORECASE))
    return next(found, None)


def put(command: str, family: Family) -> str | None:
    """A command written for Ubuntu, in the words of a family; None where that family has no such command."""
    command = _TOOLKIT_REPO.sub(_TOOLKIT[family], command) if family in _TOOLKIT else command
    lines = [_line(line, family) for line in command.split("\n")]
    return None if any(line is None for line in lines) else "\n".join(line for line in lines if line is not None)


_BY_HAND = re.compile(r"\bdkms\b|\bmodprobe\b|\bmokutil\b|/etc/modprobe\.d|\bldconfig\b")
"""What NixOS has in its configuration, never by hand."""


_TOOLKIT_REPO = re.compile(
    r"curl -fsSL \S*/libnvidia-container/gpgkey .*?apt-get install -y nvidia-container-toolkit\b"
)
"""NVIDIA's repository of the container toolkit, as Debian's family adds it."""
_RPM = "https://nvidia.github.io/libnvidia-container/stable/rpm/nvidia-container-toolkit.repo"
_BY_DNF = (
    f"curl -s -L {_RPM} | sudo tee /etc/yum.repos.d/nvidia-container-toolkit.repo"
    " && sudo dnf install -y nvidia-container-toolkit"
)
_TOOLKIT: dict[Family, str] = {
    "fedora": _BY_DNF,
    "rhel": _BY_DNF,
    "suse": f"sudo zypper ar {_RPM} && sudo zypper --gpg-auto-import-keys install -y nvidia-container-toolkit",
    "arch": "sudo pacman -S nvidia-container-toolkit",
}


def _line(line: str, family: Family) -> str | None:
    if family == "nixos" and _BY_HAND.search(line):
        return None
    if "ubuntu-drivers" in line:
        return DRIVER[family] or None
    for wanted, instead in _WHOLE.items():
        if wanted in line and family in instead:
            line = line.replace(wanted, instead[family])
    if family == "ubuntu":
        return _FOR_DEBIAN.sub("", line)
    if family in ("rhel", "fedora"):
        line = _FABRIC.sub("sudo dnf install nvidia-fabric-manager-$(cat /sys/module/nvidia/version)", line)
    match = _APT.search(line)
    if match is None:
        return None if family != "debian" and _ANY_APT.search(line) else line
    names = [_name(one, family) for one in re.findall(r"\S*\$\(uname -r\)\S*|\S+", match[1])]
    if not all(names):
        return None
    rest = _FOR_DEBIAN.sub("", line[match.end() :])
    return f"{line[: match.start()]}{_INSTALL[family]} {' '.join(names)}{rest}"


_FABRIC = re.compile(r"sudo apt install [^&\n]*?nvidia-fabricmanager-\$\(cut[^)]*\)(?:=\$\([^)]*\)\S*)?")
_FOR_DEBIAN = re.compile(r" +# Debian: .*")
_ANY_APT = re.compile(r"\bapt(-get)?\b")


def _name(package: str, family: Family) -> str:
    if _LIBRARIES.fullmatch(package):
        package = "libcuda1"
    if family == "debian":
        return "" if _COMPAT.fullmatch(package) else package
    if _COMPAT.fullmatch(package):
        return package if family in ("fedora", "rhel", "suse") else ""
    row = _PACKAGES.get(package)
    if row is None or family == "ubuntu":
        return ""
    return str(getattr(row, family))
