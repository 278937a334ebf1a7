"""`gpuwhy explain --ranks PATH…`: which process of a job failed first, and why."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, UsageError, refused
from gpuwhy.machine import reading

if TYPE_CHECKING:
    from gpuwhy.fleet.ranks.gather import Gathered

MOST_FILES = 20_000
LONGEST = 1 << 20
"""The longest line that is read."""


def go(options: argparse.Namespace) -> int:
    """Read every log, decide, print."""
    from gpuwhy.api.text import answer_of
    from gpuwhy.cli.output import put
    from gpuwhy.fleet.ranks.decide import decide
    from gpuwhy.fleet.ranks.job import contract, without_hosts
    from gpuwhy.fleet.ranks.report import document

    job = decide(gathered(options.ranks), answer_of)
    shown = without_hosts(job) if options.html or options.markdown else job
    put(options, document(shown, options.verbose), contract(job), nodes=True)
    return FOUND if job.failed else HEALTHY


def gathered(given: list[str]) -> Gathered:
    """Everything below the given files and folders."""
    import time

    from gpuwhy.fleet.ranks.gather import Gathered
    from gpuwhy.fleet.ranks.names import labels, last_attempts

    found = dict(_files(given))
    if not found:
        raise UsageError(f"no logs in {', '.join(given[:3])}")
    out = Gathered(time.gmtime().tm_year)
    logs = []
    for short in sorted(last_attempts(list(found))):
        if _is_dump(found[short]):
            out.dump(short, _read(found[short]))
        elif not short.endswith("error.json"):
            logs.append(short)
    for short, (name, number) in labels(logs).items():
        out.file(name, number, _lines(found[short]), os.path.getmtime(found[short]))
    return out


def _files(given: list[str]) -> Iterator[tuple[str, str]]:
    """What the rank is read from, and the path; of a folder all regular files below it."""
    count = 0
    for path in given:
        if not os.path.isdir(path):
            yield path, path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                full = os.path.join(folder, name)
                count += 1
                if count > MOST_FILES:
                    raise UsageError(f"{path}: more than {MOST_FILES:,} files; name one job's folder")
                if os.path.isfile(full):
                    yield os.path.relpath(full, path), full


def _is_dump(path: str) -> bool:
    from gpuwhy.fleet.ranks.recorder import looks_like_one

    with refused(OSError, f"cannot read {path}: "), reading.source(path) as file:
        return looks_like_one(next(reading.pieces(file), b"")[:4096])


def _read(path: str) -> bytes:
    from gpuwhy.fleet.ranks.recorder import MOST

    with refused(OSError, f"cannot read {path}: "):
        return reading.read(path, MOST)


def _lines(path: str) -> Iterator[str]:
    with refused(OSError, f"cannot read {path}: "), reading.source(path) as file:
        for line in reading.lines(file, LONGEST):
            if line is not None:
                yield line.decode("utf-8", "replace")
