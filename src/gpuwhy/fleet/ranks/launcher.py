"""Launcher: what torchrun, srun and mpirun say of the ranks that they started."""

from __future__ import annotations

import re
import signal

import msgspec

from gpuwhy.fleet.tables import expression

_BLOCK = expression("block")
_HOST = expression("host")
_ROOT = expression("root")
_FAILED = expression("failed")
_SRUN = expression("srun")
_MPI = expression("mpi")
_MPI_CODE = expression("mpi_code")
_WORDS = {
    "segmentation fault": -11,
    "aborted": -6,
    "killed": -9,
    "out of memory": -9,
    "bus error": -7,
    "terminated": -15,
}


class Said(msgspec.Struct):
    """Exit codes and hosts by rank, and the rank that the launcher saw fail first."""

    codes: dict[int, int] = {}
    hosts: dict[int, str] = {}
    root: int = -1


def read(text: str) -> Said:
    """What a launcher's own lines tell."""
    said = Said()
    for found in _FAILED.finditer(text):
        said.root = int(found["rank"]) if said.root < 0 else said.root
        said.codes.setdefault(int(found["rank"]), int(found["code"]))
    for found in _BLOCK.finditer(text):
        said.codes[int(found["rank"])] = int(found["code"])
    for found in _HOST.finditer(text):
        said.hosts[int(found["rank"])] = found["host"]
    if (root := _ROOT.search(text)) and (block := _BLOCK.search(root["rest"])):
        said.root = int(block["rank"])
    _of_schedulers(text, said)
    return said


def _of_schedulers(text: str, said: Said) -> None:
    for found in _SRUN.finditer(text):
        for rank in _tasks(found["rank"]):
            said.hosts.setdefault(rank, found["host"])
            said.codes.setdefault(rank, _how(found["how"]))
            said.root = rank if said.root < 0 and said.codes[rank] != -15 else said.root
    for found in _MPI.finditer(text):
        said.codes.setdefault(int(found["rank"]), -int(found["n"]))
        said.root = int(found["rank"]) if said.root < 0 else said.root
    for found in _MPI_CODE.finditer(text):
        said.codes.setdefault(int(found["rank"]), int(found["code"]))
        said.root = int(found["rank"]) if said.root < 0 else said.root


def _tasks(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(",")[:1000]:
        first, _, last = part.partition("-")
        if first.isdigit():
            out += range(int(first), min(int(last or first), int(first) + 100_000) + 1)
    return out


def _how(words: str) -> int:
    found = re.search(r"exit code (\d{1,3})", words)
    if found:
        return int(found[1])
    return next((code for word, code in _WORDS.items() if word in words.lower()), 1)


def named(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"{signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
