"""A copy of an environment: its files, with its own paths in place of the old ones.

Its folder has a mark from its first moment until it is verified; a copy that still has one and
that nobody is making belongs to a call that was killed, and the next call removes it.
"""

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator

import msgspec

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts

try:
    import fcntl
except ImportError:  # Windows, where nothing is carried out
    fcntl = None  # type: ignore[assignment]

MARK = "gpuwhy-unfinished"
_WORDS = b"gpuwhy fix --apply is making this environment; without such a process, delete it\n"
_ROOM = 200 << 20
"""Bytes that a copy leaves free, for what is installed then."""
_SCRIPT = 1 << 20
"""Larger files have no paths of the environment in their text."""
_CLONE = 0x40049409
"""FICLONE: two files share their blocks until one of them is written to."""


class Copy:
    """A folder that is filled between `begin` and `finish`, or `give_up`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = -1

    def begin(self) -> None:
        """Make the folder, and hold its mark; what interrupts this is followed by `give_up`."""
        os.mkdir(self.folder)
        self._lock = os.open(f"{self.folder}/{MARK}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
        _locked(self._lock)
        os.write(self._lock, _WORDS)

    def finish(self) -> None:
        """It is whole and verified."""
        os.unlink(f"{self.folder}/{MARK}")
        os.close(self._lock)

    def give_up(self) -> bool:
        """Remove it; whether that worked. A folder without a mark of ours goes only if empty."""
        if self._lock < 0 and not _is_left(f"{self.folder}/{MARK}"):
            with contextlib.suppress(OSError):
                os.rmdir(self.folder)
            return not os.path.lexists(self.folder)
        gone = remove(self.folder)
        if self._lock >= 0:
            os.close(self._lock)
        return gone


def free_name(prefix: str, into: str = "") -> str:
    """Where the copy will be: beside the environment, and never over anything."""
    if into and os.path.lexists(into):
        raise RefusedError(f"--into {into}: it exists already, and nothing is overwritten")
    names = [into] if into else [name for name in _names(prefix) if not os.path.lexists(name)]
    folder = os.path.dirname(names[0]) if names else ""
    if not names or not os.access(folder, os.W_OK):
        where = folder or os.path.dirname(prefix)
        raise RefusedError(f"no copy can be made in {where}: name another folder with --into")
    return names[0]


def _names(prefix: str) -> list[str]:
    return [f"{prefix}-gpuwhy{number}" for number in ("", *(f"-{n}" for n in range(2, 100)))]


def sweep(prefix: str) -> list[str]:
    """Remove the copies that a killed call left; which they were."""
    left = [name for name in _names(prefix)[:9] if _is_left(f"{name}/{MARK}")]
    return [name for name in left if remove(name)]


def _is_left(mark: str) -> bool:
    """Whether the mark is there, and nobody holds it."""
    try:
        file = os.open(mark, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _locked(file)
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Whether the lock is ours now; a file system without locks counts as locked."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def held(prefix: str) -> Iterator[None]:
    """One call at a time changes an environment in place; raises RefusedError."""
    path = f"{prefix}/gpuwhy-changing"
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o644)
    try:
        if not _locked(file):
            raise RefusedError(f"another gpuwhy fix is changing {prefix}: wait for its end")
        yield
        os.unlink(path)
    finally:
        os.close(file)


def remove(folder: str) -> bool:
    """Delete a copy, its mark last: a deletion that is cut short leaves a marked one."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            if name != MARK and os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif name != MARK:
                os.unlink(path)
        os.unlink(f"{folder}/{MARK}")
        os.rmdir(folder)
    return not os.path.lexists(folder)


