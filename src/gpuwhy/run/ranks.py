"""Ranks: which one we are, and what the first that failed left in files of its own."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpuwhy.machine.reading import regular

VARIABLES = (
    *("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"),
    "MV2_COMM_WORLD_RANK",
)
SIZES = (
    *("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"),
    "MV2_COMM_WORLD_SIZE",
)
MOST = 1 << 20
RUN = 600.0
"""Seconds within which the files of one run were last written."""

_SUMMARY = re.compile(
    r"Root Cause \(first observed failure\):\s*\n(?:.*\n){0,4}?"
    r".*?rank\s*: (?P<rank>\d+) \(local_rank: (?P<local>\d+)\)\s*\n"
    r".*?exitcode\s*: -?\d+ \(pid: \d+\)\s*\n(?:.*?error_file\s*: (?P<file>/\S+))?"
)


_FIRST = re.compile(
    r"^(?:\[rank(\d+)\]:|\[default(\d+)\]:|\[\d+,(\d+)\]<std\w+>:|(\d+): )"
    r"[^\n]*?(?:Traceback \(most recent call last\)|\w*Error\b|Segmentation fault|Aborted|Killed)"
    r"|mpirun noticed that process rank (\d+) with PID"
    r"|^srun: error: \S+: task (\d+): ",
    re.MULTILINE,
)
"""The first error with a rank before it; the words of mpirun and srun."""


class Summary(NamedTuple):
    """What torchrun tells of the process that failed first."""

    rank: str
    local: str
    file: str


def own_rank(environ: Mapping[str, str]) -> str:
    """Our rank where we were started once for each of several; else ""."""
    size = next((environ[name] for name in SIZES if name in environ), "")
    rank = next((environ[name] for name in VARIABLES if name in environ), "")
    return rank if rank.isdigit() and size != "1" else ""


def summary(text: str) -> Summary | None:
    """torchrun's block on the process that failed first."""
    found = _SUMMARY.search(text)
    return Summary(found["rank"], found["local"], found["file"] or "") if found else None


def first_rank(text: str) -> str:
    """The rank that failed first, or ""."""
    if told := summary(text):
        return told.rank
    found = _FIRST.search(text)
    return next(filter(None, found.groups()), "") if found else ""


def log_folder(argv: Sequence[str]) -> str:
    """The folder into which torchrun was told to write each rank's output, or ""."""
    for place, word in enumerate(argv):
        name, given, value = word.partition("=")
        if name in ("--log-dir", "--log_dir"):
            return value if given else next(iter(argv[place + 1 : place + 2]), "")
    return ""


def rank_logs(folder: str, local: str) -> tuple[str, ...]:
    """What the newest run below such a folder left of one rank: its last attempt last."""
    pattern = f"{glob.escape(folder)}/*/attempt_*/{local}/std*.log"
    files = [path for path in sorted(glob.glob(pattern)) if os.path.isfile(path)]
    newest = max((os.path.getmtime(path) for path in files), default=0.0)
    return tuple(_tail(path) for path in files if newest - os.path.getmtime(path) < RUN)


def _tail(path: str) -> str:
    try:
        with os.fdopen(regular(path), "rb") as file:
            file.seek(max(0, os.path.getsize(path) - MOST))
            return file.read(MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def error_text(path: str) -> str:
    """The exception in an error file of torchrun's; "" where there is none."""
    try:
        said = json.loads(_tail(path))["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    if isinstance(said, dict):
        more = said.get("extraInfo", {})
        said = more.get("py_callstack") or said.get("message", "")
    return str(said)


def rank_texts(argv: Sequence[str], output: str) -> tuple[list[str], list[str]]:
    """What the rank that failed first wrote: logs, which go before the output; its error file."""
    first = summary(output)
    if first is None:
        return [], []
    folder = log_folder(argv)
    logs = rank_logs(folder, first.local) if folder else ()
    error = error_text(first.file) if first.file else ""
    return list(logs), [error] if error else []
