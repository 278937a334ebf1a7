"""Places: remedies put into the words of the system that was seen, and none that installs a driver where no GPU is."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from gpuwhy.knowledge.distributions import NIXOS_DRIVER, Family, family_of, put
from gpuwhy.model.cause import Fix
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Shown

_DRIVER = re.compile(r"ubuntu-drivers|modprobe nvidia|dkms|nvidia-driver|akmod|mokutil|libnvidia-compute|libcuda1")
NO_GPU = Fix(
    "This machine has no NVIDIA GPU: let the program use the CPU, or run it on a machine that has one", safe=True
)


def placed(causes: Iterable[Shown], facts: Facts | None) -> tuple[Shown, ...]:
    """The causes, their fixes as this machine can carry them out."""
    if facts is None or value_or(facts.surroundings.system, "") != "linux":
        return tuple(causes)
    family = family_of(value_or(facts.surroundings.distribution, ""))
    nothing = isinstance(gpu_present(facts), Absent) and not isinstance(facts.surroundings.container, Known)
    return tuple(msgspec.structs.replace(one, fixes=_fixes(one, family, nothing)) for one in causes)


def _fixes(cause: Shown, family: Family | None, no_gpu: bool) -> tuple[Fix, ...]:
    fixes = cause.fixes
    if no_gpu and cause.id.startswith("driver.") and any(_DRIVER.search(fix.command) for fix in fixes):
        return (NO_GPU,)
    return tuple(_placed(fix, family) for fix in fixes) if family else fixes


def _placed(fix: Fix, family: Family) -> Fix:
    if not fix.command or not re.search(r"apt|ubuntu-drivers|initramfs", fix.command):
        return fix
    command = put(fix.command, family)
    if command is not None:
        return msgspec.structs.replace(fix, command=command)
    if family == "nixos" and "ubuntu-drivers" in fix.command:
        return msgspec.structs.replace(fix, text=f"{fix.text}: {NIXOS_DRIVER}", command="")
    packages = ", ".join(re.findall(r"install(?: --[\w-]+)* ([^&#\n]+)", fix.command)).strip()
    return msgspec.structs.replace(
        fix, text=f"{fix.text} (Ubuntu calls it {packages}: look for its name here)", command=""
    )
