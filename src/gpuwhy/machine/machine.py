"""Machine: the questions that can be put to a computer, and the types of their answers.

Every question goes through `ask(question, *args)`, so that recording, replaying and answering from
files each override one method. Answers are Facts: Known with a source, Absent, or Unknown with the
reason. Paths have forward slashes, on Windows too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Unknown
from gpuwhy.facts.system import Offline
from gpuwhy.facts.variables import SetAtStart

if TYPE_CHECKING:
    from gpuwhy.formats.elf import Elf
    from gpuwhy.formats.fatbin import GpuCode
    from gpuwhy.formats.ldcache import CacheEntry
    from gpuwhy.formats.pe import Pe
    from gpuwhy.formats.symbols import Versions
    from gpuwhy.formats.wheel import Wheel

T = TypeVar("T")
Kind = Literal["file", "folder", "link", "other"]
StatKind = Literal["file", "folder", "char", "block", "other"]


class Entry(msgspec.Struct, frozen=True):
    """One name in a folder."""

    name: str
    kind: Kind


class Stat(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stat says of a path, links followed."""

    kind: StatKind
    size: int
    mode: str  # "crw-rw-rw-"
    mtime: float
    inode: str = ""  # of a file with several hard links: device and inode, which tell twins
    number: str = ""  # "195:0", major and minor, of a device node


class Gathered(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subfolder and the texts of some files in it; a file that is not there has none."""

    name: str
    texts: dict[str, str] = {}
    unread: dict[str, str] = {}  # why a file that is there could not be read
    partly: tuple[str, ...] = ()  # files of which only some lines are known


How = Literal["missing", "empty", "size", "zeros", "hash", "longer", "denied", "folder", "link"]
"""How a file is not as recorded: `longer` is whole with something behind it, `link` leads nowhere,
`zeros` has pages that were never written.
"""


class Changed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that is not as its RECORD says."""

    path: str  # below the folder of packages
    how: How
    size: int = -1  # bytes now, where it has any
    recorded: int = -1


class Changes(msgspec.Struct, frozen=True, omit_defaults=True):
    """What of a RECORD's files is not as recorded."""

    rows: tuple[Changed, ...]
    looked_at: int  # how many files


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
    """Whether something can be written at a path: what there is, or the nearest folder above it."""

    exists: bool
    nearest: str
    writable: bool
    read_only: bool
    programs: bool  # not mounted noexec
    total: int
    free: int
    inodes: int


class RegistryKey(msgspec.Struct, frozen=True):
    """One key of the Windows registry: values as text ("" names the default one), subkeys."""

    values: dict[str, str]
    keys: tuple[str, ...]


class DebPackage(msgspec.Struct, frozen=True):
    """One entry of dpkg's status file."""

    name: str
    version: str
    status: str  # dpkg's word for it: "installed", "half-configured", "config-files" …
    changed: float | None  # Unix time of its file list on disk


Lines = tuple[dict[str, Any], ...]
"""The JSON objects that a child printed; the last one says how it ended where that was not well."""

ANSWERS: Mapping[str, Any] = {
    **dict.fromkeys(("read", "link", "real", "cuda_version", "sha256", "module_info"), str),
    **dict.fromkeys(("lines", "holds", "matching", "unmet", "kernel_log"), tuple[str, ...]),
    **dict.fromkeys(("call", "python", "sandbox"), Lines),
    "list": tuple[Entry, ...],
    "gather": tuple[Gathered, ...],
    "changes": Changes,
    "stat": Stat,
    "disk": Disk,
    "standing": Standing,
    "dpkg": tuple[DebPackage, ...],
    "elf": "elf.Elf",
    "pe": "pe.Pe",
    "gpu_code": "fatbin.GpuCode",
    "wheel": "wheel.Wheel",
    "versions": "symbols.Versions",
    "ldcache": "ldcache.CacheEntry",
    "environ": dict[str, str],
    "set_at_start": tuple[SetAtStart, ...],
    "uname": Uname,
    "registry": RegistryKey,
    "offline": Offline,
    "limit": int,
}
"""Every question, and the type of what is Known; those of gpuwhy.formats by name."""

FILE_QUESTIONS = frozenset(
    {"read", "lines", "list", "gather", "changes", "stat", "elf", "pe", "gpu_code", "cuda_version"}
    | {"holds", "matching", "unmet", "versions", "wheel", "ldcache", "sha256", "dpkg"}
    | {"module_info"}
)
"""What files alone can answer; links are answered by each kind of machine itself."""


def answer_type(question: str) -> Any:
    """The type of a question's answer, for decoding recordings."""
    known: Any = Known
    kind = ANSWERS[question]
    if isinstance(kind, str):
        module, _, name = kind.partition(".")
        kind = getattr(import_module(f"gpuwhy.formats.{module}"), name)
        if question == "ldcache":
            many: Any = tuple
            kind = many[kind, ...]
    return Union[known[kind], Absent, Unknown]


def key_of(question: str, args: Sequence[Any]) -> str:
    """The name of one question in a recording: `read /proc/driver/nvidia/version`."""
    plain = [printable(one) if isinstance(one, str) else one for one in args]
    words = (a if isinstance(a, str) and a and " " not in a else json.dumps(a) for a in plain)
    return " ".join([question, *words])


def printable(text: str) -> str:
    """Write the bytes that are not UTF-8 (lone surrogates in a string) as backslash escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class _Question:
    """A question as a method: it asks the machine under its own name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, machine: Machine | None, owner: type) -> Any:
        return self if machine is None else partial(machine.ask, self._name)


