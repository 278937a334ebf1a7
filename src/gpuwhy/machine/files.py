"""The file questions, answered from a file system: a running one, a folder, the layers of an image.

Nothing here waits on a pipe or a device: only regular files are opened.
"""

from __future__ import annotations

import errno
import os
import re
import stat as stat_
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from gpuwhy.facts.fact import Absent, Fact, Known, Source, SourceKind, Unknown, Why
from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.elf import read_sections
from gpuwhy.formats.ldcache import CacheEntry, read_ldcache
from gpuwhy.formats.symbols import Symbols
from gpuwhy.machine.allowlist import kept, kept_line
from gpuwhy.machine.machine import Changes, DebPackage, Disk, Entry, Gathered, Stat
from gpuwhy.machine.reading import lines_with, pread_of, regular
from gpuwhy.machine.record_changed import changes, digest

T = TypeVar("T")

MAX_READ = 4 << 20
MAX_LINES_FILE = 64 << 20
MAX_NAMES = 200_000
MAX_LINKS, MAX_PARTS = 40, 4096
MAX_SCAN, MAX_FOUND = 2 << 30, 1000
_ARCHIVES = (".zip", ".egg", ".whl")
_DPKG_STATUS, _DPKG_INFO = "/var/lib/dpkg/status", "/var/lib/dpkg/info"
_DEB_FIELD = r"(?m)^(Package|Status|Version|Architecture): *(.*?) *$"
_NOWHERE = frozenset({errno.ENOENT, errno.ENOTDIR})
_WHY: dict[int | None, Why] = {
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.ELOOP: "loop",
    errno.ENAMETOOLONG: "long",
}
_KINDS = (
    (stat_.S_ISREG, "file"),
    (stat_.S_ISDIR, "folder"),
    (stat_.S_ISCHR, "char"),
    (stat_.S_ISBLK, "block"),
)


def parts(path: str) -> list[str]:
    """The names of a path; `..` stays."""
    return [part for part in path.split("/") if part not in ("", ".")]


def resolved(
    path: str,
    target: Callable[[str], str | None],
    enter: Callable[[str], object] = lambda _: None,
    *,
    last: bool = True,
    top: int = 0,
) -> str:
    """An absolute path after every link (`last` False: all but the last); what is missing stays.

    `target` says where a link at a path points, None where there is none; `enter` raises OSError
    for what has no way up; `..` stops below the first `top` names.
    """
    done: list[str] = []
    left = parts(path)[::-1]
    links = steps = 0
    while left:
        part = left.pop()
        steps += 1
        if part == "..":
            enter("/" + "/".join(done))
            del done[max(top, len(done) - 1) :]
            continue
        there = target("/" + "/".join([*done, part])) if left or last else None
        if there is None:
            done.append(part)
            continue
        links += 1
        if links > MAX_LINKS or steps > MAX_PARTS:
            raise OSError(errno.ELOOP, "too many levels of symbolic links", path)
        if there.startswith("/"):
            done = []
        left += parts(there)[::-1]
    return "/" + "/".join(done)


class Opened(NamedTuple):
    """A file that any part can be read of."""

    pread: Pread
    size: int


class FileSystem:
    """Where bytes and names come from: this machine's own; subclasses place paths elsewhere."""

    written_in_place = True  # so that a write may not have reached the disk

    def place(self, path: str) -> str:
        """A path of the questions as the methods below take it; raises OSError."""
        if os.name == "nt" and path.startswith("/"):
            raise FileNotFoundError(errno.ENOENT, "no such path on Windows", path)
        return path

    @contextmanager
    def open(self, path: str) -> Iterator[Opened]:
        """A regular file, for reads at any offset."""
        fd = regular(path)
        try:
            yield Opened(pread_of(fd), os.fstat(fd).st_size)
        finally:
            os.close(fd)

    def parts(self, path: str) -> Iterator[bytes]:
        """Its bytes in order, read without seeking: files of the kernel have no size."""
        fd = regular(path)
        try:
            while part := os.read(fd, 1 << 20):
                yield part
        finally:
            os.close(fd)

    def stat(self, path: str) -> Stat:
        """Links followed."""
        s = os.stat(path)
        kind: Any = next((name for test, name in _KINDS if test(s.st_mode)), "other")
        inode = f"{s.st_dev:x}:{s.st_ino:x}" if s.st_nlink > 1 and kind == "file" else ""
        device = kind in ("char", "block")
        number = f"{os.major(s.st_rdev)}:{os.minor(s.st_rdev)}" if device else ""
        mode = stat_.filemode(s.st_mode)
        return Stat(kind, s.st_size, mode, round(s.st_mtime, 2), inode, number)

    def names(self, path: str) -> Iterator[tuple[str, str]]:
        """Each name in a folder with its kind."""
        with os.scandir(path) as found:
            for item in found:
                yield item.name, _kind(item)

    def target(self, path: str) -> str:
        """Where the link at a path of the questions points."""
        return os.readlink(self.place(path))

    def real(self, path: str) -> str:
        """A path of the questions after following every link; raises FileNotFoundError."""
        return os.path.realpath(self.place(path), strict=True)

    def readable(self, path: str, mode: str) -> bool:
        """Whether this user may read it: everybody may, or the system says so."""
        return mode[1::3] == "rrr" or os.access(path, os.R_OK)

    def space(self, path: str) -> Disk:
        """Size and free bytes of the file system there."""
        if not hasattr(os, "statvfs"):  # Windows
            import shutil

            used = shutil.disk_usage(path)
            return Disk(used.total, used.free)
        s = os.statvfs(path)
        return Disk(s.f_frsize * s.f_blocks, s.f_frsize * s.f_bavail)

    def whole(self, path: str, most: int) -> bytes:
        """All bytes of a file; raises OSError where there are more than `most`."""
        found: list[bytes] = []
        got = 0
        for part in self.parts(path):
            found.append(part)
            got += len(part)
            if got > most:
                raise OSError(errno.EFBIG, f"larger than {most} bytes", path)
        return b"".join(found)


