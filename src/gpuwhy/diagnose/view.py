"""View: what conditions ask of a Log, each question answered once."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from gpuwhy.causes.load import Catalogue
from gpuwhy.diagnose.libraries import Version, numbers
from gpuwhy.log.case import Figures
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message, Standing

GENERAL = ("title", "python", "signal")
"""Families whose messages say that something fails, and not why."""
_TOLD = {
    "told.cuda": "cuda",
    "told.runtime": "cuda",
    "told.cudnn": "cudnn",
    "told.nvcc": "nvcc",
    "told.driver": "driver",
    "told.smi": "driver",
    "told.module": "module",
    "told.python": "python",
    "told.tf": "tensorflow",
    "told.torch_local": "torch",
    "told.ort": "onnxruntime-gpu",
}
_RUNTIME = re.compile(r"cudart(?:\.so\.(\d|10)\.(\d)|64_(\d|10)(\d))\b(?!\d)", re.IGNORECASE)
_ALIAS = {"pytorch": "torch", "cudatoolkit": "cuda"}
_SIZE = re.compile(r"([\d.]+) ?([KMGT]?)", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class View:
    """A Log with the lookups that conditions need."""

    def __init__(self, log: Log, catalogue: Catalogue) -> None:
        self.log = log
        self.case = log.case
        self.ending = log.ending
        self.catalogue = catalogue

    @cached_property
    def errors(self) -> tuple[Message, ...]:
        """The errors that decide."""
        return tuple(one for one in self.log.messages if one.decides and one.role == "error")

    @cached_property
    def failing(self) -> tuple[Message, ...]:
        """Errors, and what only says that something failed, but for what the program survived."""
        silent = (Standing.NOTED, Standing.QUOTED)
        said = (one for one in self.log.messages if one.role in ("error", "echo"))
        return tuple(one for one in said if one.standing not in silent)

    @cached_property
    def versions(self) -> dict[str, tuple[str, ...]]:
        """Every version that the text states, by package; "cuda", "nvcc", "driver_cuda" … too."""
        found: dict[str, dict[str, None]] = {}
        for name, version in self._versions():
            found.setdefault(_ALIAS.get(name, name), {})[version] = None
        return {name: tuple(all_of) for name, all_of in found.items()}

    def _versions(self) -> Iterator[tuple[str, str]]:
        for told in self.log.all("told.", "harmless.loaded_ok"):
            smi = told.id == "told.cuda" and "driver version" in told.text.lower()
            of_package = told.id == "told.package"
            name = told.get("name").lower() if of_package else _TOLD.get(told.id, "")
            if name and told.get("version") and not smi:
                yield name, told.get("version")
            if told.get("cuda") and told.id == "told.smi":
                yield "driver_cuda", told.get("cuda")
            if opened := _RUNTIME.search(told.get("library")):
                yield "cuda", ".".join(part for part in opened.groups() if part)
        for package in (*self.case.frameworks, *self.case.packages):
            if package.version:
                yield package.name.lower(), package.version

    def stated(self, *names: str) -> list[str]:
        """The versions that the text states of these packages."""
        return [version for name in names for version in self.versions.get(name, ())]

    @cached_property
    def cuda(self) -> list[Version]:
        """The CUDA versions that the text states with their minor."""
        told = (numbers(one)[:2] for one in self.stated("cuda", "nvcc"))
        return [one for one in told if len(one) > 1]

    @cached_property
    def built(self) -> list[Any]:
        """What is known of the TensorFlow and ONNX Runtime releases that the text states."""
        from gpuwhy.knowledge import releases  # its tables take time: only where versions are asked

        os = self.case.os.value if self.case.os else ""
        platform = "windows-x86_64" if os == "windows" else "linux-x86_64"
        rows = [
            releases.find(name, version, platform)
            for names in (("tensorflow", "tensorflow-gpu"), ("onnxruntime-gpu",))
            for said in self.stated(*names)
            for version in dict.fromkeys((said, f"{said}.0" if said.count(".") == 1 else said))
            for name in names
        ]
        return [row for row in rows if row is not None]

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Names of files that a listing in the text shows to exist."""
        told = (
            one.get("path") for one in self.log.all("told.file", "told.listed", "loader.resolved")
        )
        paths = (*told, *(one.value for one in self.case.files))
        return tuple(dict.fromkeys(path.rsplit("/", 1)[-1] for path in paths if path))

    @cached_property
    def memory(self) -> Figures:
        """What the text states of memory."""
        return self.case.memory or Figures()

    def within(self, message: Message) -> bool:
        """Whether the ending says it, though it may have been said before."""
        return self.ending.holds(message.line) or (
            message.last > 0 and self.ending.holds(message.last)
        )

    def beside(self, ids: tuple[str, ...], message: Message) -> bool:
        """Whether another message of these ids or families is there."""
        return any(one.id.startswith(ids) and one is not message for one in self.log.messages)


def size(text: str) -> float:
    """The bytes of "2.50 GiB"; -1 where it is no size."""
    match = _SIZE.match(text)
    if not match or not match[1].strip("."):
        return -1
    return float(match[1].rstrip(".") or 0) * _UNIT[match[2].upper()]
