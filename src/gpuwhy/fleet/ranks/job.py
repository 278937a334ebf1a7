"""The answer for a job: its ranks, which of them failed first, what the others only report."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from gpuwhy.answer.answer import Answer

SCHEMA = "gpuwhy.ranks/1"

Ended = Literal["failed", "killed", "waited", "silent", "well", "stopped"]
"""failed: for a reason of its own. killed: by a signal, without a word. waited: it reports that
another one is gone or late. silent: its log just ends. well: it came to its end. stopped: told to
end, by its launcher or scheduler."""
BAD = ("failed", "killed", "waited")


class Rank(msgspec.Struct, frozen=True, rename={"number": "rank", "offset": "clock_ahead"}):
    """One process of the job, as its log tells."""

    name: str  # "rank 3", "gpu02/rank 3", or a file's own name
    number: int | None  # None where nobody tells
    host: str | None
    ended: Ended
    text: str = ""  # its last error in a line
    cause: str | None = None
    time: float | None = None  # of that, on the clock of the reference rank
    last: float | None = None  # of its last line
    offset: float = 0.0  # seconds by which its clock was found to be ahead
    step: int | None = None  # the last training step it told


class Xid(msgspec.Struct, frozen=True, rename={"number": "xid"}):
    """A driver error in a kernel log among the files."""

    number: int
    host: str  # "" where the line names none
    pci: str
    text: str


class Job(msgspec.Struct, frozen=True):
    """The answer for a job; `contract` is its JSON form."""

    ranks: tuple[Rank, ...]
    first: tuple[int, ...]  # places in `ranks` of what failed first; () = none, or nobody can tell
    why: str  # how that is known
    behind: tuple[int, ...] = ()  # places of stragglers
    xids: tuple[Xid, ...] = ()
    absent: tuple[int, ...] = ()  # numbers of ranks without a log
    report: Answer | None = None  # on the log of the first
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any rank tells of a failure."""
        return any(rank.ended in BAD for rank in self.ranks)

    def names(self, places: tuple[int, ...]) -> list[str]:
        """The names of the ranks at these places."""
        return [self.ranks[place].name for place in places]


def contract(job: Job) -> dict[str, Any]:
    """The job in plain values, `gpuwhy.ranks/1`: docs/ranks.schema.json."""
    plain: dict[str, Any] = msgspec.to_builtins(job)
    named = {"first": job.names(job.first), "behind": job.names(job.behind)}
    order = ("first", "why", "ranks", "behind", "absent", "xids", "notes", "report")
    rest = {name: named.get(name, plain[name]) for name in order}
    return {"schema": SCHEMA, **rest, "mismatches": []}  # of a dump, which 1.0 does not read


def without_hosts(job: Job) -> Job:
    """The same to pass on: the nodes are numbered, not named."""
    named = [rank.host for rank in job.ranks] + [xid.host for xid in job.xids]
    hosts = dict.fromkeys(host for host in named if host)
    numbers = {host: f"node-{n}" for n, host in enumerate(hosts, 1)}
    longest = sorted((one for one in numbers if len(one) > 2), key=len, reverse=True)
    words = "|".join(map(re.escape, longest)) or "(?!)"
    shape = re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])")

    def hide(value: Any) -> Any:
        if isinstance(value, str):
            return numbers.get(value) or shape.sub(lambda found: numbers[found[0]], value)
        if isinstance(value, dict):
            return {name: hide(one) for name, one in value.items()}
        return [hide(one) for one in value] if isinstance(value, (list, tuple)) else value

    return msgspec.convert(hide(msgspec.to_builtins(job)), Job)
