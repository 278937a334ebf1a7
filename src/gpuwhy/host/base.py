"""Host: the questions that can be put to a machine, and the table of their answers' types.

Every question goes through `ask(op, *args)`, so that recording, replaying and answering from a folder each override
one method. Answers are Facts: Known with a source, Absent, or Unknown with the reason. Paths in questions and answers
are *aliased* (`~` for the home folder; see alias.py), so a live report and its replay read the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

import msgspec

from gpuwhy.formats.elf import Elf
from gpuwhy.formats.fatbin import GpuCode
from gpuwhy.formats.ldcache import CacheEntry
from gpuwhy.formats.pe import Pe
from gpuwhy.formats.symbols import Versions
from gpuwhy.formats.wheel import Wheel
from gpuwhy.model.fact import Absent, Fact, Known, Unknown


class Entry(msgspec.Struct, frozen=True):
    """One name in a folder."""

    name: str
    kind: Literal["file", "folder", "link", "other"]


class Stat(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stat says of a path, links followed."""

    kind: Literal["file", "folder", "char", "block", "other"]
    size: int
    mode: str  # "crw-rw-rw-"
    mtime: float
    inode: str = ""  # device and inode of a file with several hard links: what tells that two paths are one file
    number: str = ""  # "195:0", major and minor, of a device node


class Output(msgspec.Struct, frozen=True):
    """What a command printed, and how it ended (a negative code is a signal)."""

    code: int
    out: str
    err: str


class Uname(msgspec.Struct, frozen=True):
    """System, kernel release and machine; never the host name."""

    system: str
    release: str
    machine: str


class Disk(msgspec.Struct, frozen=True):
    """Size and free bytes of the file system that holds a path."""

    total: int
    free: int


class Standing(msgspec.Struct, frozen=True):
    """Whether something can be written at a path: what is there, or in the nearest folder above it that exists."""

    exists: bool
    nearest: str
    writable: bool
    read_only: bool
    programs: bool
    total: int
    free: int
    inodes: int


class RegistryKey(msgspec.Struct, frozen=True):
    """One key of the Windows registry: its values as text ("" names the default one) and the names of its subkeys."""

    values: dict[str, str]
    keys: tuple[str, ...]


class Offline(msgspec.Struct, frozen=True):
    """Files that stand for a machine that does not run."""

    kind: Literal["folder", "image", "archive"]
    name: str  # of an image, its name and platform: "python:3.11, linux/amd64"


class SetAtStart(msgspec.Struct, frozen=True):
    """A variable that the start of an image sets anew or unsets, after the image's own ENV."""

    name: str
    before: str
    after: str  # "" = not set
    script: str  # the file; "" = the command in the image's config
    line: int
    words: str  # the statement


class DebPackage(msgspec.Struct, frozen=True):
    """One entry of dpkg's status file."""

    name: str
    version: str
    status: str  # dpkg's word for it: "installed", "half-configured", "config-files" …
    changed: float | None  # Unix time of its file list on disk


_VALUES: Mapping[str, Any] = {
    "read": str,
    "lines": tuple[str, ...],
    "list": tuple[Entry, ...],
    "stat": Stat,
    "link": str,
    "real": str,
    "elf": Elf,
    "pe": Pe,
    "gpu_code": GpuCode,
    "cuda_version": str,
    "holds": tuple[str, ...],
    "matching": tuple[str, ...],
    "unmet": tuple[str, ...],
    "unwritten": tuple[str, ...],
    "altered": tuple[str, ...],
    "versions": Versions,
    "wheel": Wheel,
    "ldcache": tuple[CacheEntry, ...],
    "sha256": str,
    "dpkg": tuple[DebPackage, ...],
    "activated": dict[str, str],
    "sourced": tuple[str, ...],
    "environ": dict[str, str],
    "started": tuple[SetAtStart, ...],
    "registry": RegistryKey,
    "uname": Uname,
    "offline": Offline,
    "disk": Disk,
    "standing": Standing,
    "limit": int,
    "now": float,
    "kernel_log": tuple[str, ...],
    "call": tuple[dict[str, Any], ...],
    "python": tuple[dict[str, Any], ...],
    "run": Output,
}


