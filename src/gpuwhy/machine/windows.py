"""What only a running Windows answers: its version, its registry."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.machine.machine import RegistryKey, Uname

_MACHINES = {"AMD64": "x86_64", "ARM64": "aarch64", "X86": "i386"}
MOST_KEYS = 512  # values or subkeys of one key
MOST_TEXT = 32_768  # PATH may be as long


def uname(environ: Mapping[str, str]) -> Fact[Uname]:
    """Windows by its build number; the processor even where a 32-bit program asks."""
    version: Any = getattr(sys, "getwindowsversion", lambda: None)()
    if version is None:
        return Unknown("uname: this system has none")
    machine = environ.get("PROCESSOR_ARCHITEW6432") or environ.get("PROCESSOR_ARCHITECTURE", "")
    release = f"{version.major}.{version.minor}.{version.build}"
    found = Uname("windows", release, _MACHINES.get(machine.upper(), machine))
    return Known(found, Source("call", "GetVersionEx"))


def registry(key: str) -> Fact[RegistryKey]:
    """One key in the 64-bit view; numbers and lists as text, binary values left out."""
    try:
        import winreg as reg
    except ImportError:
        return Unknown("registry: only Windows has one")
    winreg: Any = reg
    root, _, below = key.partition("/")
    hive = {"HKLM": winreg.HKEY_LOCAL_MACHINE, "HKCU": winreg.HKEY_CURRENT_USER}.get(root)
    if hive is None:
        return Unknown(f"{key}: no such part of the registry")
    source = Source("call", "registry", key)
    access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
    try:
        with winreg.OpenKey(hive, below.replace("/", "\\"), 0, access) as opened:
            return Known(_key(winreg, opened), source)
    except FileNotFoundError:
        return Absent(source)
    except OSError as error:
        return Unknown(f"{key}: {error.strerror}")


def _key(winreg: Any, opened: Any) -> RegistryKey:
    count, size, _ = winreg.QueryInfoKey(opened)
    values = {}
    for number in range(min(size, MOST_KEYS)):
        name, value, _ = winreg.EnumValue(opened, number)
        if isinstance(value, (str, int)):
            values[name] = str(value)[:MOST_TEXT]
        elif isinstance(value, list):
            values[name] = "\n".join(map(str, value))[:MOST_TEXT]
    keys = [winreg.EnumKey(opened, number) for number in range(min(count, MOST_KEYS))]
    return RegistryKey(values, tuple(keys))
