"""Machines for tests of looks: files below a folder with scripted answers, or answers alone."""

from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.facts.environment import Environment, Files, Package, Python, Site
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, known
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.system import System
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.machine import Machine, Stat, Uname, key_of

KERNEL = "6.8.0-31-generic"
SITE = "/venv/lib/python3.12/site-packages"
RUNNING = Facts(
    system=System(
        machine=known("x86_64", "call", "uname"),
        container=Absent(Source("file", "/.dockerenv")),
        wsl=Absent(Source("call", "uname")),
    )
)


class Made(FolderMachine):
    """Files from `root`; other questions from `answers`, by operation and arguments."""

    def __init__(self, root: Path, **environ: str) -> None:
        super().__init__(FolderSystem(str(root)))
        self.root = str(root)
        self.packages: list[Package] = []
        self.answers: dict[tuple[Any, ...], Fact[Any]] = {
            ("uname",): known(Uname("linux", KERNEL, "x86_64"), "call", "uname"),
            ("environ",): known(environ, "env", "environment"),
            ("call", "nvml"): known((), "call", "nvml"),
            ("call", "nodes"): known((), "call", "nodes"),
            ("stat", "/dev/null"): known(Stat("char", 0, "crw-rw-rw-", 0.0), "file", "/dev/null"),
        }

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        key = (question, *args)
        return self.answers[key] if key in self.answers else super().ask(question, *args)

    def write(self, path: str, text: str | bytes = "", mode: int = 0o644) -> None:
        file = Path(self.root + path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(mode)

    def symlink(self, path: str, target: str) -> None:
        file = Path(self.root + path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)

    def folder(self, path: str) -> None:
        Path(self.root + path).mkdir(parents=True, exist_ok=True)

    def says(self, child: str, *lines: dict[str, Any]) -> None:
        self.answers[("call", child)] = known(tuple(lines), "call", child)

    def wheel(self, name: str, version: str, record: str = "") -> None:
        location = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
        self.packages.append(Package(name, version, location, SITE, Files(record, "all")))

    def facts(self) -> Facts:
        """A venv with the wheels that were written."""
        python = Python("/venv/bin/python", "3.12.1", "/venv", "venv", "VIRTUAL_ENV", "x86_64")
        environment = Environment(
            python=known(python, "file", "/venv"),
            sites=known((Site(SITE, "own"),), "folder", SITE),
            packages=known(tuple(self.packages), "folder", SITE),
        )
        return msgspec.structs.replace(RUNNING, environment=environment)


class Answers(Machine):
    """A Linux machine on the metal; what is not in `answers` is not there."""

    home = "/home/user"

    def __init__(self, **answers: Any) -> None:
        self.answers = {"uname": Uname("linux", KERNEL, "x86_64"), "environ": {}, "kernel_log": ()} | answers

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        key = key_of(question, args)
        text = self.answers.get(f"read {args[0]}") if args else None
        if key not in self.answers and question == "lines" and isinstance(text, str):
            lines = (line for line in text.splitlines() if any(a in line for a in args[1:]))
            return Known(tuple(lines), Source("file", key))
        value = self.answers.get(key)
        if isinstance(value, Unknown):
            return value
        return Absent(Source("file", key)) if value is None else Known(value, Source("file", key))
