"""Claim: the folder of a copy, ours and marked as unfinished from its first moment until it is whole and verified."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator

from gpuwhy.repair.patient import RefusedError

try:
    import fcntl
except ImportError:  # Windows, where nothing is carried out
    fcntl = None  # type: ignore[assignment]

UNFINISHED = "gpuwhy-unfinished"
"""A file that marks a copy as half-made; who makes it holds a lock on it, which ends with the process."""

_WORDS = "gpuwhy fix --apply is making this environment; without such a process it can be deleted\n"
_MOST = 100
_LONG = 60.0
"""Seconds after which a folder without a mark is nobody's any more."""


class Claim:
    """A folder that nobody else can take, until `finish` or `give_up`."""

    def __init__(self, folder: str, lock: int) -> None:
        self.folder, self._lock = folder, lock

    @property
    def marker(self) -> str:
        """The file that says that it is not whole yet."""
        return f"{self.folder}/{UNFINISHED}"

    def finish(self) -> None:
        """It is whole: the mark goes."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.marker)
        self._release()

    def give_up(self) -> bool:
        """Everything in it goes, the mark last; whether that worked."""
        gone = remove(self.folder)
        self._release()
        return gone

    def _release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def claim(prefix: str, into: str = "") -> Claim:
    """Take a free folder beside the environment, or the one that is named; never one that is there already."""
    if into and os.path.lexists(into):
        raise RefusedError(f"--into {into}: it is there already, and nothing is ever overwritten")
    names = [os.path.abspath(into)] if into else list(_names(prefix))
    folder = os.path.dirname(names[0])
    try:
        for name in names:
            if not os.path.lexists(name) and (lock := _take(name)) is not None:
                return Claim(name, lock)
    except OSError as error:
        why = error.strerror or str(error)
        raise RefusedError(f"no copy can be made in {folder}: {why}; --into names another folder") from error
    raise RefusedError(f"no copy can be made in {folder}: every name is taken; --into names another folder")


def _names(prefix: str) -> Iterator[str]:
    yield f"{prefix}-gpuwhy"
    yield from (f"{prefix}-gpuwhy-{n}" for n in range(2, _MOST))


def _take(name: str) -> int | None:
    """A marked folder gets its name in one move, which fails where another process was faster."""
    folder, base = os.path.split(name)
    stage = tempfile.mkdtemp(prefix=f".{base}.", suffix=".claim", dir=folder)
    lock = os.open(f"{stage}/{UNFINISHED}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
    try:
        os.write(lock, _WORDS.encode())
        _locked(lock)
        os.chmod(stage, 0o777 & ~_umask())
        os.rename(stage, name)
    except BaseException as error:
        os.close(lock)
        shutil.rmtree(stage, ignore_errors=True)
        if isinstance(error, OSError) and os.path.lexists(name):
            return None
        raise
    return lock


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _locked(file: int) -> bool:
    """Whether the lock is ours now; a file system without locks counts as locked by another."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def half_made(prefix: str) -> list[str]:
    """Copies of an environment that a call was not allowed to finish or to remove, and that nobody is making now."""
    return [name for name in _names(prefix) if _is_left(f"{name}/{UNFINISHED}")]


def _is_left(marker: str) -> bool:
    try:
        file = os.open(marker, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _locked(file)
    finally:
        os.close(file)


def sweep(prefix: str) -> list[str]:
    """Remove what earlier calls left half-made; what was removed."""
    folder, base = os.path.split(prefix)
    for name in _matching(folder, rf"\.{re.escape(base)}-gpuwhy(-\d+)?\.\w+\.claim"):
        if _is_left(f"{name}/{UNFINISHED}") or _is_old(name):
            remove(name)
    return [name for name in half_made(prefix) if remove(name)]


def _matching(folder: str, pattern: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder) if re.fullmatch(pattern, name)]
    except OSError:
        return []


def _is_old(folder: str) -> bool:
    """An empty folder whose maker should have given it its mark long ago."""
    try:
        return not os.listdir(folder) and time.time() - os.stat(folder).st_mtime > _LONG
    except OSError:
        return False


def remove(folder: str) -> bool:
    """Delete a folder, its mark last, so that a deletion that is cut short leaves a marked one."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return not os.path.lexists(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for one in list(found):
            if one.name != UNFINISHED:
                shutil.rmtree(one.path, ignore_errors=True) if one.is_dir(follow_symlinks=False) else _unlink(one.path)
    shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


@contextlib.contextmanager
def held(prefix: str) -> Iterator[None]:
    """An environment that is changed in place is held by one repair at a time; raises RefusedError."""
    path = f"{prefix}/gpuwhy-repairing"
    try:
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise RefusedError(f"{prefix} cannot be written to: {error.strerror}") from error
    if not _locked(file):
        os.close(file)
        raise RefusedError(f"another gpuwhy fix is changing {prefix} at this moment: wait until it has ended")
    for left in _matching(prefix, r"gpuwhy-[a-z0-9_]{8}(\.txt)?"):  # lists and downloads of a call that was killed
        shutil.rmtree(left, ignore_errors=True) if os.path.isdir(left) else _unlink(left)
    try:
        yield
    finally:
        _unlink(path)
        os.close(file)


def being_changed(prefix: str) -> bool:
    """Whether a repair in place is at work in an environment."""
    path = f"{prefix}/gpuwhy-repairing"
    return os.path.exists(path) and not _is_left(path)
