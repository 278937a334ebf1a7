"""Small inputs for inspect: ELF files and wheels, written by hand or compiled, whole and broken."""

import struct
import zipfile
from pathlib import Path

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.inspect.inspect import inspect
from gpuwhy.inspect.inspected import Inspected
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.machine.windows import folder_machine

METADATA = (
    "Metadata-Version: 2.1\nName: demo\nVersion: 1.2\n"
    "Requires-Dist: numpy\nRequires-Dist: nvidia-cudnn-cu12 (==9.1.0.70)\n\n"
    "Requires-Dist: not-a-header\n"
)
WHEEL = "Wheel-Version: 1.0\nTag: py3-none-linux_x86_64\n"


def elf(needed: tuple[str, ...], soname: str = "", runpath: str = "", padding: int = 0) -> bytes:
    """A 64-bit x86 shared library: `padding` zero bytes, then a dynamic section."""
    strings, offsets = b"\0", {}
    for text in (*needed, soname, runpath):
        if text and text not in offsets:
            offsets[text] = len(strings)
            strings += text.encode() + b"\0"
    table = 64 + 2 * 56
    place = table + len(strings) + padding
    place += -place % 8
    rows = [(1, offsets[name]) for name in needed]
    rows += [(tag, offsets[text]) for tag, text in ((14, soname), (29, runpath)) if text]
    rows += [(5, table), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *row) for row in rows)
    size = place + len(dynamic)
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    )
    loads = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    loads += struct.pack("<IIQQQQQQ", 2, 6, place, place, place, len(dynamic), len(dynamic), 8)
    return (head + loads + strings).ljust(place, b"\0") + dynamic


def wheel(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """A wheel with metadata and some members."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("demo-1.2.dist-info/METADATA", METADATA)
        archive.writestr("demo-1.2.dist-info/WHEEL", WHEEL)
    return path


class UnreadableError(Exception):
    """It could not be inspected."""


def machine_of(environ: dict[str, str], root: str = "") -> Machine:
    """This machine, or a folder as another one, with some variables."""
    return RecordingMachine(folder_machine(root, environ or None) if root else LiveMachine(environ))


def inspected(machine: Machine, path: object, folder: str = "/") -> Inspected:
    """What is found out; raises UnreadableError with the reason."""
    found = inspect(machine, str(path), folder)
    if isinstance(found, Known):
        return found.value
    raise UnreadableError(found.reason if isinstance(found, Unknown) else "not there")
