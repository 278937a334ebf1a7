"""Modules gone: which public modules of a package its newest releases have no more, so that lint can tell an import.

    python -m tools.harvest.modules_gone JOURNAL [NAME …]     # writes knowledge/data/modules_gone.json

Of the last release of each minor number only the directory of one wheel is read. What was read stays in the journal, a
line a project; the projects are those of modules_gone.txt beside this file.
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from packaging.version import Version

from tools.harvest.guests import version_of
from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web, WebError
from tools.harvest.wheel import BrokenWheel, Wheel

OUT = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data/modules_gone.json"
PROJECTS = Path(__file__).with_name("modules_gone.txt").read_text().split()
THREADS = 16
_MODULE = re.compile(r"((?:[A-Za-z]\w*/)*[A-Za-z]\w*?)(?:/__init__\.py|\.py|\.(?:cpython|abi3)\S*\.so|\.so)")
_INNER = re.compile(
    r"(?:^|/)(?:tests?|testing|conftest|examples?|benchmarks?|docs?|src|compat|vendor\w*|third_party)(?:/|$)"
)
"""Parts that no program imports, and files that lie in a wheel by accident."""


def main(journal: Path, named: list[str]) -> int:
    """Read what is not in the journal yet, then write the table of all of it."""
    read: dict[str, dict[str, list[str]]] = {}
    for line in journal.read_text().splitlines() if journal.exists() else ():
        read.update(json.loads(line))
    web, index = Web(THREADS), address()
    with journal.open("a") as out:
        for project in dict.fromkeys(named or [one for one in PROJECTS if one not in read]):
            try:
                read[project] = modules(web, index, project)
            except WebError as error:
                print(project, error, file=sys.stderr, flush=True)
                continue
            out.write(json.dumps({project: read[project]}, separators=(",", ":")) + "\n")
            out.flush()
            print(project, len(read[project]), file=sys.stderr, flush=True)
    save({name: found for name in sorted(read) if (found := gone(read[name]))})
    return 0


def save(found: dict[str, dict[str, str]]) -> None:
    """The table, one project a line."""
    body = ",\n".join(f"{json.dumps(name)}:{json.dumps(rows, separators=(',', ':'))}" for name, rows in found.items())
    OUT.write_text(f'{{"schema":"gpuwhy.knowledge.modules_gone/1","packages":{{\n{body}\n}}}}\n')


def modules(web: Web, index: str, project: str) -> dict[str, list[str]]:
    """The public modules of the last release of each minor number, oldest first."""
    last: dict[tuple[int, ...], tuple[Version, IndexFile]] = {}
    for one in files(web, index, project) or ():
        version = version_of(one.name)
        wheel = one.name.endswith(".whl") and re.search(r"any\.whl|linux\S*x86_64", one.name)
        if not wheel or version is None or one.yanked or version.is_prerelease or version.is_devrelease:
            continue
        minor = version.release[:2]
        if minor not in last or last[minor][0] <= version:
            last[minor] = version, one
    order = sorted(last.values(), key=lambda pair: pair[0])
    with ThreadPoolExecutor(THREADS) as pool:
        found = pool.map(lambda pair: _in_wheel(web, pair[1]), order)
        return {str(version): names for (version, _), names in zip(order, found, strict=True) if names}


def _in_wheel(web: Web, wheel: IndexFile) -> list[str]:
    try:
        members = Wheel(web, wheel.url).members
    except (BrokenWheel, WebError):
        return []
    matched = (_MODULE.fullmatch(name) for name in members)
    return sorted({one[1].replace("/", ".") for one in matched if one and not _INNER.search(one[1])})


def gone(read: dict[str, list[str]]) -> dict[str, str]:
    """Module → the first release that was read without it and all that follow; the topmost of each branch alone."""
    order = sorted(read, key=Version)
    newest = set(read[order[-1]]) if order else set()
    tops = {one.partition(".")[0] for one in newest}
    first: dict[str, str] = {}
    for version, later in pairwise(order):
        for name in read[version]:
            if name not in newest and name.partition(".")[0] in tops:
                first[name] = later
    first = {name: version for name, version in first.items() if not _has(name, version, order, read)}
    return {name: version for name, version in sorted(first.items()) if name.rpartition(".")[0] not in first}


def _has(name: str, version: str, order: list[str], read: dict[str, list[str]]) -> bool:
    """Whether a release from that one on has it after all."""
    return any(name in read[one] for one in order[order.index(version) :])


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
