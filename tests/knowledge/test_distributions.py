"""Remedies in the words of each distribution."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.distributions import (
    _PACKAGES,
    DRIVER,
    DRIVER_SOURCES,
    NEWEST_DRIVER,
    PACKAGE_SOURCES,
    family_of,
    put,
)
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Absent, Known, Source, Unknown
from gpuwhy.model.facts import Devices, Facts, Surroundings
from gpuwhy.model.report import Shown
from gpuwhy.shell.gate import NO_GPU, placed
from gpuwhy.shell.place import place_of

HERE = Source("file", "test")


@pytest.mark.parametrize(
    "name, family",
    [
        ("Ubuntu 24.04.3 LTS", "ubuntu"), ("Linux Mint 22", "ubuntu"), ("Debian GNU/Linux 12 (bookworm)", "debian"),
        ("Fedora Linux 41 (Workstation Edition)", "fedora"), ("Rocky Linux 9.4 (Blue Onyx)", "rhel"),
        ("Red Hat Enterprise Linux 8.10 (Ootpa)", "rhel"), ("AlmaLinux 9.4", "rhel"), ("Arch Linux", "arch"),
        ("openSUSE Tumbleweed", "suse"), ("SUSE Linux Enterprise Server 15 SP5", "suse"),
        ("NixOS 24.05 (Uakari)", "nixos"),
        ("Alpine Linux v3.20", None), ("", None),
    ],
)  # fmt: skip
def test_families(name: str, family: str | None) -> None:
    assert family_of(name) == family


@pytest.mark.parametrize(
    "name, like, family",
    [
        ("LMDE 6 (faye)", "debian", "debian"), ("KDE neon 6.2", "ubuntu debian", "ubuntu"),
        ("Anolis OS 8.9", "rhel fedora centos", "rhel"), ("Artix Linux", "arch", "arch"),
        ("Debian GNU/Linux 12 (bookworm)", "ubuntu", "debian"), ("Gentoo Linux", "", None), ("Solus 4", "solus", None),
    ],
)  # fmt: skip
def test_what_is_like_another(name: str, like: str, family: str | None) -> None:
    """Its own name counts first, then what it says it is like, in that order."""
    assert family_of(name, like) == family
    around = Surroundings(distribution=Known(name, HERE), resembles=Known(like, HERE))
    assert place_of(Facts(surroundings=around)).family == family


@pytest.mark.parametrize(
    "command, family, expected",
    [
        ("sudo apt install build-essential ninja-build", "fedora", "sudo dnf install gcc gcc-c++ make ninja-build"),
        ("sudo apt install build-essential", "arch", "sudo pacman -S base-devel"),
        ("sudo apt install python3-dev", "suse", "sudo zypper install python3-devel"),
        ("sudo apt install zlib1g", "rhel", "sudo dnf install zlib"),
        ("sudo apt install libnvidia-compute-550    # Debian: x", "debian", "sudo apt install libcuda1"),
        ("sudo apt install libnvidia-compute-550    # Debian: x", "ubuntu", "sudo apt install libnvidia-compute-550"),
        ("sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia", "rhel",
         "sudo dnf install kernel-devel-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia"),
        ("sudo apt install cuda-compat-12-4; export LD_LIBRARY_PATH=/x", "rhel",
         "sudo dnf install cuda-compat-12-4; export LD_LIBRARY_PATH=/x"),
        ("sudo apt install g++-11", "fedora", None),
        ("sudo apt install cuda-compat-12-4", "arch", None),
        ("sudo apt install cudnn9-cuda-12", "suse", "sudo zypper install libcudnn9-cuda-12"),
        ("pip install torch", "arch", "pip install torch"),
    ],
)  # fmt: skip
def test_commands(command: str, family: str, expected: str | None) -> None:
    assert put(command, family) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("family", ["debian", "fedora", "rhel", "arch", "suse"])
def test_no_family_is_told_of_ubuntu_s_driver_tool(family: str) -> None:
    said = put("sudo ubuntu-drivers install    # Debian: sudo apt install nvidia-driver", family)  # type: ignore[arg-type]
    assert said is not None
    assert "ubuntu" not in said
    assert "nvidia" in said


def fixes(distribution: str, gpu: bool, *commands: str) -> list[Fix]:
    pci = Known((), HERE) if not gpu else Unknown("not looked at")
    around = Surroundings(
        system=Known("linux", HERE), distribution=Known(distribution, HERE), container=Absent(HERE), wsl=Absent(HERE)
    )
    facts = Facts(surroundings=around, devices=Devices(pci=pci))
    shown = Shown("driver.missing", "t", 0.9, "", (), (), tuple(Fix("Install the driver", c) for c in commands), True)
    return list(placed((shown,), place_of(facts))[0].fixes)


def test_no_driver_where_there_is_no_gpu() -> None:
    assert fixes("Debian GNU/Linux 12", False, NEWEST_DRIVER, on.host("sudo modprobe nvidia")) == [NO_GPU]


def test_what_a_family_lacks_is_said_in_words() -> None:
    (one,) = fixes("Arch Linux", True, "sudo apt install cuda-compat-12-4")
    assert not one.command
    assert "cuda-compat-12-4" in one.text
    (nix,) = fixes("NixOS 24.05", True, NEWEST_DRIVER)
    assert "videoDrivers" in nix.text


def test_every_row_says_where_it_stands() -> None:
    assert DRIVER_SOURCES.keys() == DRIVER.keys()
    assert PACKAGE_SOURCES.keys() == _PACKAGES.keys()
