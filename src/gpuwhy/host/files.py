"""The file questions, answered from a file system: shared by the live host and the root host.

Nothing here blocks on a pipe or a device: only regular files are opened, and without waiting.
"""

from __future__ import annotations

import errno
import os
import re
import stat as stat_
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeVar

import msgspec

from gpuwhy.border.reading import pread_of, regular
from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.elf import Elf, read_elf
from gpuwhy.formats.fatbin import GpuCode, read_gpu_code
from gpuwhy.formats.hive import Hive, HiveKey
from gpuwhy.formats.ldcache import CacheEntry, read_ldcache
from gpuwhy.formats.pe import Pe, PeSymbols, read_pe
from gpuwhy.formats.symbols import Symbols, Versions, read_versions
from gpuwhy.formats.wheel import Wheel, read_wheel
from gpuwhy.host.alias import Alias, printable
from gpuwhy.host.altered import Reader, altered, digest
from gpuwhy.host.archives import names_in
from gpuwhy.host.base import DebPackage, Disk, Entry, Stat
from gpuwhy.host.differing import differing
from gpuwhy.host.narrow import line_narrowed, lines_with, narrowed, strings_of
from gpuwhy.host.unwritten import unwritten
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, Why

T = TypeVar("T")

MAX_READ = 4 << 20
MAX_LINES_FILE = 64 << 20
MAX_NAMES = 200_000
DPKG_STATUS, DPKG_INFO = "/var/lib/dpkg/status", "/var/lib/dpkg/info"
_DEB_FIELD = re.compile(r"^(Package|Status|Version|Architecture): *(.*?) *$", re.MULTILINE)
_NOWHERE = frozenset({errno.ENOENT, errno.ENOTDIR})
_WHY: dict[int | None, Why] = {errno.EACCES: "denied", errno.ELOOP: "loop", errno.ENAMETOOLONG: "long"}
_PEOPLE = re.compile(r"(/home|[A-Za-z]:/Users)/?$", re.IGNORECASE)


_KINDS = ((stat_.S_ISREG, "file"), (stat_.S_ISDIR, "folder"), (stat_.S_ISCHR, "char"), (stat_.S_ISBLK, "block"))


def _kind(mode: int) -> str:
    return next((name for test, name in _KINDS if test(mode)), "other")


class Opened(NamedTuple):
    """A file that any part can be read of."""

    pread: Pread
    size: int
    emptied: bool | None = None  # whether a library has zeros where none belong, where that is known already


@contextmanager
def _descriptor(path: str) -> Iterator[int]:
    fd = regular(path)
    try:
        yield fd
    finally:
        os.close(fd)


