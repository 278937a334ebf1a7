"""The file questions, answered from a file system: a running one, a folder, the layers of an image.

Nothing here waits on a pipe or a device: only regular files are opened.
"""

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
from gpuwhy.formats.ldcache import read_ldcache
from gpuwhy.formats.symbols import Symbols
from gpuwhy.machine.allowlist import kept, kept_line
from gpuwhy.machine.machine import Changes, DebPackage, Entry, Gathered, Stat
from gpuwhy.machine.reading import lines_with, pread_of, regular
from gpuwhy.machine.record_changed import changes, digest

T = TypeVar("T")

MAX_READ = 4 << 20
MAX_LINES_FILE = 64 << 20
MAX_NAMES = 200_000
MAX_LINKS, MAX_PARTS = 40, 4096
MAX_SCAN, MAX_FOUND, OVERLAP = 2 << 30, 1000, 100
MAX_TABLES = 24  # of symbols, whose files are open
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
                if item.is_symlink():
                    yield item.name, "link"
                else:
                    plain = "file" if item.is_file() else "other"
                    yield item.name, "folder" if item.is_dir() else plain

    def target(self, path: str) -> str:
        """Where the link at a path of the questions points."""
        return os.readlink(self.place(path))

    def real(self, path: str) -> str:
        """A path of the questions after following every link; raises FileNotFoundError."""
        return os.path.realpath(self.place(path), strict=True)

    def readable(self, path: str, mode: str) -> bool:
        """Whether this user may read it: everybody may, or the system says so."""
        return mode[1::3] == "rrr" or os.access(path, os.R_OK)

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


_READERS = {
    "elf": "elf:read_elf",
    "pe": "pe:read_pe",
    "gpu_code": "fatbin:read_gpu_code",
    "versions": "symbols:read_versions",
    "wheel": "wheel:read_wheel",
}
"""What reads the bytes for a question; loaded when it is first asked."""


