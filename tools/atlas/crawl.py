"""Crawl: the releases of each package, oldest to newest in steps, and the messages of each, kept as they come."""

from __future__ import annotations

import gzip
import io
import json
import platform
import re
import sys
import sysconfig
import tarfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from tools.atlas import binary_strings, python_source
from tools.atlas.message import Message
from tools.atlas.packages import Package
from tools.harvest import index
from tools.harvest.crawl import FAILURES
from tools.harvest.index import IndexFile
from tools.harvest.tags import parse
from tools.harvest.web import Web
from tools.harvest.wheel import Wheel

READERS = {"py": 2, "so": 1}
"""Version of each reader; what another version has read is read again."""
_BIGGEST = 2 << 30
_TOP = 40 << 20
_LONG = 15
_LONGEST = 4 << 20
_SMALL, _LARGE, _PART, _AT_ONCE = 16 << 20, 128 << 20, 4 << 20, 12
_PLATFORMS = ("linux-x86_64", "any")


class Edition(NamedTuple):
    """One release of one package, by the file that stands for it."""

    package: str
    version: str
    file: IndexFile


def editions(web: Web, address: str, package: Package) -> list[Edition]:
    """The last release of each series (of a long one its first and middle too), thinned out to the package's steps."""
    series: dict[tuple[int, ...], dict[Version, Edition]] = {}
    for project in package.projects:
        for file in index.files(web, address, project) or []:
            version = _version(file, project)
            if version is None or file.yanked:
                continue
            one = Edition(package.name, str(version), file)
            known = series.setdefault(version.release[:2], {})
            if version not in known or _better(one, known[version]):
                known[version] = one
    return _thinned([one for key in sorted(series) for one in _stand_for(series[key])], package.steps)


def _stand_for(some: dict[Version, Edition]) -> list[Edition]:
    ordered = [some[k] for k in sorted(some)]
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]] if len(ordered) >= _LONG else ordered[-1:]


def _thinned(ordered: list[Edition], steps: int) -> list[Edition]:
    if len(ordered) <= steps:
        return ordered
    last = len(ordered) - 1
    return [ordered[round(n * last / (steps - 1))] for n in range(steps)]