class Files:
    """Answers to file questions below `place`, a function from aliased path to real path."""

    def __init__(self, alias: Alias, place: Callable[[str], str]) -> None:
        self._alias = alias
        self._place = place
        self._imports: tuple[tuple[str, bool], tuple[str, ...]] = (("", False), ())

    def _hidden(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Alias many one-line texts at once."""
        return tuple(self._alias.hide("\n".join(t.replace("\n", " ") for t in texts)).split("\n"))

    def _answer(self, path: str, look: Callable[[str], T], kind: str = "file") -> Fact[T]:
        source = Source("folder" if kind == "folder" else "file", path)
        try:
            return Known(look(self._place(path)), source)
        except OSError as error:
            if error.errno in _NOWHERE:
                return Absent(source)
            said = error.strerror or str(error)
            return Unknown(f"{path}: {said[:1].lower()}{said[1:]}", kind=_WHY.get(error.errno, ""))
        except MalformedError as error:
            return Unknown(f"{path}: {error}", kind=error.kind)
        except ValueError as error:  # embedded NUL and the like
            return Unknown(f"{path!r}: {error}")

    # The six ways in which bytes and names come from a file system; an image answers them from its layers.

    @contextmanager
    def _open(self, path: str) -> Iterator[Opened]:
        with _descriptor(path) as fd:
            yield Opened(pread_of(fd), os.fstat(fd).st_size)

    def _parts(self, path: str) -> Iterator[bytes]:
        """The bytes in order; read without seeking, because files of the kernel have no size."""
        with _descriptor(path) as fd:
            while part := os.read(fd, 1 << 20):
                yield part

    def _stat(self, path: str) -> Stat:
        s = os.stat(path)
        kind = _kind(s.st_mode)
        inode = f"{s.st_dev:x}:{s.st_ino:x}" if s.st_nlink > 1 and kind == "file" else ""
        number = f"{os.major(s.st_rdev)}:{os.minor(s.st_rdev)}" if kind in ("char", "block") else ""
        return Stat(kind, s.st_size, stat_.filemode(s.st_mode), round(s.st_mtime, 2), inode, number)  # type: ignore[arg-type]

    def _names(self, path: str) -> Iterator[tuple[str, str]]:
        """Each name in a folder with its kind."""
        with os.scandir(path) as names:
            for item in names:
                kind = "link" if item.is_symlink() else "folder" if item.is_dir() else "file"
                yield item.name, "other" if kind == "file" and not item.is_file() else kind

    def _target(self, path: str) -> str:
        return os.readlink(path)

    def _space(self, path: str) -> Disk:
        if not hasattr(os, "statvfs"):  # Windows
            import shutil

            used = shutil.disk_usage(path)
            return Disk(used.total, used.free)
        s = os.statvfs(path)
        return Disk(s.f_frsize * s.f_blocks, s.f_frsize * s.f_bavail)

    def _bytes(self, path: str, most: int) -> bytes:
        parts: list[bytes] = []
        got = 0
        for part in self._parts(path):
            parts.append(part)
            got += len(part)
            if got > most:
                raise OSError(errno.EFBIG, f"larger than {most} bytes", path)
        return b"".join(parts)

    def read(self, path: str) -> Fact[str]:
        """See Host.read."""
        return self._answer(
            path,
            lambda p: self._alias.hide(narrowed(path, self._bytes(p, MAX_READ).decode("utf-8", "surrogateescape"))),
        )

    def lines(self, path: str, *containing: str) -> Fact[tuple[str, ...]]:
        """See Host.lines."""
        wanted = [c.encode() for c in containing]

        def look(p: str) -> tuple[str, ...]:
            data = self._bytes(p, MAX_LINES_FILE)
            kept = [line_narrowed(path, one.decode("utf-8", "surrogateescape")) for one in lines_with(data, wanted)]
            return tuple(self._alias.hide("\n".join(kept)).split("\n")) if kept else ()

        return self._answer(path, look)

    def list(self, path: str, match: str) -> Fact[tuple[Entry, ...]]:
        """See Host.list."""
        fits = re.compile(match).match
        shown = (lambda name: self._person(path, name)) if _PEOPLE.match(path) else printable

        def look(p: str) -> tuple[Entry, ...]:
            out = []
            for count, (name, kind) in enumerate(names_in(self._names, self._open, p)):
                if count >= MAX_NAMES:
                    raise OSError(errno.E2BIG, f"more than {MAX_NAMES} names", p)
                if fits(name):
                    out.append(Entry(shown(name), kind))  # type: ignore[arg-type]
            return tuple(sorted(out, key=lambda e: e.name))

        return self._answer(path, look, "folder")

    def _person(self, folder: str, name: str) -> str:
        """A home folder's name as paths through it are written."""
        shown = self._alias.hide(f"{folder.rstrip('/')}/{name}/").split("/")[-2]
        return ("$USER" if self._alias.user else printable(name)) if shown == "~" else shown

    def stat(self, path: str) -> Fact[Stat]:
        """See Host.stat."""
        return self._answer(path, self._stat)

    def link(self, path: str) -> Fact[str]:
        """See Host.link."""
        try:
            return Known(self._alias.hide(self._target(self._place(path))), Source("file", path))
        except OSError as error:
            if error.errno in _NOWHERE or error.errno == errno.EINVAL:
                return Absent(Source("file", path))
            return Unknown(f"{path}: {error.strerror}")
        except ValueError as error:
            return Unknown(f"{path!r}: {error}")

    def elf(self, path: str) -> Fact[Elf]:
        """See Host.elf."""

        def look(p: str) -> Elf:
            with self._open(p) as file:
                elf = read_elf(file.pread, file.size)
            soname, rpath, runpath, interpreter, *needed = self._hidden(
                (elf.soname, elf.rpath, elf.runpath, elf.interpreter, *elf.needed)
            )
            return msgspec.structs.replace(
                elf, soname=soname, rpath=rpath, runpath=runpath, interpreter=interpreter, needed=tuple(needed)
            )

        return self._answer(path, look)

    def hive(self, path: str, key: str) -> Fact[HiveKey]:
        """A key of the registry hive in a file; Absent where the hive is not there or has no such key."""

        def look(p: str) -> HiveKey | None:
            with self._open(p) as file:
                return Hive(file.pread).key(key)

        found = self._answer(path, look)
        if not isinstance(found, Known):
            return found
        return Absent(found.source) if found.value is None else Known(found.value, found.source)

    def pe(self, path: str) -> Fact[Pe]:
        """See Host.pe."""

        def look(p: str) -> Pe:
            with self._open(p) as file:
                pe = read_pe(file.pread, file.size)
            parts = (pe.imports, pe.delayed, pe.assemblies, (pe.version, pe.product, pe.description))
            imports, delayed, assemblies, told = (self._hidden(part) if part else () for part in parts)
            return msgspec.structs.replace(
                pe,
                imports=imports,
                delayed=delayed,
                assemblies=assemblies,
                version=told[0],
                product=told[1],
                description=told[2],
            )

        return self._answer(path, look)

    def gpu_code(self, path: str, containers: int) -> Fact[GpuCode]:
        """See Host.gpu_code."""

        def look(p: str) -> GpuCode:
            with self._open(p) as file:
                return read_gpu_code(file.pread, file.size, containers)

        return self._answer(path, look)

    def cuda_version(self, path: str) -> Fact[str]:
        """See Host.cuda_version."""

        def look(p: str) -> str:
            with self._open(p) as file:
                version = read_cuda_version(file.pread, file.size, path.rpartition("/")[2])
            if version is None:
                raise FileNotFoundError(errno.ENOENT, "no version in its bytes", p)
            return version

        return self._answer(path, look)

    def holds(self, path: str, *texts: str) -> Fact[tuple[str, ...]]:
        """See Host.holds."""

        def look(p: str) -> tuple[str, ...]:
            found: set[str] = set()
            end, got = b"", 0
            for part in self._parts(p):
                window, got = end + part, got + len(part)
                found |= {text for text in texts if text.encode() in window}
                if len(found) == len(texts) or got > MAX_LINES_FILE:
                    break
                end = window[-max((len(text.encode()) for text in texts), default=1) :]
            return tuple(text for text in texts if text in found)

        return self._answer(path, look)

    def matching(self, path: str, match: str) -> Fact[tuple[str, ...]]:
        """See Host.matching."""
        return self._answer(path, lambda p: strings_of(self._parts(p), match))

    def unmet(self, path: str, match: str, *providers: str) -> Fact[tuple[str, ...]]:
        """See Host.unmet."""

        def look(p: str) -> tuple[str, ...]:
            fits = re.compile(match).match
            if self._is_pe(p):
                return self._unmet_pe(p, providers, fits)
            wanted = [name for name in self._wanted(p, match.startswith("_Z")) if fits(name)]
            for provider in providers:
                with self._open(self._place(provider)) as file:
                    symbols = Symbols(file.pread, file.size)
                    wanted = [name for name in wanted if not symbols.find(name)]
            return tuple(wanted)

        return self._answer(path, look)

    def _is_pe(self, path: str) -> bool:
        with self._open(path) as file:
            return file.pread(0, 2) == b"MZ"

    def _unmet_pe(self, path: str, providers: tuple[str, ...], fits: Callable[[str], object]) -> tuple[str, ...]:
        """What a PE file imports from each provider, by its file name, and does not find among its exports."""
        lacking: list[str] = []
        with self._open(path) as file:
            asker = PeSymbols(file.pread, file.size)
            for provider in providers:
                wanted = [name for name in asker.imports(provider.rpartition("/")[2]) if fits(name)]
                with self._open(self._place(provider)) as other:
                    exported = PeSymbols(other.pread, other.size)
                    lacking += [name for name in wanted if not exported.find(name)]
        return tuple(lacking)

    def _wanted(self, path: str, mangled: bool) -> tuple[str, ...]:
        """The names a file needs, of CUDA's C libraries or C++ ones; kept for the next provider of the same file."""
        if self._imports[0] != (path, mangled):
            with self._open(path) as file:
                found = Symbols(file.pread, file.size).imports("_Z" if mangled else r"(__)?(cu|nccl|nv)")
            self._imports = ((path, mangled), tuple(one.name for one in found if not one.weak))
        return self._imports[1]

    def versions(self, path: str) -> Fact[Versions]:
        """See Host.versions."""
        return self._answer(path, lambda p: self._read_by(p, read_versions))

    def wheel(self, path: str) -> Fact[Wheel]:
        """See Host.wheel."""
        return self._answer(path, lambda p: self._read_by(p, read_wheel))

    def _read_by(self, path: str, read: Callable[[Pread, int], T]) -> T:
        with self._open(path) as file:
            return read(file.pread, file.size)

    def unwritten(self, path: str, ending: str) -> Fact[tuple[str, ...]]:
        """See Host.unwritten."""
        size = lambda name: self._stat(self._place(name)).size  # noqa: E731
        return self._answer(path, lambda p: unwritten(self._bytes(p, MAX_LINES_FILE), ending, path, size))

    def altered(self, path: str, how: str = "") -> Fact[tuple[str, ...]]:
        """See Host.altered."""
        reader = Reader(self._place, self._stat, self._parts, self._readable, self._open)
        if how == "small":
            return self._answer(path, lambda p: differing(self._bytes(p, MAX_LINES_FILE), path, reader))
        return self._answer(path, lambda p: altered(self._bytes(p, MAX_LINES_FILE), path, reader, how == "all"))

    def _readable(self, path: str) -> bool:
        return os.access(path, os.R_OK)

    def ldcache(self) -> Fact[tuple[CacheEntry, ...]]:
        """See Host.ldcache."""

        def look(p: str) -> tuple[CacheEntry, ...]:
            entries = read_ldcache(self._bytes(p, MAX_READ))
            paths = self._hidden(e.path for e in entries)
            return tuple(
                CacheEntry(printable(e.name), p, e.flags, e.hwcap, printable(e.level))
                for e, p in zip(entries, paths, strict=False)
            )

        return self._answer("/etc/ld.so.cache", look)

    def sha256(self, path: str) -> Fact[str]:
        """See Host.sha256."""
        return self._answer(path, lambda p: digest(self._parts(p)))

    def dpkg(self, match: str) -> Fact[tuple[DebPackage, ...]]:
        """See Host.dpkg."""
        heading = re.compile(rb"\nPackage: (?:" + match.encode() + rb")[^\n]*(?:\n[^\n]+)*")

        def look(p: str) -> tuple[DebPackage, ...]:
            data = b"\n" + self._bytes(p, MAX_LINES_FILE)
            return tuple(self._deb(found.group()) for found in heading.finditer(data))

        return self._answer(DPKG_STATUS, look)

    def _deb(self, stanza: bytes) -> DebPackage:
        fields = dict(_DEB_FIELD.findall(stanza.decode("utf-8", "replace")))
        name, arch = fields["Package"], fields.get("Architecture", "")
        changed = None
        for stem in (f"{name}:{arch}", name):
            with suppress(OSError, ValueError):
                changed = self._stat(self._place(f"{DPKG_INFO}/{stem}.list")).mtime
                break
        words = fields.get("Status", "").split() or ["unknown"]
        return DebPackage(name, fields.get("Version", ""), words[-1], changed)

    def disk(self, path: str) -> Fact[Disk]:
        """See Host.disk."""
        return self._answer(path, self._space, "folder")
