"""Asked: what the packages of usual GPU environments ask of each other, so that lint can tell what an installer takes.

    nice python -m tools.harvest.asked JOURNAL [NAME …]     # writes knowledge/data/asked.json; names: only these anew

Only the index page and the METADATA of one Linux or pure wheel of each release are read. A release without a wheel is
kept with nothing: what it asks for is not known. What was read stays in the journal, a line a project; the projects are
those of asked.txt beside this file: what asks for a framework, and what frameworks ask for. A project that only
the table has keeps its rows; what it asks of one that came later is in them when it is named and read anew.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.harvest.guests import LINUX, version_of
from tools.harvest.index import IndexFile, address, files
from tools.harvest.stated import metadata
from tools.harvest.web import Web, WebError

OUT = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data/asked.json"
PROJECTS = Path(__file__).with_name("asked.txt").read_text().split()
NEWEST = 700
"""Releases of a project that are read, the newest ones."""

THREADS = 32
Said = list[str] | None
Release = tuple[str, str, Said]
"""A release, what it demands of Python, the lines of its Requires-Dist (None where there is no wheel)."""


def main(journal: Path, named: list[str]) -> int:
    """Read what is not in the journal yet, then write the table of all of it."""
    read: dict[str, list[Release]] = {}
    for line in journal.read_text().splitlines() if journal.exists() else ():
        read.update(json.loads(line))
    web, index, kept = Web(THREADS), address(), json.loads(OUT.read_text())["packages"]
    with journal.open("a") as out:
        for project in dict.fromkeys(named or [p for p in PROJECTS if p not in read and p not in kept]):
            try:
                read[project] = releases(web, index, project)
            except WebError as error:
                print(project, error, file=sys.stderr, flush=True)
                continue
            out.write(json.dumps({project: read[project]}, separators=(",", ":")) + "\n")
            out.flush()
    wanted = frozenset(PROJECTS)
    save(kept | {name: rows(name, found, wanted) for name, found in read.items() if found and name in wanted})
    return 0


def save(found: dict[str, list[list[object]]]) -> None:
    """The table, one project a line."""
    lines = (f"{json.dumps(name)}:{json.dumps(found[name], separators=(',', ':'))}" for name in sorted(found))
    body = ",\n".join(lines)
    OUT.write_text(f'{{"schema":"gpuwhy.knowledge.asked/2","packages":{{\n{body}\n}}}}\n')


def releases(web: Web, index: str, project: str) -> list[Release]:
    """The releases of a project, oldest first; withdrawn ones and previews left out."""
    listed: dict[Version, list[IndexFile]] = {}
    for one in files(web, index, project) or ():
        version = version_of(one.name)
        if version and not one.yanked and not version.is_prerelease and not version.is_devrelease:
            listed.setdefault(version, []).append(one)
    order = sorted(listed)[-NEWEST:]
    with ThreadPoolExecutor(THREADS) as pool:
        said = list(pool.map(lambda version: requires(web, listed[version]), order))
    print(project, len(order), file=sys.stderr, flush=True)
    pythons = (max((one.python for one in listed[version]), key=len) for version in order)
    return [(str(version), python, one) for version, python, one in zip(order, pythons, said, strict=True)]


def requires(web: Web, listed: list[IndexFile]) -> Said:
    """The lines of Requires-Dist that the first and the last wheel of a release have: some differ by their Python."""
    wheels = [f for f in listed if f.name.endswith(".whl") and re.search(r"any\.whl|linux\S*x86_64", f.name)]
    texts = [metadata(web, wheel) for wheel in {wheels[0], wheels[-1]}] if wheels else []
    said = [_lines(text) for text in texts if text is not None]
    if not said:
        return None
    return [line if all(line in one for one in said) else name for line in said[0] if (name := _shared(line, said))]


def _shared(line: str, said: list[list[str]]) -> str:
    """The package that a line asks for, where every wheel asks for it."""
    found = re.match(r"[\w.-]+", line)
    name = found[0] if found else ""
    return name if all(any(re.match(rf"{re.escape(name)}(?![\w.-])", other) for other in one) for one in said) else ""


def _lines(text: str) -> list[str]:
    head = text.replace("\r", "").split("\n\n", 1)[0]
    return [line.removeprefix("Requires-Dist: ") for line in head.splitlines() if line.startswith("Requires-Dist: ")]


def rows(project: str, found: list[Release], others: frozenset[str]) -> list[list[object]]:
    """[[releases…], Python, what differs from the row before or null]…: neighbours that ask for the same in one row.

    What is asked for no longer is null; where nothing is known the whole row is null, and the next starts anew.
    """
    out: list[list[object]] = []
    last: dict[str, list[str]] | None = {}
    for version, python, lines in found:
        said = None if lines is None else asks(lines, project, others)
        if out and out[-1][1] == python and said == last:
            out[-1][0] = f"{out[-1][0]} {version}"
        else:
            out.append([version, python, None if said is None else difference(last or {}, said)])
        last = said
    return out


def difference(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, str | list[str] | None]:
    """What a row asks for otherwise than the one before it; one demand stands without its list."""
    gone: dict[str, str | list[str] | None] = {name: None for name in before if name not in after}
    new = {name: wishes for name, wishes in after.items() if before.get(name) != wishes}
    return gone | {name: wishes[0] if len(wishes) == 1 else wishes for name, wishes in new.items()}


def asks(lines: Iterable[str], project: str, others: frozenset[str]) -> dict[str, list[str]]:
    """What a wheel of a release asks of other projects of the table, on Linux and without extras."""
    out: dict[str, list[str]] = {}
    for line in lines:
        add(out, line, project, others)
    return {name: sorted(set(wishes)) for name, wishes in sorted(out.items())}


def add(out: dict[str, list[str]], text: str, project: str, others: frozenset[str]) -> None:
    """One demand; `>=1.2;3.9,3.10` where a marker restricts it to some Pythons."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return
    other = canonicalize_name(wanted.name)
    where = list(pythons(str(wanted.marker))) if wanted.marker else PYTHONS
    if other == project or other not in others or wanted.url or not where:
        return
    only = "" if where == PYTHONS else ";" + ",".join(where)
    out.setdefault(other, []).append(str(wanted.specifier) + only)


PYTHONS = [f"3.{minor}" for minor in range(6, 15)]


@lru_cache(maxsize=4096)
def pythons(text: str) -> tuple[str, ...]:
    """The Pythons on which Linux takes a demand without extras, by its marker."""
    marker = Marker(text)
    try:
        return tuple(
            p for p in PYTHONS if marker.evaluate({**LINUX, "python_version": p, "python_full_version": f"{p}.9"})
        )
    except (UndefinedComparison, UndefinedEnvironmentName):
        return ()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