class Files:
    """Answers to questions about files of one file system."""

    def __init__(self, system: FileSystem) -> None:
        self.system = system
        self._imports: dict[tuple[str, bool], tuple[str, ...]] = {}
        self._tables: dict[str, tuple[Symbols, ExitStack]] = {}
        self._lock = threading.Lock()

    def ask(self, question: str, args: tuple[Any, ...]) -> Fact[Any]:
        """Answer one of FILE_QUESTIONS, `link` or `real`."""
        if question == "dpkg":
            return self.answer(_DPKG_STATUS, lambda path: self._dpkg(path, *args))
        if question == "ldcache":
            return self.answer(
                "/etc/ld.so.cache", lambda path: read_ldcache(self._whole(path, MAX_READ))
            )
        path, *rest = args
        if question in _READERS:
            module, _, name = _READERS[question].partition(":")
            reader = getattr(import_module(f"gpuwhy.formats.{module}"), name)
            return self.answer(path, lambda p: self._by(p, reader, *rest))
        kind: SourceKind = "folder" if question in ("list", "gather") else "file"
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

    def _stat(self, path: str) -> Stat:
        return self.system.stat(self.system.place(path))

    # ------------------------------------------------------------ texts and names

    def _whole(self, path: str, most: int) -> bytes:
        return self.system.whole(self.system.place(path), most)

    def _read(self, path: str) -> str:
        return kept(path, self._whole(path, MAX_READ).decode("utf-8", "surrogateescape"))

    def _lines(self, path: str, *containing: str) -> tuple[str, ...]:
        wanted = [text.encode("utf-8", "surrogateescape") for text in containing]
        found = lines_with(self._whole(path, MAX_LINES_FILE), wanted, b"\n")
        texts = (one.rstrip(b"\r").decode("utf-8", "surrogateescape") for one in found)
        return tuple(kept_line(path, text) for text in texts)

    def _list(self, path: str, match: str = "") -> tuple[Entry, ...]:
        fits = re.compile(match).match if match else None
        out = []
        for count, (name, kind) in enumerate(self.system.names(self.system.place(path))):
            if count >= MAX_NAMES:
                raise OSError(errno.E2BIG, f"more than {MAX_NAMES} names", path)
            if fits is None or fits(name):
                out.append(Entry(name, kind))  # type: ignore[arg-type]
        return tuple(sorted(out, key=lambda e: e.name))

    def _gather(self, path: str, match: str, *files: str) -> tuple[Gathered, ...]:
        found = []
        for one in self._list(path, match):
            texts: dict[str, str] = {}
            unread: dict[str, str] = {}
            names = {"file": ("",), "other": ()}.get(one.kind, files)
            for file in names:
                place = f"{path}/{one.name}/{file}".rstrip("/")
                try:
                    data = self._whole(place, MAX_LINES_FILE if file == "RECORD" else MAX_READ)
                    text = data.decode("utf-8", "surrogateescape")
                    texts[file] = kept(file or "PKG-INFO", text)
                except (OSError, ValueError) as error:
                    if not isinstance(error, OSError) or error.errno not in _NOWHERE:
                        unread[file] = str(getattr(error, "strerror", None) or error)
                        continue
                    with suppress(OSError, ValueError):
                        if self.system.target(place):
                            unread[file] = "a link that leads nowhere"
            if one.kind != "other":
                found.append(Gathered(one.name, texts, unread))
        return tuple(found)

    def _changes(self, record: str, level: str) -> Changes:
        return changes(self._whole(record, MAX_LINES_FILE), record, self.system, level)

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

    def _windows(self, path: str, most: int) -> Iterator[bytes]:
        """The bytes of a file in pieces, each with the end of what came before."""
        end, got = b"", 0
        for part in self.system.parts(self.system.place(path)):
            window, got = end + part, got + len(part)
            yield window
            if got > most:
                return
            end = window[-OVERLAP:]

    def _holds(self, path: str, *texts: str) -> tuple[str, ...]:
        left = {text: text.encode() for text in texts}
        for window in self._windows(path, MAX_LINES_FILE) if left else ():
            left = {text: data for text, data in left.items() if data not in window}
            if not left:
                break
        return tuple(text for text in texts if text not in left)

    def _matching(self, path: str, match: str) -> tuple[str, ...]:
        found: set[str] = set()
        search = re.compile(match.encode())
        for window in self._windows(path, MAX_SCAN):
            found |= {one[0].decode("ascii", "replace") for one in search.finditer(window)}
            if len(found) > MAX_FOUND:
                break
        return tuple(sorted(found))

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
        """What a file needs of CUDA's C libraries, or C++ ones; weak symbols aside."""
        fits = re.compile(match).match
        place = self.system.place(path)
        with self.system.open(place) as file:
            if file.pread(0, 2) == b"MZ":
                return self._unmet_pe(file, providers, fits)
        key = (place, match.startswith("_Z"))
        with self._lock:
            if key not in self._imports:
                found = self._symbols(place).imports("_Z" if key[1] else r"(__)?(cu|nccl|nv)")
                self._imports[key] = tuple(one.name for one in found if not one.weak)
            wanted = [name for name in self._imports[key] if fits(name)]
            for provider in providers:
                symbols = self._symbols(self.system.place(provider))
                wanted = [name for name in wanted if not symbols.find(name)]
        return tuple(wanted)

    def _symbols(self, place: str) -> Symbols:
        """The table of a file, whose file stays open; whoever reads from it holds the lock, for
        the file may be closed for another.
        """
        if place not in self._tables:
            with ExitStack() as stack:
                file = stack.enter_context(self.system.open(place))
                self._tables[place] = Symbols(file.pread, file.size), stack.pop_all()
            if len(self._tables) > MAX_TABLES:
                self._tables.pop(next(iter(self._tables)))[1].close()
        return self._tables[place][0]

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

    def _dpkg(self, path: str, match: str) -> tuple[DebPackage, ...]:
        heading = re.compile(rb"\nPackage: (?:" + match.encode() + rb")[^\n]*(?:\n[^\n]+)*")
        packages = []
        for stanza in heading.finditer(b"\n" + self._whole(path, MAX_LINES_FILE)):
            fields = dict(re.findall(_DEB_FIELD, stanza[0].decode("utf-8", "replace")))
            name, changed = fields["Package"], None
            for stem in (name, f"{name}:{fields.get('Architecture', '')}"):
                with suppress(OSError, ValueError):
                    changed = self._stat(f"{_DPKG_INFO}/{stem}.list").mtime
            status = (fields.get("Status", "").split() or ["unknown"])[-1]
            packages.append(DebPackage(name, fields.get("Version", ""), status, changed))
        return tuple(packages)


def slashes(path: str) -> str:
    """A path of this machine as answers write it: Windows' with forward slashes."""
    return path.replace("\\", "/").removeprefix("//?/") if os.name == "nt" else path
