"""`gpuwhy releases --update FILE|URL`: newer knowledge from a signed file that the user points to, kept for later."""

from __future__ import annotations

import argparse
import os
import sys
import time

from gpuwhy.border import reading
from gpuwhy.border.writing import keep
from gpuwhy.cli import HEALTHY, UsageError, say

MOST = 64 << 20
"""The largest update."""
OLD = 180
"""Days after which the age of the knowledge is told."""
NAME, KEY = "releases.zip", "update.pub"


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
            shipped.put("releases", update.reader(data))
            releases.forget()
    except (OSError, ValueError) as error:
        say(f"gpuwhy: the update in {path} is not used: {error}; what came with gpuwhy is")


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
    _keep(data, key)
    say(f"gpuwhy: knows releases up to {told.newest} now (kept in {folder()}; remove that folder to go back)")
    return HEALTHY


def _keep(data: bytes, key: str) -> None:
    try:
        os.makedirs(folder(), mode=0o700, exist_ok=True)
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
        raise UsageError(f"cannot fetch {address}: {end.err.strip()[-300:] or end.words}")
    return base64.b64decode(end.out)
