"""Describe: a machine from the words of options; raises BadMachineError with what would do."""

from __future__ import annotations

import difflib
import re

from gpuwhy.choose.demand import PYTHONS, Card, Demand, System, Wanted
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import archs, gpus
from gpuwhy.knowledge.drivers import cuda_of_driver

_ARCHES = {
    **dict.fromkeys(("x86_64", "amd64", "x64", "x86-64"), "x86_64"),
    **dict.fromkeys(("aarch64", "arm64"), "aarch64"),
}
_ON_ARM = re.compile(r"jetson|orin|xavier|thor|tegra|gh200|gb[23]00|gb10|dgx spark")
_NAMED: tuple[System, ...] = ("linux", "windows", "wsl")
_ALIASES = {"": "linux", "win": "windows", "wsl2": "wsl"}


class BadMachineError(ValueError):
    """A part of a description that makes no sense."""


def described(
    packages: tuple[Wanted, ...],
    driver: str = "",
    gpu: tuple[str, ...] = (),
    python: str = "",
    system: str = "",
    arch: str = "",
    glibc: str = "",
    keep: tuple[str, ...] = (),
    manager: str = "",
) -> Demand:
    """A demand for the machine that options describe."""
    cards = tuple(card(name) for name in gpu)
    arm = any(_ON_ARM.search(one.name.lower()) for one in cards)
    return Demand(
        packages,
        system_of(system),
        arch_of(arch or ("aarch64" if arm else "x86_64")),
        python_of(python) if python else "",
        driver_version=driver_of(driver) if driver else "",
        gpus=cards,
        glibc=glibc_of(glibc, system) if glibc else "",
        manager=manager,
        keep=keep_of(keep),
    )


def card(text: str) -> Card:
    """A GPU by name, sm_89 or 8.9."""
    plain = re.fullmatch(r"(?:sm_|compute_)?(\d{1,2})\.?(\d)[af]?", text.strip().lower())
    if plain:
        capability = f"{plain[1]}.{plain[2]}"
        arch = archs.of(capability)
        if arch is None:
            known = ", ".join("sm_" + row.capability.replace(".", "") for row in archs.archs())
            raise BadMachineError(f"--gpu {text}: no such compute capability; known are {known}")
        return Card(f"{'an' if arch.name[0] in 'AEIOU' else 'a'} {arch.name} GPU", capability)
    row = gpus.by_name(text)
    if row and row.capability:
        return Card(row.name.removeprefix("NVIDIA "), row.capability)
    if row:
        raise BadMachineError(f"--gpu {text}: its compute capability is not known; give it: sm_89")
    other = gpus.other_maker(text)
    if other:
        raise BadMachineError(f"--gpu {text}: a GPU of {other[0]}. {other[1]}")
    raise BadMachineError(f"--gpu {text}: {_unknown(text)}")


def _unknown(text: str) -> str:
    chips = next(filter(None, map(gpus.sold_with, text.lower().split())), ())
    if chips:
        either = " or ".join("sm_" + capability.replace(".", "") for capability in chips)
        return f"sold with different chips; give its compute capability, {either}"
    near = difflib.get_close_matches(text.lower(), gpus.names(), 3, 0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "give its compute capability: sm_89"
    return f"no such GPU is known; {hint}"


def driver_of(text: str) -> str:
    """A driver version or branch."""
    if not re.fullmatch(r"\d{3}(\.\d+)*", text):
        raise BadMachineError(f"--driver {text}: expected a driver version: 535 or 535.183.01")
    if cuda_of_driver(text) is None and numbers(text)[0] < 346:
        raise BadMachineError(f"--driver {text}: older than 346, the oldest that is known")
    return text


def python_of(text: str) -> str:
    """A Python's minor version."""
    found = re.fullmatch(r"(3|2)\.(\d{1,2})(\.\d+)?(t?)", text)
    if not found:
        raise BadMachineError(f"--python {text}: expected a version such as 3.12")
    short = f"{found[1]}.{found[2]}"
    if short not in (*PYTHONS, "2.7", "3.4", "3.3"):
        raise BadMachineError(f"--python {text}: no release has a wheel for it")
    return short + found[4]


def system_of(text: str) -> System:
    """An operating system."""
    name = _ALIASES.get(text.lower(), text.lower())
    for one in _NAMED:
        if one == name:
            return one
    apple = gpus.other_maker(text)
    known = apple[1] if apple and apple[0] == "Apple" else "expected linux, windows or wsl"
    raise BadMachineError(f"--os {text}: {known}")


def arch_of(text: str) -> str:
    """A processor, as wheels name it."""
    if text.lower() not in _ARCHES:
        raise BadMachineError(f"--arch {text}: expected x86_64 or aarch64")
    return _ARCHES[text.lower()]


def glibc_of(text: str, system: str = "") -> str:
    """A version of glibc, or musl."""
    if system_of(system) == "windows":
        raise BadMachineError(f"--glibc {text}: Windows has no glibc")
    found = re.fullmatch(r"(?:glibc[ -]?)?(2\.\d{1,2})|(musl)", text.strip().lower())
    if not found:
        raise BadMachineError(f"--glibc {text}: expected a version such as 2.28, or musl")
    return found[1] or found[2]


def keep_of(parts: tuple[str, ...]) -> tuple[str, ...]:
    """What the nearest change must not touch."""
    for part in parts:
        if part not in ("driver", "python"):
            raise BadMachineError(f"--keep {part}: expected driver, python, or driver,python")
    return parts
