"""Ranks: the logs of one job's processes, which of them failed first, and what the others only report."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.answer.answer import Answer

SCHEMA = "gpuwhy.ranks/1"

Ended = Literal["failed", "killed", "waited", "silent", "well", "stopped"]
"""failed: for a reason of its own. killed: by a signal, without a word. waited: it reports that another one is gone or
late. silent: its log just ends. well: it came to its end. stopped: told to end, by its launcher or scheduler."""


class Rank(msgspec.Struct, frozen=True):
    """One process of the job, as its log tells."""

    name: str  # "rank 3", "gpu02/rank 3", or a file's own name
    number: int  # -1 where nobody tells
    ended: Ended
    text: str = ""  # its last error in a line
    time: float | None = None  # of that, on the clock of the reference rank
    last: float | None = None  # of its last line
    offset: float = 0.0  # seconds by which its clock was found to be ahead
    step: int | None = None  # the last training step it told
    cause: str = ""
    host: str = ""
    late: bool = False  # it waited, and ran into a time limit


class Mismatch(msgspec.Struct, frozen=True):
    """A collective at which ranks did not do the same, by PyTorch's flight recorder."""

    group: str
    number: int  # the collective's place in the group's order
    kind: Literal["operation", "size", "type", "missing"]
    ranks: tuple[int, ...]  # who did otherwise than most
    text: str


class Xid(msgspec.Struct, frozen=True):
    """A driver error in a kernel log among the files."""

    number: int
    host: str  # "" where the line names none
    pci: str
    text: str


class Job(msgspec.Struct, frozen=True):
    """The answer for a job. Its JSON form (`render/ranks.py`) is the contract `gpuwhy.ranks/1`."""

    ranks: tuple[Rank, ...]
    first: tuple[int, ...]  # places in `ranks` of what failed first; () = none, or nobody can tell
    why: str  # how that is known
    behind: tuple[int, ...] = ()  # places of stragglers
    mismatches: tuple[Mismatch, ...] = ()
    xids: tuple[Xid, ...] = ()
    absent: tuple[int, ...] = ()  # numbers of ranks without a log
    report: Answer | None = None  # on the log of the first
    notes: tuple[str, ...] = ()
