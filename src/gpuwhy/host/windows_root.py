"""A Windows disk under a folder: paths are `C:/…`, upper and lower case are alike, links never lead out of it.

Answers give the spelling on disk. A path without a drive is meant on C:, as programs started there would mean it.
"""

from __future__ import annotations

import os
import re
from typing import Any

from gpuwhy.host.alias import Alias
from gpuwhy.host.base import RegistryKey
from gpuwhy.host.hives import Hives
from gpuwhy.host.live import steering
from gpuwhy.host.root import MAX_LINKS, RootHost
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown

_DRIVE = re.compile(r"(?:drive_)?([A-Za-z]):?$", re.IGNORECASE)  # C, c:, drive_c (Wine)
_ABSOLUTE = re.compile(r"(?:/\?\?/|//[?.]/)?([A-Za-z]):(?=/|$)")  # also as junctions write it
_MOST_NAMES = 200_000
_MOST, _MOST_TEXT = 512, 32_768  # values or subkeys of one key, and characters of a value


def drives_of(root: str) -> dict[str, str]:
    """Drive letter → its folder; empty when no Windows lies there."""
    if _is_windows(root):
        return {"C": root}
    drives = {m[1].upper(): f"{root}/{name}" for name in _names(root) if (m := _DRIVE.match(name))}
    return drives if any(map(_is_windows, drives.values())) else {}


def _is_windows(folder: str) -> bool:
    inside = _Folders()
    return os.path.isdir(inside.spelled(inside.spelled(folder, "Windows"), "System32"))


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [item.name for item, _ in zip(found, range(_MOST_NAMES), strict=False)]
    except OSError:
        return []


class _Folders:
    """The names in folders as they are spelled on disk."""

    def __init__(self) -> None:
        self._listed: dict[str, dict[str, str]] = {}

    def spelled(self, folder: str, name: str) -> str:
        """The path of a name in a folder; a name that is not there stays as it was asked."""
        path = f"{folder}/{name}"
        if os.path.lexists(path):
            return path
        if folder not in self._listed:
            self._listed[folder] = {one.casefold(): one for one in sorted(_names(folder), reverse=True)}
        return f"{folder}/{self._listed[folder].get(name.casefold(), name)}"


class WindowsRootHost(RootHost):
    """Answers file questions from the drives of a Windows machine."""

    def __init__(
        self, drives: dict[str, str], environ: dict[str, str] | None = None, alias: Alias | None = None
    ) -> None:
        given = {name.upper(): value for name, value in environ.items()} if environ is not None else None
        super().__init__(next(iter(drives.values())), given, alias)
        self._drives = {letter: os.path.realpath(folder) for letter, folder in drives.items()}
        self._folders = _Folders()
        self._hives = Hives(self._files.hive, lambda folder: self._files.list(folder, ".*"))

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Files as every folder answers them; the registry and the variables from the hives of the disk."""
        if op == "registry":
            found = self._hives.registry(args[0])
            return Known(_hidden(found.value, self.alias), found.source) if isinstance(found, Known) else found
        if op == "environ" and self._environ is None:
            variables = self._hives.environ()
            if isinstance(variables, Known):
                return Known(steering(variables.value, self.alias), variables.source)
        return super().ask(op, *args)

    def _inside(self, path: str) -> str:
        return self._file(self._walk(self.alias.path(path)))

    def _file(self, path: str) -> str:
        """Where a path that was walked lies on this machine."""
        drive = self._drives.get(path[:1])
        if drive is None:
            raise FileNotFoundError(2, "no such drive", path)
        return f"{drive}/{path[3:]}" if path[3:] else drive

    def _walk(self, path: str, links: int = 0) -> str:
        """Resolve every link of a path; the result is `C:/…` in the spelling on disk."""
        drive, rest = _split(path, "C")
        done: list[str] = []
        parts = rest[::-1]
        while parts:
            part = parts.pop()
            if part == "..":
                del done[-1:]
                continue
            folder = self._file(f"{drive}:/{'/'.join(done)}")
            here = self._folders.spelled(folder, part)
            if not os.path.islink(here):
                done.append(here[len(folder) + 1 :])
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(40, "too many levels of symbolic links", path)
            target = os.readlink(here).replace("\\", "/")
            if _ABSOLUTE.match(target) or target.startswith("/"):
                drive, rest = _split(self._unmounted(target), drive)
                done, parts = [], parts + rest[::-1]
            else:
                parts += _parts(target)[::-1]
        return f"{drive}:/{'/'.join(done)}"

    def _unmounted(self, target: str) -> str:
        """A junction as a mounted disk shows it: its target goes through the mount point."""
        for letter, folder in self._drives.items():
            if f"{target}/".startswith(f"{folder}/"):
                return f"{letter}:{target[len(folder) :]}"
        return target

    def _real(self, path: str) -> Fact[str]:
        try:
            found = self._walk(self.alias.path(path))
            there = os.path.lexists(self._file(found))
        except FileNotFoundError:
            return Absent(Source("file", path))
        except (OSError, ValueError) as error:
            return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")
        return Known(self.alias.hide(found), Source("file", path)) if there else Absent(Source("file", path))

    def _link(self, path: str) -> Fact[str]:
        folder, _, name = self.alias.path(path).rpartition("/")
        try:
            here = self._folders.spelled(self._inside(folder or "/"), name)
            target = os.readlink(here).replace("\\", "/")
        except ValueError as error:
            return Unknown(f"{path!r}: {error}")
        except OSError as error:
            return Absent(Source("file", path)) if error.errno in (2, 20, 22) else Unknown(f"{path}: {error.strerror}")
        return Known(self.alias.hide(self._unmounted(target)), Source("file", path))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _split(path: str, drive: str) -> tuple[str, list[str]]:
    """The drive, and the names below it; without a drive, the one that is current."""
    plain = path.replace("\\", "/")
    found = _ABSOLUTE.match(plain)
    if found:
        return found[1].upper(), _parts(plain[found.end() :])
    return drive, _parts(plain)


def _hidden(key: RegistryKey, alias: Alias) -> RegistryKey:
    values = {name: alias.hide(text[:_MOST_TEXT]) for name, text in list(key.values.items())[:_MOST]}
    return RegistryKey(values, tuple(map(alias.hide, key.keys[:_MOST])))


def root_of(folder: str, environ: dict[str, str] | None = None, alias: Alias | None = None) -> RootHost:
    """The host for a folder: a Windows disk where there is one, else a Linux root."""
    drives = drives_of(os.path.realpath(folder))
    return WindowsRootHost(drives, environ, alias) if drives else RootHost(folder, environ, alias)
