"""Crawl: which wheels stand for which releases, and reading those that nobody has read yet."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from isal import isal_zlib
from packaging.version import Version

from tools.harvest import index
from tools.harvest.families import Family
from tools.harvest.index import IndexFile
from tools.harvest.journal import Journal
from tools.harvest.progress import Progress
from tools.harvest.readers import Disagreement
from tools.harvest.tags import Tagged, is_stable, parse
from tools.harvest.web import Web, WebError
from tools.harvest.wheel import BrokenWheel, Wheel

FAILURES = (WebError, BrokenWheel, Disagreement, KeyError, ValueError, struct.error, zlib.error, isal_zlib.error)


class Release(NamedTuple):
    """One release on one platform: the wheel that stands for it, and all of them."""

    family: Family
    tagged: Tagged
    wheels: tuple[Tagged, ...]


class Failure(NamedTuple):
    """A file that could not be read this time, and why."""

    file: str
    why: str


class Plan(NamedTuple):
    """What the index holds."""

    releases: list[Release]
    sources: dict[str, list[IndexFile]]  # project → its source archives
    failures: list[Failure]


def plan(web: Web, families: Iterable[Family], jobs: int, prereleases: bool) -> Plan:
    """Ask the index for every project and choose the wheels to read."""
    address = index.address()
    pairs = [(family, project) for family in families for project in family.projects]
    releases: list[Release] = []
    sources: dict[str, list[IndexFile]] = {}
    failures: list[Failure] = []

    def ask(pair: tuple[Family, str]) -> list[IndexFile] | None:
        try:
            return index.files(web, address, pair[1])
        except WebError as error:
            failures.append(Failure(pair[1], str(error)))
            return None

    with ThreadPoolExecutor(jobs) as pool:
        for (family, project), files in zip(pairs, pool.map(ask, pairs), strict=True):
            releases += _releases(family, project, files or [], prereleases)
            sources[project] = [f for f in files or [] if not f.name.endswith(".whl")]
    return Plan(releases, sources, failures)


def _releases(family: Family, project: str, files: list[IndexFile], prereleases: bool) -> list[Release]:
    """One per release and platform; pre-releases only of what is not released yet, unless all are asked for."""
    wheels = [tagged for file in files if (tagged := parse(file, project))]
    newest = max((Version(w.version) for w in wheels if is_stable(w.version)), default=Version("0"))
    groups: dict[tuple[str, str], list[Tagged]] = {}
    for wheel in wheels:
        if prereleases or is_stable(wheel.version) or Version(wheel.version) > newest:
            groups.setdefault((wheel.version, wheel.platform), []).append(wheel)
    return [Release(family, max(group, key=lambda t: t.order), tuple(group)) for group in groups.values()]


class Crawl:
    """Reads the wheels of a plan, lightly or deeply, into the journal."""

    def __init__(self, web: Web, journal: Journal, jobs: int) -> None:
        self._web, self._journal, self._jobs = web, journal, jobs
        self.failures: list[Failure] = []
        self._lock = threading.Lock()

    def light(self, releases: list[Release]) -> None:
        """Read what has not been read."""
        todo = [r for r in releases if self._journal.get(r.tagged.file.sha256, r.family.reader.version) is None]
        self._each("light", todo, self._read_light)

    def deep(self, releases: list[Release]) -> None:
        """Read deeply what the light reading leaves open."""
        todo = [r for r in releases if self._wants(r)]
        todo.sort(key=lambda r: (r.family.deep_order, r.tagged.platform.startswith("windows"), r.tagged.file.name))
        self._each("deep", todo, self._read_deep)

    def _wants(self, release: Release) -> bool:
        reader = release.family.reader
        known = self._journal.get(release.tagged.file.sha256, reader.version)
        return bool(reader.deep and known and not known[1] and reader.wants(release.tagged, known[0]))

    def _each(self, stage: str, todo: list[Release], work: Callable[[Release], None]) -> None:
        progress = Progress(stage, len(todo), self._web)

        def one(release: Release) -> None:
            try:
                work(release)
            except FAILURES as error:
                with self._lock:
                    self.failures.append(Failure(release.tagged.file.name, f"{type(error).__name__}: {error}"))
                progress.step(False)
            else:
                progress.step(True)

        with ThreadPoolExecutor(self._jobs) as pool:
            list(pool.map(one, todo))
        progress.end()

    def _read_light(self, release: Release) -> None:
        file, reader = release.tagged.file, release.family.reader
        reading = reader.light(Wheel(self._web, file.url), release.tagged)
        self._journal.put(file.sha256, file.name, reader.version, reading, False)

    def _read_deep(self, release: Release) -> None:
        file, reader = release.tagged.file, release.family.reader
        known = self._journal.get(file.sha256, reader.version)
        if known and reader.deep:
            reader.deep(Wheel(self._web, file.url), release.tagged, known[0])
            self._journal.put(file.sha256, file.name, reader.version, known[0], True)