def answer_type(op: str) -> Any:
    """The type of an operation's answer, for decoding recordings."""
    known: Any = Known
    return Union[known[_VALUES[op]], Absent, Unknown]


def question(op: str, args: Sequence[Any]) -> str:
    """The key of one question in a recording: `read /proc/driver/nvidia/version`."""
    return " ".join([op, *(a if isinstance(a, str) and a and " " not in a else json.dumps(a) for a in args)])


class Host:
    """A machine that answers questions; subclasses say how."""

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Answer one question; never raises for anything the machine does."""
        raise AssertionError(f"{type(self).__name__} answers nothing")

    def hide(self, text: str) -> str:
        """A text from outside (a command-line argument), aliased as this host's answers are."""
        return text

    def path(self, aliased: str) -> str:
        """A path of an answer as the machine itself writes it: `hide` taken back."""
        return aliased

    def read(self, path: str) -> Fact[str]:
        """The text of a small file (at most 4 MiB), bytes that are not UTF-8 written as escapes."""
        return self.ask("read", path)

    def lines(self, path: str, *containing: str) -> Fact[tuple[str, ...]]:
        """The lines of a file that contain one of some plain strings: for large lists such as RECORD."""
        return self.ask("lines", path, *containing)

    def list(self, path: str, match: str = "") -> Fact[tuple[Entry, ...]]:
        """The names in a folder that match a regular expression from their start, sorted."""
        return self.ask("list", path, match)

    def stat(self, path: str) -> Fact[Stat]:
        """Kind, size and mode of a path, links followed; a dangling link is Absent."""
        return self.ask("stat", path)

    def link(self, path: str) -> Fact[str]:
        """Where a symbolic link points, as written; Absent when it is no link."""
        return self.ask("link", path)

    def real(self, path: str) -> Fact[str]:
        """The path after following every link; Absent when it leads nowhere."""
        return self.ask("real", path)

    def elf(self, path: str) -> Fact[Elf]:
        """The summary of an ELF file; Unknown("not ELF …") when it is none."""
        return self.ask("elf", path)

    def pe(self, path: str) -> Fact[Pe]:
        """The summary of a Windows library or program; Unknown("not PE …") when it is none."""
        return self.ask("pe", path)

    def gpu_code(self, path: str, containers: int = 64) -> Fact[GpuCode]:
        """The GPU architectures in the first `containers` fatbins of an ELF or PE file."""
        return self.ask("gpu_code", path, containers)

    def cuda_version(self, path: str) -> Fact[str]:
        """The version of a CUDA library from its own bytes; Absent when they do not tell."""
        return self.ask("cuda_version", path)

    def holds(self, path: str, *texts: str) -> Fact[tuple[str, ...]]:
        """Those of some plain strings that the bytes of a file hold (of its first 64 MB)."""
        return self.ask("holds", path, *texts)

    def matching(self, path: str, match: str) -> Fact[tuple[str, ...]]:
        """The strings of at most 100 bytes in a file that match a pattern, each once (of its first 2 GB)."""
        return self.ask("matching", path, match)

    def unmet(self, path: str, match: str, *providers: str) -> Fact[tuple[str, ...]]:
        """The symbols matching a pattern that a file needs (weak ones aside) and no provider file defines.

        A PE file names the DLL of each symbol: only what it imports from the providers is looked at.
        """
        return self.ask("unmet", path, match, *providers)

    def unwritten(self, record: str, ending: str) -> Fact[tuple[str, ...]]:
        """The files with that ending of a RECORD that are not there, or empty though it has a size; a few."""
        return self.ask("unwritten", record, ending)

    def altered(self, record: str, how: Literal["", "all", "small"] = "") -> Fact[tuple[str, ...]]:
        """'how name' of the modules and libraries of a RECORD that are there and not as installed; a few.

        Those that look untouched by size and time are hashed only where all are to be. "small" asks for modules and
        data instead, each of them hashed, libraries and large files left out.
        """
        return self.ask("altered", record, *([how] if how else []))

    def versions(self, path: str) -> Fact[Versions]:
        """The symbol versions that an ELF file needs and defines, and its build id."""
        return self.ask("versions", path)

    def wheel(self, path: str) -> Fact[Wheel]:
        """The metadata of a wheel file and the summary of every library in it; Unknown when it is none."""
        return self.ask("wheel", path)

    def ldcache(self) -> Fact[tuple[CacheEntry, ...]]:
        """The entries of /etc/ld.so.cache in the loader's order."""
        return self.ask("ldcache")

    def sha256(self, path: str) -> Fact[str]:
        """The hash of a file in RECORD's spelling (urlsafe base64, no padding)."""
        return self.ask("sha256", path)

    def dpkg(self, match: str) -> Fact[tuple[DebPackage, ...]]:
        """The Debian packages whose names match a regular expression from their start, by dpkg's status file."""
        return self.ask("dpkg", match)

    def environ(self) -> Fact[dict[str, str]]:
        """The environment variables that steer the GPU stack; never the others."""
        return self.ask("environ")

    def activated(self, *files: str) -> Fact[dict[str, str]]:
        """What an environment's activation exports of them; from then on all is answered as in a shell that ran it."""
        return self.ask("activated", *files)

    def sourced(self, *files: str) -> Fact[tuple[str, ...]]:
        """What goes wrong where a shell of its own runs an environment's activation: see host/activated.py."""
        return self.ask("sourced", *files)

    def registry(self, key: str) -> Fact[RegistryKey]:
        """One key of the Windows registry: `HKLM/SOFTWARE/NVIDIA Corporation/Global`."""
        return self.ask("registry", key)

    def uname(self) -> Fact[Uname]:
        """System, kernel release, machine."""
        return self.ask("uname")

    def started(self) -> Fact[tuple[SetAtStart, ...]]:
        """Which of the loader's and CUDA's variables the start of an image sets anew; of an image only."""
        return self.ask("started")

    def offline(self) -> Fact[Offline]:
        """What kind of files stand for a machine that does not run; Absent on a running one."""
        return self.ask("offline")

    def disk(self, path: str) -> Fact[Disk]:
        """Size of the file system at a path."""
        return self.ask("disk", path)

    def standing(self, path: str) -> Fact[Standing]:
        """Whether this user can write at a path now, and how much is left there."""
        return self.ask("standing", path)

    def limit(self, name: str) -> Fact[int]:
        """A resource limit ("NOFILE", "MEMLOCK", "AS"); -1 = unlimited."""
        return self.ask("limit", name)

    def now(self) -> Fact[float]:
        """The machine's clock, Unix time."""
        return self.ask("now")

    def kernel_log(self) -> Fact[tuple[str, ...]]:
        """The kernel log lines about the GPU, the driver or the out-of-memory killer; no others."""
        return self.ask("kernel_log")

    def call(self, child: str, *args: str) -> Fact[tuple[dict[str, Any], ...]]:
        """Run one of host/children in a process of its own; the JSON objects it printed before it ended or hung."""
        return self.ask("call", child, *args)

    def python(self, path: str, child: str, *args: str) -> Fact[tuple[dict[str, Any], ...]]:
        """Run one of host/children with another Python, as that Python's own user would start it; answers as `call`."""
        return self.ask("python", path, child, *args)

    def run(self, *argv: str) -> Fact[Output]:
        """Run a read-only command with a time limit."""
        return self.ask("run", *argv)

    def exists(self, path: str) -> Fact[bool]:
        """Whether a path leads anywhere, as a Known answer."""
        found = self.stat(path)
        return found if isinstance(found, Unknown) else Known(isinstance(found, Known), found.source)
