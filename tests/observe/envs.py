"""Small Python environments in a temporary folder, and a machine that has them."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuwhy.host.base import Uname
from gpuwhy.host.root import RootHost
from gpuwhy.model.fact import Fact, Known, Source, Unknown
from gpuwhy.model.facts import Target
from gpuwhy.observe.engine import guarded, place
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.target import LOOKS

SITE = "/venv/lib/python3.12/site-packages"
HERE = Source("call", "test")


def shared_object(*needed: str, machine: int = 62, padding: int = 0) -> bytes:
    """A 64-bit ELF library with the given NEEDED entries: one load segment, one dynamic section."""
    names = b"\0" + b"".join(n.encode() + b"\0" for n in needed)
    offsets, place_ = [], 1
    for name in needed:
        offsets.append(place_)
        place_ += len(name) + 1
    table = 64 + 2 * 56
    rows = [(1, offset) for offset in offsets] + [(5, table), (10, len(names)), (0, 0)]
    dynamic = table + len(names)
    size = dynamic + 16 * len(rows) + padding
    head = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    dyn = struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, 16 * len(rows), 16 * len(rows), 8)
    return head + load + dyn + names + b"".join(struct.pack("<qQ", *row) for row in rows) + bytes(padding)


class Machine(RootHost):
    """A folder tree with an environment, which may also be asked a Python."""

    def __init__(self, root: Path, environ: dict[str, str] | None, pythons: dict[str, Any]) -> None:
        super().__init__(str(root))
        self.environment, self.pythons = environ, pythons

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        if op == "environ" and self.environment is not None:
            return Known(self.environment, HERE)
        if op == "uname":
            return Known(Uname("linux", "6.1", "x86_64"), HERE)
        if op == "python" and args[0] in self.pythons:
            said = self.pythons[args[0]]
            return Unknown(said) if isinstance(said, str) else Known((said,), HERE)
        return super().ask(op, *args)


class World:
    """Files below a temporary folder, to be looked at as another machine's."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] | None = {"VIRTUAL_ENV": "/venv", "PATH": "/usr/bin"}
        self.pythons: dict[str, Any] = {}

    def file(self, path: str, content: bytes | str = b"") -> Path:
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def venv(self, prefix: str = "/venv", **keys: str) -> None:
        config = {"home": "/usr/bin", "version": "3.12.3", "include-system-site-packages": "false"} | keys
        self.file(f"{prefix}/pyvenv.cfg", "".join(f"{k.replace('_', '-')} = {v}\n" for k, v in config.items()))
        self.file(f"{prefix}/bin/python", shared_object())
        (self.root / f"{prefix}/lib/python3.12/site-packages".lstrip("/")).mkdir(parents=True, exist_ok=True)

    def install(
        self,
        name: str,
        version: str,
        files: dict[str, bytes | str] | None = None,
        requires: Sequence[str] = (),
        site: str = SITE,
    ) -> str:
        """Write a distribution with its files, METADATA, INSTALLER and RECORD; return its metadata folder."""
        folder = f"{site}/{name.replace('-', '_')}-{version}.dist-info"
        metadata = f"Name: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires)
        self.file(f"{folder}/METADATA", metadata)
        self.file(f"{folder}/INSTALLER", "pip\n")
        rows = []
        for path, content in (files or {}).items():
            written = self.file(f"{site}/{path}", content)
            rows.append(f"{path},sha256={_digest(written)},{written.stat().st_size}")
        self.file(f"{folder}/RECORD", "\n".join([*rows, "../../../bin/tool,sha256=x,3", ""]))
        return folder

    def look(self, **options: Any) -> Target:
        """Everything the target's looks see."""
        scene = Scene(Machine(self.root, self.environ, self.pythons), Options(**options))
        for one in LOOKS:
            place(scene, one, guarded(scene, one))
        return scene.facts.target


def _digest(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