def copied(prefix: str, copy: Copy) -> None:
    """Every file, folder and link; pipes and devices are left out, and nothing waits for one."""
    needed = sum(size for _, size in _files(prefix))
    free = shutil.disk_usage(copy.folder).free
    if free < needed + _ROOM:
        raise RefusedError(
            f"a copy needs {needed >> 20} MiB, and {free >> 20} MiB are free: make room, name"
            " another folder with --into, or use --in-place"
        )
    for source, size in _files(prefix):
        target = copy.folder + source[len(prefix) :]
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source):
            link = os.readlink(source)
            inside = link == prefix or link.startswith(f"{prefix}/")
            os.symlink(copy.folder + link[len(prefix) :] if inside else link, target)
        else:
            _file(source, target)
            named = source.endswith((".pth", ".egg-link")) or source == f"{prefix}/pyvenv.cfg"
            if named or (os.path.dirname(source) == f"{prefix}/bin" and size <= _SCRIPT):
                _rewritten(target, prefix, copy.folder)


def _files(prefix: str) -> Iterator[tuple[str, int]]:
    """The regular files and the links, with their sizes."""
    for folder, folders, names in os.walk(prefix):
        links = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        for name in (*names, *links):
            there = os.lstat(f"{folder}/{name}")
            if stat.S_ISREG(there.st_mode) or stat.S_ISLNK(there.st_mode):
                yield f"{folder}/{name}", there.st_size


def _file(source: str, target: str) -> None:
    """One file, with its times: compiled files stay valid."""
    with open(source, "rb") as old, open(target, "xb") as new:
        try:
            if fcntl is None:
                raise OSError
            fcntl.ioctl(new.fileno(), _CLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new, 1 << 20)
    shutil.copystat(source, target)


def _rewritten(path: str, old: str, new: str) -> None:
    """The copy's path in place of the old one, where the name ends."""
    with open(path, "rb") as file:
        text = file.read()
    if text[:4] == b"\x7fELF" or os.fsencode(old) not in text:
        return
    was = os.stat(path)
    parts = text.split(os.fsencode(old))
    out = parts[0]
    for part in parts[1:]:
        whole = part[:1] in (b"", b"/", b'"', b"'", b"\n", b"\r", b" ", b":", b";", b")")
        out += os.fsencode(new if whole else old) + part
    os.chmod(path, was.st_mode | stat.S_IWUSR)
    with open(path, "wb") as file:
        file.write(out)
    os.chmod(path, was.st_mode)


LOCKS = ("uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock")


class RefusedError(Exception):
    """It is not begun; the text says why, and what to do instead."""


class Environment(msgspec.Struct, frozen=True):
    """A Python environment on this machine, with what is installed in it."""

    python: str
    prefix: str
    kind: str
    releases: dict[str, str]


def environment(facts: Facts, in_place: bool) -> Environment:
    """The environment under diagnosis; raises RefusedError."""
    if not sys.platform.startswith("linux"):
        raise RefusedError("--apply works on Linux only: run the commands of gpuwhy fix yourself")
    python: Python | None = value_or(facts.environment.python, None)
    if python is None or not isinstance(facts.environment.packages, Known):
        raise RefusedError("there is no Python environment to change: name one with --python")
    prefix = python.prefix.rstrip("/")
    if python.kind == "conda" and not in_place:
        raise RefusedError(
            "a conda environment has more than Python packages, which gpuwhy does not copy: run"
            f" `conda create --prefix {prefix}-gpuwhy --clone {prefix}`, then gpuwhy fix --apply"
            f" --in-place --python {prefix}-gpuwhy"
        )
    if python.kind not in ("venv", "conda"):
        raise RefusedError(
            f"{prefix} is not an environment of its own, other programs use it too: make one with"
            " `python -m venv FOLDER`, install there, and name it with --python"
        )
    if python.own:
        raise RefusedError(f"{prefix} is gpuwhy's own environment: name another with --python")
    if not os.access(python.path, os.X_OK):
        raise RefusedError(f"{python.path} cannot be run, so nothing can be installed for it")
    if in_place and not os.access(prefix, os.W_OK):
        raise RefusedError(f"this user cannot write to {prefix}")
    return Environment(python.path, prefix, python.kind, facts.environment.releases)


def lock_file(prefix: str) -> str:
    """The lock file beside an environment, which would bring the old releases back; or ""."""
    folder = os.path.dirname(prefix)
    found = (f"{folder}/{name}" for name in LOCKS)
    return next((path for path in found if os.path.exists(path)), "")
