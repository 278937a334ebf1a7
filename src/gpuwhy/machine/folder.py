"""Another machine's files under a folder: a mounted disk, an unpacked image."""

from __future__ import annotations

import errno
import os
from typing import Any

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.facts.system import Offline
from gpuwhy.machine.files import Files, FileSystem
from gpuwhy.machine.live import permitted
from gpuwhy.machine.machine import FILE_QUESTIONS, Machine

MAX_LINKS = 40
CANNOT = "run gpuwhy on that machine"


class FolderSystem(FileSystem):
    """Paths below `root`; links, absolute ones too, never lead out of it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    def place(self, path: str) -> str:
        """Every link resolved inside the root."""
        return self.root + self._walk(path) if path != "/" else self.root

    def target(self, path: str) -> str:
        """The link itself, in its real folder."""
        folder, _, name = path.rpartition("/")
        return os.readlink(f"{self.place(folder or '/')}/{name}")

    def real(self, path: str) -> str:
        """As a program of that machine would see it."""
        found = self._walk(path)
        if not os.path.lexists(self.root + found):
            raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
        return found

    def _walk(self, path: str) -> str:
        """Resolve every link of an absolute path inside the root; the result starts with '/'."""
        done: list[str] = []
        links = 0
        parts = [p for p in reversed(path.split("/")) if p not in ("", ".")]
        while parts:
            part = parts.pop()
            if part == "..":
                os.stat("/".join([self.root, *done, "."]))  # there is no way up from nothing
                del done[-1:]
                continue
            here = "/".join(["", *done, part])
            if os.path.islink(self.root + here):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, "too many levels of symbolic links", path)
                target = os.readlink(self.root + here)
                if target.startswith("/"):
                    done = []
                parts.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
            else:
                done.append(part)
        return "/" + "/".join(done)


class FolderMachine(Machine):
    """Answers file questions; a folder has no processes, devices or environment."""

    def __init__(self, system: FileSystem, environ: dict[str, str] | None = None) -> None:
        self._files = Files(system)
        self._variables = environ

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """Files, and the variables that were given."""
        if question in FILE_QUESTIONS or question in ("link", "real"):
            return self._files.ask(question, args)
        if question == "environ" and self._variables is not None:
            return Known(permitted(self._variables), Source("env", "environment", "as given"))
        if question == "offline":
            return Known(Offline("folder"), Source("folder", "/"))
        return Unknown(f"{question}: a folder cannot be asked", CANNOT, "offline")