def rounds(found: list[list[Edition]]) -> list[Edition]:
    """Editions in the order of reading: of every package the newest, the oldest, the middle, then what lies between."""
    out = []
    for some in found:
        order = [len(some) - 1, 0] if len(some) > 1 else list(range(len(some)))
        step = len(some)
        while len(order) < len(some):
            step = max(1, step // 2)
            order += [n for n in range(step, len(some), step) if n not in order]
        out += [(turn, some[n]) for turn, n in enumerate(order)]
    return [edition for _, edition in sorted(out, key=lambda one: one[0])]


def _version(file: IndexFile, project: str) -> Version | None:
    """The version of a file that is read: a wheel for Linux, or a source archive of Python alone."""
    tagged = parse(file, project)
    if tagged and tagged.platform not in _PLATFORMS:
        return None
    text = tagged.version if tagged else file.name.removesuffix(".tar.gz").rpartition("-")[2]
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    wanted = tagged or file.name.endswith(".tar.gz")
    return version if wanted and not version.is_prerelease and version.release > (0, 0, 9) else None


def _better(one: Edition, known: Edition) -> bool:
    wheels = one.file.name.endswith(".whl"), known.file.name.endswith(".whl")
    return (wheels[0], Version(one.version), one.file.name) > (wheels[1], Version(known.version), known.file.name)


class Shelf:
    """Messages by file, each in a compressed file of its own, so that an interrupted run goes on where it stopped."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def path(self, edition: Edition, part: str) -> Path:
        """The file of an edition's Python ("py") or libraries ("so")."""
        name = f"{edition.package}-{edition.version}-{edition.file.sha256[:12]}-{part}{READERS[part]}.json.gz"
        return self._folder / name

    def read(self, edition: Edition, part: str) -> list[Message] | None:
        """What was read earlier; None where nothing was."""
        path = self.path(edition, part)
        if not path.exists():
            return None
        return [Message(*row) for row in json.loads(gzip.decompress(path.read_bytes()))]

    def whole(self, edition: Edition) -> list[Message] | None:
        """Both parts; None where one is missing."""
        parts = [self.read(edition, part) for part in READERS]
        return None if None in parts else [message for part in parts for message in part or ()]

    def write(self, edition: Edition, part: str, found: list[Message]) -> None:
        """Keep messages, all or none."""
        path = self.path(edition, part)
        aside = path.with_suffix(".part")
        aside.write_bytes(gzip.compress(json.dumps(found).encode(), 6))
        aside.replace(path)


def read(web: Web, shelf: Shelf, package: Package, edition: Edition) -> bool:
    """Read what the shelf lacks of an edition; False where its file cannot be read."""
    missing = [part for part in READERS if not shelf.path(edition, part).exists()]
    start, before = time.monotonic(), web.received
    try:
        for part in missing:
            members = _wheel if edition.file.name.endswith(".whl") else _archive
            found = [m for name, data in members(web, package, edition, part) for m in _messages(part, name, data)]
            shelf.write(edition, part, found)
    except (*FAILURES, tarfile.TarError, EOFError, OSError) as error:
        print(f"not read: {edition.file.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    if missing:
        took, amount = time.monotonic() - start, (web.received - before) / 1e6
        print(
            f"{edition.package} {edition.version}: {'+'.join(missing)}, {amount:.0f} MB, {took:.0f} s", file=sys.stderr
        )
    return True


def of_this_python() -> tuple[str, list[Message]]:
    """The version and the messages of the interpreter that runs this: its library and its own strings."""
    folder, found = Path(sysconfig.get_paths()["stdlib"]), []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not re.search(r"(^|/)(test|tests|idlelib|lib2to3|site-packages|turtledemo)/", name):
            found += python_source.messages(path.read_bytes(), name)
    for path in (Path(sys.executable).resolve(), *folder.parent.glob("libpython3.*.so.*")):
        found += binary_strings.messages(path.read_bytes(), path.name.rstrip("0123456789."))
    return platform.python_version(), found


def _messages(part: str, member: str, data: bytes | bytearray) -> list[Message]:
    name = member.partition(".data/purelib/")[2] or member.partition(".data/platlib/")[2] or member
    if part == "so":
        return binary_strings.messages(data, name.rpartition("/")[2])
    return python_source.messages(bytes(data), name)


def _wheel(web: Web, package: Package, edition: Edition, part: str) -> Iterator[tuple[str, bytes | bytearray]]:
    wheel = Wheel(web, edition.file.url)
    if part == "so":
        ahead = _Ahead(web, edition.file.url, wheel, _LARGE)
        for name, member in wheel.members.items():
            if package.is_library(name) and member.size < _BIGGEST:
                yield name, ahead.whole(name)
        return
    sources = [m for m in wheel.members.values() if package.is_source(m.name) and m.size < _LONGEST]
    ahead = _Ahead(web, edition.file.url, wheel, _SMALL)
    for member in sorted(sources, key=lambda m: m.offset):
        yield member.name, ahead.read(member.name)


class _Ahead(Wheel):
    """A wheel whose bytes are fetched in a large window, several parts at once, and kept for the next question."""

    def __init__(self, web: Web, url: str, wheel: Wheel, window: int) -> None:
        self._url, self.size, self.members, self._window = url, wheel.size, wheel.members, window
        self._far, self._start, self._data = web, 0, b""
        self._web = self  # type: ignore[assignment]

    def bytes(self, url: str, start: int, size: int) -> bytes:
        """Bytes out of the window, which moves on where they lie outside."""
        if not (self._start <= start and start + size <= self._start + len(self._data)):
            end = min(start + max(size, self._window), self.size)
            cuts = [(at, min(_PART, end - at)) for at in range(start, end, _PART)]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                parts = pool.map(lambda cut: self._far.bytes(url, *cut), cuts)
                self._start, self._data = start, b"".join(parts)
        return self._data[start - self._start : start - self._start + size]


def _archive(web: Web, package: Package, edition: Edition, part: str) -> Iterator[tuple[str, bytes]]:
    if part == "so":
        return
    _, size = web.tail(edition.file.url, 16)
    if size > _TOP:
        raise ValueError(f"{size} bytes, a source archive with more than Python")
    packed = web.bytes(edition.file.url, 0, size)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            file = (
                archive.extractfile(member)
                if member.isfile() and package.is_source(name) and member.size < 4 << 20
                else None
            )
            if file is not None:
                yield name, file.read()
