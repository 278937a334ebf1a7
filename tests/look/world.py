"""Small Python environments in a temporary folder, and a machine that has them."""

import base64
import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.system import Offline
from gpuwhy.look.look import Options, look
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.machine import Uname
from tests.formats.made import elf

SITE = "/venv/lib/python3.12/site-packages"
HOME = "/home/user"
HERE = Source("call", "test")
SUBJECTS = ("environment", "frameworks", "installs", "variables")


def shared_object(*needed: str, machine: int = 62, padding: int = 0) -> bytes:
    """A 64-bit ELF library with NEEDED entries, for a processor."""
    data = bytearray(elf(needed, padding=padding))
    struct.pack_into("<H", data, 18, machine)
    return bytes(data)


class FakeMachine(FolderMachine):
    """The files of a folder, as a machine that runs; nothing can be started."""

    home = HOME

    def __init__(self, world: "World") -> None:
        super().__init__(FolderSystem(str(world.root)), world.environ)
        self.world = world
        self.asked: list[tuple[Any, ...]] = []

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        self.asked.append((question, *args))
        if question == "uname":
            return Known(Uname("linux", "6.1", "x86_64"), HERE)
        if question == "offline":
            return Known(Offline("folder"), HERE) if self.world.offline else Absent(HERE)
        if question == "environ" and self.world.environ is None:
            return Unknown("nobody can be asked")
        if question == "call" and args[0] == "compiles":
            return Known(tuple(self._compiled(path) for path in args[1:]), HERE)
        return super().ask(question, *args)

    def _compiled(self, path: str) -> dict[str, str]:
        try:
            compile((self.world.root / path[1:]).read_bytes(), path, "exec")
        except (SyntaxError, ValueError) as error:
            return {"path": path, "wrong": type(error).__name__}
        return {"path": path, "wrong": ""}


class World:
    """Files below a temporary folder, to be looked at as a machine's."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] | None = {"VIRTUAL_ENV": "/venv", "PATH": "/usr/bin"}
        self.offline = False

    def file(self, path: str, content: bytes | str = b"", mode: int = 0o644) -> Path:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        place.chmod(mode)
        return place

    def link(self, path: str, target: str) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def venv(self, prefix: str = "/venv", **keys: str) -> None:
        usual = {"home": "/usr/bin", "version": "3.12.3", "include-system-site-packages": "false"}
        rows = {**usual, **{key.replace("_", "-"): value for key, value in keys.items()}}
        text = "".join(f"{key} = {value}\n" for key, value in rows.items() if value)
        self.file(f"{prefix}/pyvenv.cfg", text)
        self.file(f"{prefix}/bin/python", shared_object(), 0o755)
        folder = f"{prefix}/lib/python3.12/site-packages".lstrip("/")
        (self.root / folder).mkdir(parents=True, exist_ok=True)

    def install(
        self,
        name: str,
        version: str,
        files: dict[str, bytes | str] | None = None,
        requires: Sequence[str] = (),
        site: str = SITE,
    ) -> str:
        """A package with its files and metadata; its metadata folder."""
        folder = f"{site}/{name.replace('-', '_')}-{version}.dist-info"
        asked = "".join(f"Requires-Dist: {line}\n" for line in requires)
        self.file(f"{folder}/METADATA", f"Name: {name}\nVersion: {version}\n{asked}")
        self.file(f"{folder}/INSTALLER", "pip\n")
        rows = []
        for path, content in (files or {}).items():
            written = self.file(f"{site}/{path}", content)
            rows.append(f"{path},sha256={_digest(written)},{written.stat().st_size}")
        self.file(f"{folder}/RECORD", "\n".join([*rows, "../../../bin/tool,sha256=x,3", ""]))
        return folder

    def machine(self) -> FakeMachine:
        return FakeMachine(self)

    def look(self, *only: str, **options: Any) -> Facts:
        """What the looks of these tests see; a look that fails fails the test."""
        facts = look(self.machine(), Options(**options), only or SUBJECTS)
        for subject in only or SUBJECTS:
            record = getattr(facts, subject)
            for field in record.__struct_fields__:
                fact = getattr(record, field)
                failed = isinstance(fact, Unknown) and "gpuwhy failed" in fact.reason
                assert not failed, fact.reason
        return facts


def _digest(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
