"""`gpuwhy explain --ranks PATH…`: which process of a job failed first, and why."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

from gpuwhy.api.text import answer_of
from gpuwhy.cli import FOUND, HEALTHY, UsageError, output, refused
from gpuwhy.fleet.ranks.decide import decide
from gpuwhy.fleet.ranks.gather import Gathered, labels, last_attempts
from gpuwhy.fleet.ranks.job import contract, without_hosts
from gpuwhy.fleet.ranks.report import document
from gpuwhy.machine import reading

MOST_FILES = 20_000
LONGEST = 1 << 20
"""The longest line that is read."""


def go(options: argparse.Namespace) -> int:
    """Read every log, decide, print."""
    job = decide(gathered(options.ranks), answer_of)
    shown = without_hosts(job) if output.shares(options) else job
    output.put(options, document(shown, bool(options.verbose)), contract(job), nodes=True)
    return FOUND if job.failed else HEALTHY


def gathered(given: list[str]) -> Gathered:
    """Everything below the given files and folders."""
    found = dict(_files(given))
    if not found:
        raise UsageError(f"no logs in {', '.join(given[:3])}")
    out = Gathered(time.gmtime().tm_year)
    logs = [one for one in sorted(last_attempts(list(found))) if not _is_data(found[one])]
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
                    raise UsageError(f"{path}: more than {MOST_FILES:,} files; name one job's")
                if os.path.isfile(full):
                    yield os.path.relpath(full, path), full


def _is_data(path: str) -> bool:
    """Torchrun's error files, and dumps of PyTorch's flight recorder, which torchfrtrace reads."""
    if path.endswith("error.json"):
        return True
    with refused(OSError, f"cannot read {path}: "), reading.source(path) as file:
        return next(reading.pieces(file), b"")[:1] == b"\x80"


def _lines(path: str) -> Iterator[str]:
    with refused(OSError, f"cannot read {path}: "), reading.source(path) as file:
        for line in reading.lines(file, LONGEST):
            if line is not None:
                yield line.decode("utf-8", "replace")
