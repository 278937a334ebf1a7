"""Another machine's files under a folder: a mounted disk, an unpacked image."""

import errno
import os
from typing import Any

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.facts.system import Offline
from gpuwhy.machine.files import Files, FileSystem, resolved
from gpuwhy.machine.live import permitted
from gpuwhy.machine.machine import FILE_QUESTIONS, Machine

CANNOT = "run gpuwhy on that machine"


class FolderSystem(FileSystem):
    """Paths below `root`; links, absolute ones too, never lead out of it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    def place(self, path: str) -> str:
        """Every link resolved inside the root."""
        return self._below(self._resolved(path))

    def target(self, path: str) -> str:
        """The link itself, in its real folder."""
        return os.readlink(self._below(self._resolved(path, last=False)))

    def real(self, path: str) -> str:
        """As a program of that machine would see it."""
        found = self._resolved(path)
        if not os.path.lexists(self._below(found)):
            raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
        return found

    def _resolved(self, path: str, last: bool = True) -> str:
        return resolved(path, self._link, lambda here: os.stat(f"{self.root}{here}/."), last=last)

    def _link(self, path: str) -> str | None:
        here = self._below(path)
        return os.readlink(here) if os.path.islink(here) else None

    def _below(self, path: str) -> str:
        return self.root + path if path != "/" else self.root


class FolderMachine(Machine):
    """Answers file questions; files have no processes, no devices and no environment."""

    called, how = "a folder", CANNOT
    stands_for, known_by = Offline("folder"), Source("folder", "/")

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
            return Known(self.stands_for, self.known_by)
        return Unknown(f"{question}: {self.called} cannot be asked", self.how, "offline")
