"""`gpuwhy releases --update FILE|URL`: newer knowledge from a signed file that the user points to, kept for later."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gpuwhy.border import reading
from gpuwhy.border.writing import keep
from gpuwhy.cli import HEALTHY, UsageError, say

if TYPE_CHECKING:
    from gpuwhy.knowledge.update import Manifest

MOST = 64 << 20
"""The largest update."""
OLD = 180
"""Days after which the age of the knowledge is told."""
NAME, KEY, LOCK = "releases.zip", "update.pub", "update.lock"


def folder() -> str:
    """Where an update is kept: GPUWHY_DATA, or the place that the system has for a user's data."""
    named = os.environ.get("GPUWHY_DATA")
    if named:
        return named
    if os.name == "nt":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "gpuwhy")
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "gpuwhy")


def stale(newest: str) -> None:
    """A line where what gpuwhy knows of releases is older than half a year."""
    try:
        made = time.mktime(time.strptime(newest, "%Y-%m-%d"))
    except ValueError:
        return
    days = int((time.time() - made) / 86400)
    if days > OLD:
        say(f"gpuwhy: what it knows of releases ends on {newest}, {days} days ago (gpuwhy releases --update)")


def use() -> None:
    """Let the knowledge come from the kept update, where there is one and it is newer than what came with gpuwhy."""
    path = os.path.join(folder(), NAME)
    if not os.path.isfile(path):
        return
    from gpuwhy.knowledge import releases, shipped, update

    try:
        data = reading.read(path, MOST)
        if update.manifest(data).newest >= releases.newest():
            shipped.put("releases", _told_where(update.reader(data), path))
            releases.forget()
    except (OSError, ValueError) as error:
        say(f"gpuwhy: the update in {path} is not used: {error}; what came with gpuwhy is")


def _told_where(read: Callable[[str], bytes | None], path: str) -> Callable[[str], bytes | None]:
    """The same reader; of a file that was damaged after it was kept it says which one to remove."""

    def told(name: str) -> bytes | None:
        try:
            return read(name)
        except ValueError as error:
            raise UsageError(f"the update in {path} was damaged since it was kept ({error}); remove it") from error

    return told


def go(options: argparse.Namespace) -> int:
    """Fetch, check the signature, check the rows, keep."""
    from gpuwhy.border.minisign import BadSignatureError, check, public_key
    from gpuwhy.knowledge import releases, update

    place = options.update
    data = _bytes(place)
    signature = _bytes(options.signature or f"{place}.minisig").decode("utf-8", "replace")
    try:
        key = _key(options.key)
        check(data, signature, public_key(key))
        told = update.checked(data)
    except BadSignatureError as error:
        raise UsageError(f"{place} is refused: {error}") from error
    except update.BadUpdateError as error:
        raise UsageError(f"{place} is refused: {error}") from error
    if told.newest < releases.newest():
        raise UsageError(
            f"{place} is refused: it knows releases up to {told.newest}, gpuwhy already up to {releases.newest()}"
        )
    with _alone():
        kept = _kept()
        if kept and (told.newest, told.made) < (kept.newest, kept.made):
            raise UsageError(f"{place} is refused: it was made on {told.made}, and the one that is kept on {kept.made}")
        _keep(data, key)
    say(f"gpuwhy: knows releases up to {told.newest} now (kept in {folder()}; remove that folder to go back)")
    return HEALTHY


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Nobody else keeps an update meanwhile: of two at once the older must not come last."""
    try:
        os.makedirs(folder(), mode=0o700, exist_ok=True)
        lock = os.open(os.path.join(folder(), LOCK), os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as error:
        raise UsageError(f"cannot write to {folder()}: {error.strerror or error}") from error
    try:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(f"another gpuwhy is writing to {folder()}: try again") from None
    finally:
        os.close(lock)


def _kept() -> Manifest | None:
    """What the update that is kept says of itself, where there is one that can be read."""
    from gpuwhy.knowledge import update

    try:
        return update.manifest(reading.read(os.path.join(folder(), NAME), MOST))
    except (OSError, ValueError):
        return None


def _keep(data: bytes, key: str) -> None:
    try:
        keep(os.path.join(folder(), KEY), f"{key.strip()}\n".encode())
        keep(os.path.join(folder(), NAME), data)
    except OSError as error:
        raise UsageError(f"cannot write to {folder()}: {error.strerror or error}") from error


def _key(named: str) -> str:
    """The key that was named, as text or file; else the one that signed the last update."""
    if named and os.path.isfile(named):
        return _bytes(named).decode("utf-8", "replace")
    if named:
        return named
    kept = os.path.join(folder(), KEY)
    if os.path.isfile(kept):
        return _bytes(kept).decode("utf-8", "replace")
    raise UsageError("whose signature? Name the public key once with --key (a file, or the line that begins with RW)")


def _bytes(place: str) -> bytes:
    """A file, or what an address that the user named holds."""
    if "://" in place:
        return _fetched(place)
    try:
        return reading.read(place, MOST)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {place}: {getattr(error, 'strerror', None) or error}") from error


def _fetched(address: str) -> bytes:
    if not address.lower().startswith("https://"):
        raise UsageError(f"{address}: only https:// addresses are fetched; or name a file")
    import base64
    from importlib import resources

    from gpuwhy.border.child import Limits, collect

    code = resources.files("gpuwhy.host.children").joinpath("fetch.py").read_text(encoding="utf-8")
    argv = [sys.executable, "-I", "-c", code, address, str(MOST)]
    end = collect(argv, Limits(300.0, output=2 * MOST, keeps_errors=True), dict(os.environ))
    if end.code != 0:
        said = (end.err.strip().splitlines() or [""])[-1][:200]
        raise UsageError(f"cannot fetch {address}: {said or end.words}")
    return base64.b64decode(end.out)
