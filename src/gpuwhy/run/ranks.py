"""Ranks: which one we are, and which one failed first by what a launcher's output tells."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping, Sequence

from gpuwhy.border.reading import regular
from gpuwhy.model.fact import Fact, absent, known

VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")
SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")
MOST = 1 << 20
RUN = 600.0
"""Seconds within which the files of one run were last written."""

_SUMMARY = re.compile(
    r"Root Cause \(first observed failure\):\s*\n(?:.*\n)??"
    r"(?:.*\n){0,3}?.*?rank\s*: (?P<rank>\d+) \(local_rank: (?P<local>\d+)\)\s*\n"
    r".*?exitcode\s*: (?P<code>-?\d+) \(pid: \d+\)\s*\n(?:.*?error_file\s*: (?P<file>\S+))?"
)
_PREFIXED = re.compile(
    r"^(?:\[rank(?P<a>\d+)\]:|\[default(?P<b>\d+)\]:|\[\d+,(?P<c>\d+)\]<std\w+>:|(?P<d>\d+): )"
    r"[^\n]*?(?:Traceback \(most recent call last\)|\w*Error\b|Segmentation fault|Aborted|Killed)",
    re.MULTILINE,
)
_MPI = re.compile(
    r"mpirun noticed that process rank (?P<rank>\d+) with PID \d+ on node \S+ exited on signal (?P<n>\d+)"
)
_SRUN = re.compile(r"^srun: error: \S+: task (?P<rank>\d+): (?P<how>[^\n]+)", re.MULTILINE)


def own_rank(environ: Mapping[str, str]) -> str:
    """Our rank where we were started once for each of several; else ""."""
    size = next((environ[name] for name in SIZES if name in environ), "")
    rank = next((environ[name] for name in VARIABLES if name in environ), "")
    return rank if rank.isdigit() and size != "1" else ""


def first_rank(text: str) -> Fact[str]:
    """The rank that failed first: by torchrun's summary, mpirun's or srun's words, or the first line with a prefix."""
    if found := _SUMMARY.search(text):
        how = f"{_ending(int(found['code']))}, local rank {found['local']}"
        return known(f"rank {found['rank']} ({how})", "log", "torchrun's summary")
    if found := _PREFIXED.search(text):
        rank = next(group for group in found.groups() if group is not None)
        return known(f"rank {rank}", "log", "the first line of an error with a rank before it")
    if found := _MPI.search(text):
        return known(f"rank {found['rank']} (signal {found['n']})", "log", "mpirun's summary")
    if found := _SRUN.search(text):
        return known(f"rank {found['rank']} ({found['how'].strip()[:80]})", "log", "srun's summary")
    return absent("log", "output", "no rank is named")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def error_file(text: str) -> str:
    """The file in which torchrun's first failing rank left its exception, or ""."""
    found = _SUMMARY.search(text)
    return found["file"] if found and found["file"] and found["file"].startswith("/") else ""


def log_folder(argv: Sequence[str], text: str) -> tuple[str, str]:
    """The folder into which torchrun was told to write each rank's output, and the rank there that failed first."""
    found = _SUMMARY.search(text)
    for place, word in enumerate(argv):
        name, given, value = word.partition("=")
        if name in ("--log-dir", "--log_dir"):
            folder = value if given else next(iter(argv[place + 1 : place + 2]), "")
            return (folder, found["local"]) if found and folder else ("", "")
    return "", ""


def rank_logs(folder: str, local: str) -> tuple[str, ...]:
    """What the newest run below such a folder left of one rank: standard error first, its last attempt last."""
    files = glob.glob(f"{glob.escape(folder)}/*/attempt_*/{local}/std*.log")
    newest = max((os.path.getmtime(path) for path in files if os.path.isfile(path)), default=0.0)
    fresh = [path for path in sorted(files) if os.path.isfile(path) and newest - os.path.getmtime(path) < RUN]
    return tuple(_tail(path) for path in fresh)


def _tail(path: str) -> str:
    try:
        with os.fdopen(regular(path), "rb") as file:
            file.seek(max(0, os.path.getsize(path) - MOST))
            return file.read(MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def error_text(data: str) -> str:
    """The exception in such a file."""
    try:
        said = json.loads(data)["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    if isinstance(said, str):
        return said
    more = said.get("extraInfo", {}) if isinstance(said, dict) else {}
    return str(more.get("py_callstack") or said.get("message", "")) if isinstance(said, dict) else ""
