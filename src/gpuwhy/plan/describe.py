"""Describe: a machine from the words of options; raises BadMachineError with what would do."""

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
_SYSTEMS: dict[str, System] = {
    "": "linux",
    "linux": "linux",
    "windows": "windows",
    "win": "windows",
    "wsl": "wsl",
    "wsl2": "wsl",
}


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
    processor = _ARCHES.get((arch or ("aarch64" if arm else "x86_64")).lower())
    if processor is None:
        raise BadMachineError(f"--arch {arch}: expected x86_64 or aarch64")
    named = _SYSTEMS.get(system.lower())
    if named is None:
        apple = gpus.other_maker(system)
        known = apple[1] if apple and apple[0] == "Apple" else "expected linux, windows or wsl"
        raise BadMachineError(f"--os {system}: {known}")
    if driver and not re.fullmatch(r"\d{3}(\.\d+)*", driver):
        raise BadMachineError(f"--driver {driver}: expected a driver version: 535 or 535.183.01")
    if driver and cuda_of_driver(driver) is None and numbers(driver)[0] < 346:
        raise BadMachineError(f"--driver {driver}: older than 346, the oldest that is known")
    libc = re.fullmatch(r"(?:glibc[ -]?)?(2\.\d{1,2}|musl|)", glibc.strip().lower())
    if glibc and named == "windows":
        raise BadMachineError(f"--glibc {glibc}: Windows has no glibc")
    if libc is None:
        raise BadMachineError(f"--glibc {glibc}: expected a version such as 2.28, or musl")
    return Demand(
        packages,
        named,
        processor,
        python_of(python) if python else "",
        driver_version=driver,
        gpus=cards,
        glibc=libc[1],
        manager=manager,
        keep=keep_of(keep),
    )


def card(text: str) -> Card:
    """A GPU by name, sm_89 or 8.9."""
    plain = re.fullmatch(r"(?:sm_|compute_)?(\d{1,2})\.?(\d)[af]?", text.strip().lower())
    arch = archs.of(f"{plain[1]}.{plain[2]}") if plain else None
    row = gpus.by_name(text)
    if plain and arch:
        name = f"{'an' if arch.name[0] in 'AEIOU' else 'a'} {arch.name} GPU"
        return Card(name, f"{plain[1]}.{plain[2]}")
    if row and row.capability:
        return Card(row.name.removeprefix("NVIDIA "), row.capability)
    if plain:
        known = ", ".join("sm_" + one.capability.replace(".", "") for one in archs.archs())
        why = f"no such compute capability; known are {known}"
    elif row:
        why = "its compute capability is not known; give it: sm_89"
    elif other := gpus.other_maker(text):
        why = f"a GPU of {other[0]}. {other[1]}"
    elif chips := next(filter(None, map(gpus.sold_with, text.lower().split())), ()):
        either = " or ".join("sm_" + capability.replace(".", "") for capability in chips)
        why = f"sold with different chips; give its compute capability, {either}"
    else:
        near = difflib.get_close_matches(text.lower(), gpus.names(), 3, 0.6)
        hint = f"did you mean {', '.join(near)}?" if near else "give its compute capability: sm_89"
        why = f"no such GPU is known; {hint}"
    raise BadMachineError(f"--gpu {text}: {why}")


def python_of(text: str) -> str:
    """A Python's minor version."""
    found = re.fullmatch(r"((?:3|2)\.\d{1,2})(?:\.\d+)?(t?)", text)
    if not found:
        raise BadMachineError(f"--python {text}: expected a version such as 3.12")
    if found[1] not in (*PYTHONS, "2.7", "3.4", "3.3"):
        raise BadMachineError(f"--python {text}: no release has a wheel for it")
    return found[1] + found[2]


def keep_of(parts: tuple[str, ...]) -> tuple[str, ...]:
    """What the nearest change must not touch."""
    for part in parts:
        if part not in ("driver", "python"):
            raise BadMachineError(f"--keep {part}: expected driver, python, or driver,python")
    return parts
