"""Windows: what a running one answers, and a disk of one under a folder.

On a disk paths are `C:/…`, upper and lower case are alike, and answers give the spelling on disk. A
path without a drive is meant on C:, as programs started there would mean it. Its registry and
variables are read from its hives.
"""

import errno
import os
import re
import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.formats.hive import Hive, HiveKey, Value
from gpuwhy.machine.files import resolved
from gpuwhy.machine.folder import CANNOT, FolderMachine, FolderSystem
from gpuwhy.machine.live import permitted
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
    if root != "HKLM":
        return Unknown(f"{key}: no such part of the registry")
    source, below = Source("call", "registry", key), below.replace("/", "\\")
    values, access = {}, winreg.KEY_READ | winreg.KEY_WOW64_64KEY
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, below, 0, access) as opened:
            count, size, _ = winreg.QueryInfoKey(opened)
            for number in range(min(size, MOST_KEYS)):
                name, value, _ = winreg.EnumValue(opened, number)
                if isinstance(value, (str, int, list)):
                    lines = value if isinstance(value, list) else [value]
                    values[name] = "\n".join(map(str, lines))[:MOST_TEXT]
            keys = [winreg.EnumKey(opened, number) for number in range(min(count, MOST_KEYS))]
    except FileNotFoundError:
        return Absent(source)
    except OSError as error:
        return Unknown(f"{key}: {error.strerror}")
    return Known(RegistryKey(values, tuple(keys)), source)


# ------------------------------------------------------------ a disk

_DRIVE = r"(?i)(?:drive_)?([A-Za-z]):?$"  # C, c:, drive_c (Wine)
_ABSOLUTE = r"(?:/\?\?/|//[?.]/)?([A-Za-z]):(?=/|$)"  # also as junctions write it
_MOST_NAMES = 200_000
_CONFIG = "C:/Windows/System32/config"
_HIVES = {"SYSTEM": f"{_CONFIG}/SYSTEM", "SOFTWARE": f"{_CONFIG}/SOFTWARE"}
_SYSTEM_VARIABLES = "SYSTEM/CurrentControlSet/Control/Session Manager/Environment"
_ALWAYS = {
    **dict.fromkeys(("SYSTEMROOT", "WINDIR"), "C:/Windows"),
    "SYSTEMDRIVE": "C:",
    **dict.fromkeys(("PROGRAMFILES", "PROGRAMW6432"), "C:/Program Files"),
    **dict.fromkeys(("PROGRAMDATA", "ALLUSERSPROFILE"), "C:/ProgramData"),
    "PUBLIC": "C:/Users/Public",
    "PROGRAMFILES(X86)": "C:/Program Files (x86)",
    "COMMONPROGRAMFILES": "C:/Program Files/Common Files",
}
"""What Windows sets itself, in no hive."""


def drives_of(root: str) -> dict[str, str]:
    """Drive letter → its folder; empty when no Windows lies there."""
    found = ((re.match(_DRIVE, name), name) for name in _names(root))
    drives = {match[1].upper(): f"{root}/{name}" for match, name in found if match}
    for each in ({"C": root}, drives):
        for folder in each.values():
            windows = [name for name in _names(folder) if name.casefold() == "windows"]
            inside = _names(f"{folder}/{windows[0]}") if windows else ()
            if any(name.casefold() == "system32" for name in inside):
                return each
    return {}


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [item.name for item in islice(found, _MOST_NAMES)]
    except OSError:
        return []


class WindowsSystem(FolderSystem):
    """Paths on the drives of a Windows machine; links never lead out of them."""

    def __init__(self, drives: dict[str, str]) -> None:
        super().__init__(next(iter(drives.values())))
        self._drives = {letter: os.path.realpath(folder) for letter, folder in drives.items()}
        self._listed: dict[str, dict[str, str]] = {}

    def target(self, path: str) -> str:
        """The link itself, in its real folder."""
        return self._unmounted(super().target(path))

    def real(self, path: str) -> str:
        """As a program of that machine would see it, in the spelling on disk."""
        found = self._resolved(path)
        here = self._below(found)
        if not os.path.lexists(here):
            raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
        letter = found[1]
        return f"{letter}:/{here[len(self._drives[letter]) + 1 :]}"

    def _resolved(self, path: str, last: bool = True) -> str:
        return resolved(_rooted(path, "C"), self._link, last=last, top=1)

    def _link(self, path: str) -> str | None:
        here = self._below(path)
        if not os.path.islink(here):
            return None
        target = self._unmounted(os.readlink(here))
        absolute = target.startswith("/") or re.match(_ABSOLUTE, target)
        return _rooted(target, path[1]) if absolute else target

    def _below(self, path: str) -> str:
        """Where `/C:/…` lies on this machine; a name that is not there stays as it was asked."""
        _, drive, *names = path.split("/")
        place = self._drives.get(drive[:1])
        if place is None:
            raise FileNotFoundError(errno.ENOENT, "no such drive", path)
        for name in names:
            if not os.path.lexists(f"{place}/{name}"):
                if place not in self._listed:
                    found = sorted(_names(place), reverse=True)
                    self._listed[place] = {one.casefold(): one for one in found}
                name = self._listed[place].get(name.casefold(), name)
            place = f"{place}/{name}"
        return place

    def _unmounted(self, target: str) -> str:
        """A junction as a mounted disk shows it: its target goes through the mount point."""
        target = target.replace("\\", "/")
        for letter, folder in self._drives.items():
            if f"{target}/".startswith(f"{folder}/"):
                return f"{letter}:{target[len(folder) :]}"
        return target


