"""A machine in a folder: files written below tmp_path, answered by RootHost, with an environment of its own."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.host.base import Uname
from gpuwhy.host.root import RootHost
from gpuwhy.model.fact import Fact, Known, Source, known
from gpuwhy.model.facts import Distribution, Facts, Framework, Interpreter, Surroundings, Target
from gpuwhy.observe.scene import Options, Scene

SITE = "/venv/lib/python3.12/site-packages"


def elf(machine: int = 62, extent: int = 256, size: int | None = None) -> bytes:
    """A little-endian 64-bit shared object without a dynamic section, whose one segment ends at `extent`."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, extent, extent, 4096)
    return (head + segment).ljust(extent if size is None else size, b"\0")[: extent if size is None else size]


class WorldHost(RootHost):
    """RootHost with an environment and a machine."""

    def __init__(self, root: str, environ: dict[str, str]) -> None:
        super().__init__(root)
        self._environ = environ

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        if op == "environ":
            return Known(dict(sorted(self._environ.items())), Source("env", "environment"))
        if op == "uname":
            return known(Uname("linux", "6.1.0", "x86_64"), "call", "uname")
        return super().ask(op, *args)


class World:
    """Writes the files of a machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.distributions: list[Distribution] = []
        self.frameworks: list[Framework] = []
        self.kind = "venv"

    def file(self, path: str, content: bytes | str = b"", mode: int = 0o644) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        place.chmod(mode)

    def link(self, path: str, target: str) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, place)

    def folder(self, path: str) -> None:
        (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def wheel(self, name: str, version: str, record: str = "") -> None:
        location = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
        self.file(f"{location}/RECORD", record)
        self.distributions.append(Distribution(name, version, location, known("pip", "file", location)))

    def framework(self, name: str, version: str = "1.0") -> None:
        nothing = known((), "file", "x")
        fields = dict.fromkeys(("gpu_build", "built_for_cuda", "built_for_cudnn"), known("", "file", "x"))
        self.frameworks.append(
            msgspec.convert(
                {"name": name, "title": name, "distribution": name, "version": version, "path": f"{SITE}/{name}"}
                | {key: msgspec.to_builtins(value) for key, value in fields.items() if key != "gpu_build"}
                | {"gpu_build": msgspec.to_builtins(known(True, "file", "x"))}
                | {key: msgspec.to_builtins(nothing) for key in ("sass", "ptx", "opens")},
                type=Framework,
            )
        )

    def scene(self, **environ: str) -> Scene:
        scene = Scene(WorldHost(str(self.root), environ), Options())
        interpreter = Interpreter("/venv/bin/python", "3.12.1", "/venv", self.kind, "VIRTUAL_ENV", "x86_64")
        scene.facts = Facts(
            surroundings=Surroundings(machine=known("x86_64", "call", "uname")),
            target=Target(
                interpreter=known(interpreter, "file", "/venv"),
                site_packages=known((SITE,), "folder", SITE),
                distributions=known(tuple(self.distributions), "folder", SITE),
                frameworks=known(tuple(self.frameworks), "folder", SITE),
            ),
        )
        return scene