def _kind(item: os.DirEntry[str]) -> str:
    if item.is_symlink():
        return "link"
    return "folder" if item.is_dir() else "file" if item.is_file() else "other"


_READERS = {
    "elf": "elf:read_elf",
    "pe": "pe:read_pe",
    "gpu_code": "fatbin:read_gpu_code",
    "versions": "symbols:read_versions",
    "wheel": "wheel:read_wheel",
}
"""What reads the bytes for a question; loaded when it is first asked."""


def _reader(question: str) -> Callable[..., Any]:
    module, _, name = _READERS[question].partition(":")
    function: Callable[..., Any] = getattr(import_module(f"gpuwhy.formats.{module}"), name)
    return function


class Files:
    """Answers to questions about files of one file system."""

    def __init__(self, system: FileSystem) -> None:
        self.system = system
        self._imports: dict[tuple[str, bool], tuple[str, ...]] = {}
        self._symbols = _OpenSymbols(system)

    def ask(self, question: str, args: tuple[Any, ...]) -> Fact[Any]:
        """Answer one of FILE_QUESTIONS, `link`, `real` or `disk`."""
        if question == "dpkg":
            return self._dpkg(*args)
        if question == "ldcache":
            return self.answer("/etc/ld.so.cache", self._ldcache)
        path, *rest = args
        if question in _READERS:
            return self.answer(path, lambda p: self._by(p, _reader(question), *rest))
        kind: SourceKind = "folder" if question in ("list", "gather", "disk") else "file"
        answer = getattr(self, f"_{question}")
        return self.answer(path, lambda p: answer(p, *rest), kind)

    def answer(self, path: str, look: Callable[[str], T], kind: SourceKind = "file") -> Fact[T]:
        """What a look at a path gives; the look gets the path as the questions write it."""
        source = Source(kind, path)
        try:
            return Known(look(path), source)
        except OSError as error:
            if error.errno in _NOWHERE:
                return Absent(source)
            said = error.strerror or str(error)
            reason = f"{path}: {said[:1].lower()}{said[1:]}"
            return Unknown(reason, kind=_WHY.get(error.errno, ""))
        except MalformedError as error:
            return Unknown(f"{path}: {error}", kind=error.kind)
        except ValueError as error:  # embedded NUL and the like
            return Unknown(f"{path!r}: {error}")

    def _link(self, path: str) -> str:
        try:
            return slashes(self.system.target(path))
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise FileNotFoundError(errno.ENOENT, "no link", path) from error
            raise

    def _real(self, path: str) -> str:
        return slashes(self.system.real(path))

    # ------------------------------------------------------------ texts and names

    def _read(self, path: str) -> str:
        data = self.system.whole(self.system.place(path), MAX_READ)
        return kept(path, data.decode("utf-8", "surrogateescape"))

    def _lines(self, path: str, *containing: str) -> tuple[str, ...]:
        data = self.system.whole(self.system.place(path), MAX_LINES_FILE)
        wanted = [text.encode("utf-8", "surrogateescape") for text in containing]
        found = (one.rstrip(b"\r") for one in lines_with(data, wanted, b"\n"))
        return tuple(kept_line(path, one.decode("utf-8", "surrogateescape")) for one in found)

    def _list(self, path: str, match: str = "") -> tuple[Entry, ...]:
        fits = re.compile(match).match if match else None
        out = []
        for count, (name, kind) in enumerate(self._names_in(path)):
            if count >= MAX_NAMES:
                raise OSError(errno.E2BIG, f"more than {MAX_NAMES} names", path)
            if fits is None or fits(name):
                out.append(Entry(name, kind))  # type: ignore[arg-type]
        return tuple(sorted(out, key=lambda e: e.name))

    def _names_in(self, path: str) -> Iterator[tuple[str, str]]:
        """Each name in a folder, or on the first level of an archive that Python takes for one."""
        place = self.system.place(path)
        try:
            yield from self.system.names(place)
            return
        except NotADirectoryError:
            if not path.endswith(_ARCHIVES):
                raise
        with self.system.open(place) as file:
            yield from _first_level(file.pread, file.size).items()

    def _gather(self, path: str, match: str, *files: str) -> tuple[Gathered, ...]:
        found = self._list(path, match)
        return tuple(self._gathered(path, one, files) for one in found if one.kind != "other")

    def _gathered(self, folder: str, one: Entry, files: tuple[str, ...]) -> Gathered:
        texts: dict[str, str] = {}
        unread: dict[str, str] = {}
        for file in ("",) if one.kind == "file" else files:
            path = f"{folder}/{one.name}/{file}".rstrip("/")
            try:
                most = MAX_LINES_FILE if file == "RECORD" else MAX_READ
                data = self.system.whole(self.system.place(path), most)
                texts[file] = kept(file or "PKG-INFO", data.decode("utf-8", "surrogateescape"))
            except (OSError, ValueError) as error:
                if not isinstance(error, OSError) or error.errno not in _NOWHERE:
                    unread[file] = str(getattr(error, "strerror", None) or error)
                elif self._is_link(path):
                    unread[file] = "a link that leads nowhere"
        return Gathered(one.name, texts, unread)

    def _is_link(self, path: str) -> bool:
        with suppress(OSError, ValueError):
            return bool(self.system.target(path))
        return False

    def _changes(self, record: str, level: str) -> Changes:
        data = self.system.whole(self.system.place(record), MAX_LINES_FILE)
        return changes(data, record, self.system, level)

    def _stat(self, path: str) -> Stat:
        return self.system.stat(self.system.place(path))

    def _disk(self, path: str) -> Disk:
        return self.system.space(self.system.place(path))

    def _sha256(self, path: str) -> str:
        return digest(self.system.parts(self.system.place(path)))

    # ------------------------------------------------------------ bytes

    def _by(self, path: str, read: Callable[..., T], *more: Any) -> T:
        with self.system.open(self.system.place(path)) as file:
            return read(file.pread, file.size, *more)

    def _cuda_version(self, path: str) -> str:
        from gpuwhy.formats.cuda_version import read_cuda_version

        version = self._by(path, read_cuda_version, path.rpartition("/")[2])
        if version is None:
            raise FileNotFoundError(errno.ENOENT, "no version in its bytes", path)
        return version

    def _windows(self, path: str, overlap: int, most: int) -> Iterator[bytes]:
        """The bytes of a file in pieces, each with the end of what came before."""
        end, got = b"", 0
        for part in self.system.parts(self.system.place(path)):
            window, got = end + part, got + len(part)
            yield window
            if got > most:
                return
            end = window[-overlap:]

    def _holds(self, path: str, *texts: str) -> tuple[str, ...]:
        wanted = {text: text.encode() for text in texts}
        found: set[str] = set()
        for window in self._windows(
            path, max(map(len, wanted.values()), default=1), MAX_LINES_FILE
        ):
            found |= {text for text, data in wanted.items() if data in window}
            if len(found) == len(texts):
                break
        return tuple(text for text in texts if text in found)

    def _matching(self, path: str, match: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        search = re.compile(match.encode())
        for window in self._windows(path, 100, MAX_SCAN):
            found |= {one[0].decode("ascii", "replace"): None for one in search.finditer(window)}
            if len(found) > MAX_FOUND:
                break
        return tuple(sorted(found))

    def _ldcache(self, path: str) -> tuple[CacheEntry, ...]:
        return read_ldcache(self.system.whole(self.system.place(path), MAX_READ))

    def _module_info(self, path: str) -> str:
        """Of a module that is compressed otherwise than by gzip: none."""
        with self.system.open(self.system.place(path)) as file:
            pread, size = file.pread, file.size
            if path.endswith(".gz"):
                from gpuwhy.formats.compress import gunzipped

                pread, size = gunzipped(file.pread, file.size), 1 << 30
            for section in read_sections(pread, size, frozenset({".modinfo"})):
                words = pread(section.offset, min(section.size, 1 << 16)).split(b"\0")
                for word in words:
                    if word.startswith(b"version="):
                        return word[8:].decode("utf-8", "replace")[:80]
        raise FileNotFoundError(errno.ENOENT, "no version in it", path)

    # ------------------------------------------------------------ symbols

    def _unmet(self, path: str, match: str, *providers: str) -> tuple[str, ...]:
        fits = re.compile(match).match
        place = self.system.place(path)
        with self.system.open(place) as file:
            if file.pread(0, 2) == b"MZ":
                return self._unmet_pe(file, providers, fits)
        with self._symbols.lock:
            wanted = [name for name in self._wanted(place, match.startswith("_Z")) if fits(name)]
            for provider in providers:
                symbols = self._symbols.of(self.system.place(provider))
                wanted = [name for name in wanted if not symbols.find(name)]
        return tuple(wanted)

    def _wanted(self, place: str, mangled: bool) -> tuple[str, ...]:
        """The names a file needs, of CUDA's C libraries or C++ ones, weak ones aside; kept."""
        key = (place, mangled)
        if key not in self._imports:
            pattern = "_Z" if mangled else r"(__)?(cu|nccl|nv)"
            found = self._symbols.of(place).imports(pattern)
            self._imports[key] = tuple(one.name for one in found if not one.weak)
        return self._imports[key]

    def _unmet_pe(
        self, file: Opened, providers: tuple[str, ...], fits: Callable[[str], object]
    ) -> tuple[str, ...]:
        """What a PE file imports of each provider, by its name, and it does not export."""
        from gpuwhy.formats.pe import PeSymbols

        lacking: list[str] = []
        asker = PeSymbols(file.pread, file.size)
        for provider in providers:
            wanted = [name for name in asker.imports(provider.rpartition("/")[2]) if fits(name)]
            with self.system.open(self.system.place(provider)) as other:
                exported = PeSymbols(other.pread, other.size)
                lacking += [name for name in wanted if not exported.find(name)]
        return tuple(lacking)

    # ------------------------------------------------------------ packages of the system

    def _dpkg(self, match: str) -> Fact[tuple[DebPackage, ...]]:
        heading = re.compile(rb"\nPackage: (?:" + match.encode() + rb")[^\n]*(?:\n[^\n]+)*")

        def look(path: str) -> tuple[DebPackage, ...]:
            data = b"\n" + self.system.whole(self.system.place(path), MAX_LINES_FILE)
            return tuple(self._deb(found.group()) for found in heading.finditer(data))

        return self.answer(_DPKG_STATUS, look)

    def _deb(self, stanza: bytes) -> DebPackage:
        fields = dict(re.findall(_DEB_FIELD, stanza.decode("utf-8", "replace")))
        name, arch = fields["Package"], fields.get("Architecture", "")
        changed = None
        for stem in (f"{name}:{arch}", name):
            with suppress(OSError, ValueError):
                changed = self._stat(f"{_DPKG_INFO}/{stem}.list").mtime
                break
        words = fields.get("Status", "").split() or ["unknown"]
        return DebPackage(name, fields.get("Version", ""), words[-1], changed)


class _OpenSymbols:
    """The symbol tables of the libraries that were asked for last, their files kept open."""

    MOST = 24

    def __init__(self, system: FileSystem) -> None:
        self._system = system
        self._open: dict[str, tuple[Symbols, ExitStack]] = {}
        self.lock = threading.Lock()
        """Held as long as somebody reads from a table: its file may be closed for another."""

    def of(self, place: str) -> Symbols:
        """The table of a file; raises OSError, MalformedError."""
        if place not in self._open:
            with ExitStack() as stack:
                file = stack.enter_context(self._system.open(place))
                self._open[place] = Symbols(file.pread, file.size), stack.pop_all()
            if len(self._open) > self.MOST:
                self._open.pop(next(iter(self._open)))[1].close()
        return self._open[place][0]


def slashes(path: str) -> str:
    """A path of this machine as answers write it: Windows' with forward slashes."""
    return path.replace("\\", "/").removeprefix("//?/") if os.name == "nt" else path


def _first_level(pread: Pread, size: int) -> dict[str, str]:
    from gpuwhy.formats.zip import read_members

    try:
        parts = [member.name.partition("/") for member in read_members(pread, size)]
    except MalformedError:
        return {}
    return {name: "folder" if slash else "file" for name, slash, _ in parts if name}