def _rooted(path: str, drive: str) -> str:
    """A path as `/C:/…`; without a drive, on the one that is current."""
    plain = path.replace("\\", "/")
    found = re.match(_ABSOLUTE, plain)
    return f"/{found[1].upper()}:/{plain[found.end() :]}" if found else f"/{drive}:/{plain}"


class WindowsDiskMachine(FolderMachine):
    """Answers file questions from the drives, the registry and the variables from the hives.

    Their keys have the usual names: HKLM/SYSTEM, HKLM/SOFTWARE; those of users are not read.
    """

    def __init__(self, drives: dict[str, str], environ: dict[str, str] | None = None) -> None:
        given = {name.upper(): value for name, value in (environ or {}).items()}
        self._system = WindowsSystem(drives)
        super().__init__(self._system, given if environ is not None else None)
        self._set = ""

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """Files as every folder answers them."""
        if question == "environ" and self._variables is None:
            return self._environ()
        if question != "registry":
            return super().ask(question, *args)
        found = self._key(args[0])
        if not isinstance(found, Known):
            return found
        values = list(found.value.values.items())[:MOST_KEYS]
        shown = {name: one.text[:MOST_TEXT] for name, one in values}
        return Known(RegistryKey(shown, found.value.keys[:MOST_KEYS]), found.source)

    def _environ(self) -> Fact[dict[str, str]]:
        """The variables of every program: the system's own, without those of one user."""
        system = self._key(f"HKLM/{_SYSTEM_VARIABLES}")
        if not isinstance(system, Known):
            return Unknown("the registry of this disk does not tell the variables", CANNOT)
        raw = {name.upper(): one for name, one in system.value.values.items()}
        out = {name: path.replace("/", "\\") for name, path in _ALWAYS.items()}
        out |= {name: one.text for name, one in raw.items()}
        out |= {name: _expanded(one, out) for name, one in raw.items()}
        source = Source("file", f"{_CONFIG}/SYSTEM", "the registry's variables")
        return Known(permitted(out), source)

    def _key(self, key: str) -> Fact[HiveKey]:
        root, _, below = key.partition("/")
        hive, _, rest = below.partition("/")
        path = _HIVES.get(hive.upper()) if root == "HKLM" else None
        if path is None:
            return Unknown(f"{key}: not in a hive of this disk")
        if not isinstance(self._in_hive(path, ""), Known):
            return Unknown(f"{path} cannot be read", CANNOT)
        if not self._set:  # the set of the last start: Select names its number
            chosen = self._in_hive(_HIVES["SYSTEM"], "Select")
            value = chosen.value.values.get("Current") if isinstance(chosen, Known) else None
            number = int(value.text) if value and value.text.isdecimal() else 1
            self._set = f"ControlSet{number:03}"
        return self._in_hive(path, re.sub(r"(?i)^CurrentControlSet(?=/|$)", self._set, rest))

    def _in_hive(self, path: str, key: str) -> Fact[HiveKey]:
        """A key of the hive in a file; Absent where the hive is not there or has no such key."""

        def look(asked: str) -> HiveKey:
            with self._system.open(self._system.place(asked)) as file:
                found = Hive(file.pread).key(key)
            if found is None:
                raise FileNotFoundError(errno.ENOENT, "no such key", key)
            return found

        return self._files.answer(path, look)


def _expanded(value: Value, variables: dict[str, str]) -> str:
    """A value as programs get it: %NAME% replaced, once, where its type says so."""
    if not value.expands:
        return value.text
    known = variables.get
    return re.sub(r"%([^%;]+)%", lambda found: known(found[1].upper(), found[0]), value.text)


def folder_machine(folder: str, environ: dict[str, str] | None = None) -> FolderMachine:
    """The machine for a folder: a Windows disk where there is one, else a Linux root."""
    drives = drives_of(os.path.realpath(folder))
    if drives:
        return WindowsDiskMachine(drives, environ)
    return FolderMachine(FolderSystem(folder), environ)