def _question() -> Any:
    return _Question()


Asks = Callable[[], Fact[T]]
OfPath = Callable[[str], Fact[T]]
Level = Literal["libraries", "files", "hashes"]


class Machine:
    """A computer that answers questions; subclasses say how."""

    home = ""  # the user's home folder, as its answers write it

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """Answer one question; never raises for anything the computer does."""
        raise AssertionError(f"{type(self).__name__} answers nothing")

    def ahead(self, *questions: tuple[str, ...]) -> None:
        """Begin to answer questions that take long; whoever asks them later finds the answers."""

    # Of files. `lines`: those that hold one of some plain strings.
    read: OfPath[str] = _question()  # the text of a small file, at most 4 MiB
    lines: Callable[..., Fact[tuple[str, ...]]] = _question()
    # Kind, size and mode, links followed; a dangling link is Absent.
    stat: OfPath[Stat] = _question()
    link: OfPath[str] = _question()  # where a link points, as written; Absent when it is none
    real: OfPath[str] = _question()  # after following every link; Absent when it leads nowhere
    sha256: OfPath[str] = _question()  # in RECORD's spelling: urlsafe base64, no padding
    disk: OfPath[Disk] = _question()  # of the file system at a path
    standing: OfPath[Standing] = _question()  # whether this user can write there, and how much
    # The files of a RECORD that are not as recorded. "libraries" looks at each library; "files"
    # also whether the others are there; "hashes" at every byte.
    changes: Callable[[str, Level], Fact[Changes]] = _question()

    def list(self, path: str, match: str = "") -> Fact[tuple[Entry, ...]]:
        """The names in a folder that match a regular expression from their start, sorted."""
        return self.ask("list", path, match)

    # (path, match, *files): of every subfolder whose name matches, the texts of some small files in
    # it; a name that matches and is a file itself has its own text, under "".
    gather: Callable[..., Fact[tuple[Gathered, ...]]] = _question()

    # Of libraries. `elf` and `pe`: Unknown of kind "foreign" when the file is of another kind.
    elf: OfPath[Elf] = _question()
    pe: OfPath[Pe] = _question()
    cuda_version: OfPath[str] = _question()  # of a CUDA library, from its own bytes
    versions: OfPath[Versions] = _question()  # symbol versions needed and defined, build id
    wheel: OfPath[Wheel] = _question()  # metadata, and the summary of every library in it
    module_info: OfPath[str] = _question()  # the version that a kernel module's own file states
    ldcache: Asks[tuple[CacheEntry, ...]] = _question()  # in the loader's order
    # The Debian packages whose names match a regular expression, by dpkg's status file.
    dpkg: OfPath[tuple[DebPackage, ...]] = _question()
    # Those of some plain strings that a file holds (of its first 64 MB); the strings of at most 100
    # bytes that match a pattern (of its first 2 GB).
    holds: Callable[..., Fact[tuple[str, ...]]] = _question()
    matching: Callable[[str, str], Fact[tuple[str, ...]]] = _question()

    def gpu_code(self, path: str, containers: int = 64) -> Fact[GpuCode]:
        """The GPU architectures in the first `containers` fatbins of an ELF or PE file."""
        return self.ask("gpu_code", path, containers)

    # (path, match, *providers): the symbols matching a pattern that a file needs and no provider
    # defines. A PE file names the DLL of each: only what it imports from the providers counts.
    unmet: Callable[..., Fact[tuple[str, ...]]] = _question()

    # Of the system.
    environ: Asks[dict[str, str]] = _question()  # the variables that steer the GPU stack; no others
    set_at_start: Asks[tuple[SetAtStart, ...]] = _question()  # by the start of an image
    registry: OfPath[RegistryKey] = _question()  # "HKLM/SOFTWARE/NVIDIA Corporation/Global"
    uname: Asks[Uname] = _question()
    offline: Asks[Offline] = _question()  # what stands for a machine; Absent on a running one
    limit: OfPath[int] = _question()  # a resource limit ("NOFILE", "AS"); -1 = unlimited
    kernel_log: Asks[tuple[str, ...]] = _question()  # lines about the GPU, the driver, memory

    # Processes, bounded.
    sandbox: Callable[[str, str], Fact[Lines]] = _question()  # `--import`: see sandbox.py
    # One of machine/children with its arguments, run by gpuwhy's own Python; or (path, child, …) by
    # another as its user starts it: `--probe`.
    call: Callable[..., Fact[Lines]] = _question()
    python: Callable[..., Fact[Lines]] = _question()
