"""The registry of a Windows that does not run, and the variables that its programs would have, read from its hives."""

from __future__ import annotations

import re
from collections.abc import Callable

from gpuwhy.formats.hive import HiveKey, Value
from gpuwhy.host.base import Entry, RegistryKey
from gpuwhy.model.fact import Fact, Known, Source, Unknown

CONFIG = "C:/Windows/System32/config"
_USERS = "C:/Users"
_HIVES = {"SYSTEM": f"{CONFIG}/SYSTEM", "SOFTWARE": f"{CONFIG}/SOFTWARE"}
_PEOPLE = re.compile(r"(?i)(?!(public|default.*|all users|defaultapppool)$)")
_SYSTEM_VARIABLES = "SYSTEM/CurrentControlSet/Control/Session Manager/Environment"
_NAME = re.compile(r"%([^%;]+)%")
_ALWAYS = {
    "SYSTEMROOT": "C:\\Windows", "WINDIR": "C:\\Windows", "SYSTEMDRIVE": "C:", "PROGRAMFILES": "C:\\Program Files",
    "PROGRAMDATA": "C:\\ProgramData", "ALLUSERSPROFILE": "C:\\ProgramData", "PUBLIC": "C:\\Users\\Public",
    "PROGRAMW6432": "C:\\Program Files", "PROGRAMFILES(X86)": "C:\\Program Files (x86)",
    "COMMONPROGRAMFILES": "C:\\Program Files\\Common Files",
}  # fmt: skip
"""What Windows sets itself, in no hive."""

Ask = Callable[[str, str], Fact[HiveKey]]
"""A key of the hive in a file."""


class Hives:
    """The keys of a disk by their usual names: HKLM/SYSTEM, HKLM/SOFTWARE, HKCU."""

    def __init__(self, ask: Ask, listed: Callable[[str], Fact[tuple[Entry, ...]]]) -> None:
        self._ask, self._listed = ask, listed
        self._set = ""

    def registry(self, key: str) -> Fact[RegistryKey]:
        """One key, its values as text."""
        found = self._key(key)
        if not isinstance(found, Known):
            return found
        values = {name: one.text for name, one in found.value.values.items()}
        return Known(RegistryKey(values, found.value.keys), found.source)

    def environ(self) -> Fact[dict[str, str]]:
        """The variables of a program that this disk's user starts: PATH is the system's, then the user's."""
        system = self._key(f"HKLM/{_SYSTEM_VARIABLES}")
        if not isinstance(system, Known):
            return Unknown("the registry of this disk does not tell the variables", "run gpuwhy on that machine")
        own = self._key("HKCU/Environment")
        theirs = own.value.values if isinstance(own, Known) else {}
        out, raw = _ALWAYS | self._of_user(), _upper(system.value.values) | _upper(_but_path(theirs))
        out |= {name: one.text for name, one in raw.items()}
        out |= {name: expanded(one, out) for name, one in raw.items()}
        mine = _upper(theirs).get("PATH")
        if mine:
            out["PATH"] = ";".join(filter(None, (out.get("PATH", "").rstrip(";"), expanded(mine, out))))
        return Known(out, Source("file", f"{CONFIG}/SYSTEM", "the registry's variables"))

    def _of_user(self) -> dict[str, str]:
        """What Windows sets for the one user of this disk, in no hive: values of his lead into his folder."""
        users = self._users()
        if len(users) != 1:
            return {}
        home = users[0].rpartition("/")[0].replace("/", "\\")
        return {
            "USERPROFILE": home, "HOMEDRIVE": home[:2], "HOMEPATH": home[2:], "USERNAME": home.rpartition("\\")[2],
            "APPDATA": f"{home}\\AppData\\Roaming", "LOCALAPPDATA": f"{home}\\AppData\\Local",
        }  # fmt: skip

    def _key(self, key: str) -> Fact[HiveKey]:
        root, _, below = key.partition("/")
        if root == "HKCU":
            users = self._users()
            return self._ask(users[0], below) if len(users) == 1 else Unknown(f"{key}: {len(users)} users on this disk")
        hive, _, rest = below.partition("/")
        if root != "HKLM" or hive.upper() not in _HIVES:
            return Unknown(f"{key}: not in a hive of this disk")
        path = _HIVES[hive.upper()]
        if not isinstance(self._ask(path, ""), Known):
            return Unknown(f"{path} cannot be read", "run gpuwhy on that machine")
        return self._ask(path, re.sub(r"(?i)^CurrentControlSet(?=/|$)", self._control_set(), rest))

    def _control_set(self) -> str:
        """The set of the last start: Select names its number."""
        if not self._set:
            chosen = self._ask(_HIVES["SYSTEM"], "Select")
            value = chosen.value.values.get("Current") if isinstance(chosen, Known) else None
            self._set = f"ControlSet{int(value.text) if value and value.text.isdecimal() else 1:03}"
        return self._set

    def _users(self) -> list[str]:
        listed = self._listed(_USERS)
        names = [one.name for one in listed.value if _PEOPLE.match(one.name)] if isinstance(listed, Known) else []
        hives = [f"{_USERS}/{name}/NTUSER.DAT" for name in names]
        return [path for path in hives if isinstance(self._ask(path, ""), Known)]


def _upper(values: dict[str, Value]) -> dict[str, Value]:
    return {name.upper(): one for name, one in values.items()}


def _but_path(values: dict[str, Value]) -> dict[str, Value]:
    return {name: one for name, one in values.items() if name.upper() != "PATH"}


def expanded(value: Value, variables: dict[str, str]) -> str:
    """A value as programs get it: %NAME% replaced, once, where its type says so."""
    if not value.expands:
        return value.text
    return _NAME.sub(lambda found: variables.get(found[1].upper(), found[0]), value.text)
