"""Wheels, read where they lie: the metadata, and the summary of every library inside."""

import re

import msgspec

from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.elf import Elf, read_elf
from gpuwhy.formats.fatbin import GpuCode, read_gpu_code
from gpuwhy.formats.pe import Pe, read_pe
from gpuwhy.formats.symbols import Versions, read_versions
from gpuwhy.formats.zip import Member, open_member, read_members

_SHARED = re.compile(r"\.so(\.\d+)*$")
_WINDOWS = re.compile(r"\.(dll|pyd)$", re.IGNORECASE)
_MAX_TEXT, _MAX_LIBRARY, _MAX_TOTAL = 4 << 20, 8 << 30, 16 << 30
_MAX_LIBRARIES = 5_000
_CONTAINERS = 64
NO_VERSIONS = Versions((), (), "")


class WheelLibrary(msgspec.Struct, frozen=True):
    """One shared library of a wheel: an ELF or a PE file."""

    name: str
    size: int
    elf: Elf | None
    versions: Versions
    gpu: GpuCode
    version: str  # of a CUDA library, from its bytes; "" when they do not tell
    pe: Pe | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The libraries it is linked with."""
        return self.elf.needed if self.elf else self.pe.imports if self.pe else ()

    @property
    def machine(self) -> str:
        """The processor it is for."""
        return self.elf.machine if self.elf else self.pe.machine if self.pe else ""


class Wheel(msgspec.Struct, frozen=True):
    """A wheel's metadata and libraries; `problems` names each member that could not be read."""

    name: str
    version: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]
    members: int
    libraries: tuple[WheelLibrary, ...]
    windows: int  # DLLs beside libraries for Linux, which are counted and not read
    problems: tuple[str, ...]


def read_wheel(pread: Pread, size: int) -> Wheel:
    """Summarise a wheel of `size` bytes; raises MalformedError when it is none."""
    members = read_members(pread, size)
    _refuse(members)
    meta = _headers(_text(pread, size, members, "METADATA"))
    tags = _headers(_text(pread, size, members, "WHEEL"))
    shared = [member for member in members if _SHARED.search(member.name)]
    windows = [member for member in members if _WINDOWS.search(member.name)]
    libraries, problems = [], []
    for member in shared or windows:
        try:
            libraries.append(_library(open_member(pread, size, member), member))
        except MalformedError as error:
            problems.append(f"{member.name[:200]}: {error}")
    return Wheel(
        name="".join(meta.get("name", [])[:1]),
        version="".join(meta.get("version", [])[:1]),
        tags=tuple(tags.get("tag", ())),
        requires=tuple(meta.get("requires-dist", ())),
        members=len(members),
        libraries=tuple(libraries),
        windows=len(windows) if shared else 0,
        problems=tuple(problems),
    )


def _refuse(members: list[Member]) -> None:
    """Refuse names that lead out of the wheel, and sizes that no wheel has."""
    count, total = 0, 0
    for member in members:
        name = member.name.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or "\0" in name:
            what = f"zip member {member.name[:80]!r} leads out of the wheel"
            raise MalformedError(what, member.entry)
        if _SHARED.search(name) or _WINDOWS.search(name):
            count, total = count + 1, total + member.size
            if member.size > _MAX_LIBRARY or total > _MAX_TOTAL or count > _MAX_LIBRARIES:
                what = f"{count} libraries of {total} bytes are more than a wheel holds"
                raise MalformedError(what, member.entry)


def _text(pread: Pread, size: int, members: list[Member], name: str) -> str:
    """The text of a file in the .dist-info folder."""
    for member in members:
        folder, _, rest = member.name.partition("/")
        if folder.endswith(".dist-info") and rest == name:
            if member.size > _MAX_TEXT:
                raise MalformedError(f"{name} of {member.size} bytes", member.entry)
            return open_member(pread, size, member)(0, member.size).decode("utf-8", "replace")
    raise MalformedError(f"a zip archive, but no wheel: no .dist-info/{name} in it")


def _headers(text: str) -> dict[str, list[str]]:
    """The header lines before the first empty line, by lower-case name."""
    out: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.strip():
            break
        name, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            out.setdefault(name.strip().lower(), []).append(value.strip())
    return out


def _library(pread: Pread, member: Member) -> WheelLibrary:
    size, name = member.size, member.name.rpartition("/")[2]
    pe = read_pe(pread, size) if _WINDOWS.search(name) else None
    elf = None if pe else read_elf(pread, size)
    versions = NO_VERSIONS if pe else read_versions(pread, size)
    gpu = read_gpu_code(pread, size, _CONTAINERS)
    try:
        version = read_cuda_version(pread, size, name) or ""
    except MalformedError:
        version = ""
    return WheelLibrary(member.name, size, elf, versions, gpu, version, pe)
