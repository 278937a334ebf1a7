"""Small inputs for inspect: ELF files and wheels, written by hand or compiled, whole and broken."""

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
