"""Decide: the rank that failed first, by clock and by cause.

A rank that only reports an absence did not begin it.
"""

import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from gpuwhy.answer import blocks
from gpuwhy.answer.answer import Answer
from gpuwhy.answer.blocks import item, items, pair, pairs
from gpuwhy.answer.text import clip
from gpuwhy.answer.tree import Block, Document, Heading, Mark
from gpuwhy.fleet.ranks.gather import Ended, Gathered, Log, Said, Xid, offsets
from gpuwhy.log.log import Log as Reading

SCHEMA = "gpuwhy.ranks/1"
T = TypeVar("T")
Found = tuple[Sequence[Log], str]  # logs of ranks, and how that is known
BAD = ("failed", "killed", "waited")
PARTED = (
    "the ranks did not run the same collective; which one parted is not in these logs: run it "
    "again with TORCH_DISTRIBUTED_DEBUG=DETAIL, or with TORCH_FR_BUFFER_SIZE=2000, and have "
    "torchfrtrace compare its dumps"
)
LEAD, WRITTEN = 0.05, 0.3
"""Seconds by which one must be earlier: by its own times, and by when its file was written."""
MOST_RANKS, MOST = 100_000, 12
_WORDS = {
    "failed": "failed",
    "killed": "killed",
    "waited": "waited for another",
    "silent": "just end",
    "well": "ended well",
    "stopped": "were told to stop",
}


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
    plain |= {"first": job.names(job.first), "behind": job.names(job.behind)}
    order = ("first", "why", "ranks", "behind", "absent", "xids", "notes", "report")
    rest = {name: plain[name] for name in order}
    return {"schema": SCHEMA, **rest, "mismatches": []}  # of a dump, which 1.0 does not read


def without_hosts(job: Job) -> Job:
    """The same to pass on: the nodes are numbered, not named."""
    named = [rank.host for rank in job.ranks] + [xid.host for xid in job.xids]
    hosts = dict.fromkeys(host for host in named if host)
    numbers = {host: f"node-{n}" for n, host in enumerate(hosts, 1)}
    words = "|".join(map(re.escape, sorted(hosts, key=len, reverse=True))) or "(?!)"
    shape = re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])")

    def hide(value: Any) -> Any:
        if isinstance(value, str):
            return shape.sub(lambda found: numbers[found[0]], value)
        if isinstance(value, dict):
            return {name: hide(one) for name, one in value.items()}
        return [hide(one) for one in value] if isinstance(value, (list, tuple)) else value

    return msgspec.convert(hide(msgspec.to_builtins(job)), Job)


def decide(gathered: Gathered, explain: Callable[[Reading], Answer]) -> Job:
    """The whole answer; `explain` says why one log's program failed."""
    gathered.whole()
    said = Said("\n".join(gathered.words))
    for number, code in said.codes.items():  # a rank without a log gets an empty one
        mine = [log for log in gathered.logs.values() if log.number == number]
        for log in mine or [gathered.log(f"rank {number}", number)]:
            log.code = code
    logs = sorted(gathered.logs.values(), key=lambda log: (log.number < 0, log.number, log.name))
    for log in logs:
        log.end()
    for log, offset in zip(logs, offsets([log.shared for log in logs]), strict=True):
        log.offset = offset
    reports = [explain(log.reading) if log.tells_a_failure else None for log in logs]
    have = {log.number for log in logs}
    told = have and -1 not in have and gathered.world <= MOST_RANKS
    absent = tuple(one for one in range(gathered.world if told else 0) if one not in have)
    first, why = _first(logs, said.root, absent)
    chosen = set(first)
    places = tuple(place for place, log in enumerate(logs) if log in chosen)
    steps = sorted(log.step for log in logs if log.step is not None)
    usual = steps[len(steps) // 2] if len(steps) > 2 else 0
    return Job(
        ranks=tuple(_rank(log, one, said) for log, one in zip(logs, reports, strict=True)),
        first=places,
        why=why,
        behind=tuple(n for n, log in enumerate(logs) if log.step is not None and log.step < usual),
        xids=tuple(gathered.xids),
        absent=absent,
        report=reports[places[0]] if places else None,
        notes=tuple(gathered.notes),
    )


def _rank(log: Log, report: Answer | None, said: Said) -> Rank:
    text = log.words
    if log.code and not text:
        names = {-one.value: one.name for one in signal.Signals}
        how = f"exit code {log.code}" if log.code > 0 else names.get(log.code)
        text = f"its launcher says: {how or f'signal {-log.code}'}"
    return Rank(
        name=log.name,
        number=log.number if log.number >= 0 else None,
        host=said.hosts.get(log.number),
        ended=log.ended,
        text=text,
        cause=report.causes[0].id if report and report.causes else None,
        time=log.time,
        last=None if log.last is None else log.last - log.offset,
        offset=log.offset,
        step=log.step,
    )


def _first(logs: Sequence[Log], root: int, absent: tuple[int, ...]) -> Found:
    """Who failed first, and how that is known: by the first rule that names a rank."""
    if not any(log.ended in BAD for log in logs):
        return (), ""
    waited = [log for log in logs if log.ended == "waited"]
    roots = [log for log in logs if log.number >= 0 and log.number == root]
    for rule in (_by_reason(logs, roots), _by_collective(logs), _by_absence(logs, waited)):
        for found in rule:
            if found[0]:
                return found
    if mine := [log for log in roots if log.ended != "stopped"]:
        return mine, "the launcher saw it fail first; its own log only reports an absence"
    if any(log.parted for log in logs):
        return (), PARTED
    if absent:
        numbers = ", ".join(map(str, absent[:8]))
        return (), f"the others wait for rank {numbers}, which left no log"
    return (), "every rank only reports that another one is missing"


def _by_reason(logs: Sequence[Log], roots: Sequence[Log]) -> Iterator[Found]:
    """Ranks with a reason of their own, the earliest of several; then those that were killed."""
    own = [log for log in logs if log.ended == "failed"]
    killed = [log for log in logs if log.ended == "killed"]
    count = Counter(log.ended for log in logs)
    others = ""
    if waited := count["waited"]:
        others += f"; {waited} {'report' if waited > 1 else 'reports'} its absence"
    if stopped := count["stopped"]:
        others += f"; {stopped} {'were' if stopped > 1 else 'was'} told to stop"
    if len(own) == 1:
        yield own, f"the only rank with a reason of its own{others}"
    if len(own) == len(logs) and len({log.words for log in own}) == 1:
        yield own, "every rank failed in the same way"
    by = f"{len(own)} ranks with a reason of their own"
    earliest, lead = _earliest(own, [log.time for log in own])
    yield (earliest if lead > LEAD else ()), f"the earliest of {by}, by {lead:.1f} s"
    earliest, lead = _earliest(own, [log.written for log in own])
    yield (earliest if lead > WRITTEN else ()), f"of {by} its file ended first, by {lead:.1f} s"
    orders = [float(log.order) if log.order >= 0 else None for log in own]
    yield _earliest(own, orders)[0], f"the first in the stream of {by}"
    yield [log for log in roots if log in own], "the launcher saw it fail first"
    yield own, "these failed at the same time"
    why = f"it ended without a word, and its launcher says how{others}"
    yield [log for log in roots if log in killed] or killed, why


def _earliest(logs: Sequence[Log], times: Sequence[float | None]) -> tuple[Sequence[Log], float]:
    """The log with the first of their times, where all have one, and by how much it leads."""
    known = sorted((time, place) for place, time in enumerate(times) if time is not None)
    if len(known) < max(2, len(logs)) or known[0][0] == known[1][0]:
        return (), 0.0
    return [logs[known[0][1]]], known[1][0] - known[0][0]


def _by_collective(logs: Sequence[Log]) -> Iterator[Found]:
    """Who ran another collective than most: by PyTorch's debug mode, then NCCL's watchdog."""
    prints = {number: text for log in logs for number, text in log.prints.items()}
    odd = _minority(list(prints.items()))
    ran = prints[odd[0]][:160] if odd else ""
    mine = [log for log in logs if log.number in odd]
    yield mine, f"it ran another collective than most: {ran}"
    begun = [(log, log.enqueued) for log in logs if log.enqueued is not None]
    most = max((number for _, number in begun), default=0)
    behind = [log for log, number in begun if number < most]
    if behind and len(behind) * 2 < len(begun):
        fewer = f"it had begun {behind[0].enqueued} collectives, the others {most}"
        yield behind, f"{fewer}: they waited for it"
    for number in sorted({number for log in logs for number in log.works}):
        works = [(log, log.works[number]) for log in logs if number in log.works]
        apart = _minority(works) if len(works) > 2 else []
        work = apart[0].works[number] if apart else ""
        yield apart, f"as collective {number} it ran {work}, the others something else"


def _minority(values: Sequence[tuple[T, object]]) -> list[T]:
    """Whose value most others do not have; nobody, where no value has a majority."""
    for usual, times in Counter(value for _, value in values).most_common(1):
        if times * 2 > len(values):
            return [key for key, value in values if value != usual]
    return []


def _by_absence(logs: Sequence[Log], waited: Sequence[Log]) -> Iterator[Found]:
    """All that speak only waited: whom for."""
    half = len(logs) / 2
    well = [log for log in logs if log.ended == "well"]
    if waited and len(well) < half:
        yield well, "it ended well, before the others were done; they report its absence"
    places = [(log, log.place) for log in waited]
    if all(file for _, (file, _, _) in places) and 3 <= len(places) == len(logs):
        odd = _minority(places)
        file, line, code = odd[0].place if odd else ("", 0, "")
        yield odd, f"it waited at {file}:{line} ({code[:80]}), the others elsewhere"
    silent = [log for log in logs if log.ended == "silent"]
    late = [log for log in waited if log.late]
    if waited and 0 < len(silent) <= half:
        first = min(silent, key=lambda log: (log.step or -1, (log.last or 0.0) - log.offset))
        how = "was killed, or left without a word" if len(late) < len(waited) else "hangs"
        yield [first], f"its log just ends while {len(waited)} others wait for it: it {how}"
    closed = [log for log in waited if not log.late]
    if late and 0 < len(closed) <= half:
        begun = min((log.time for log in late if log.time is not None), default=0.0)
        after = [log for log in closed if (log.time or begun) >= begun - 1.0]
        least = min((log.step for log in logs if log.step is not None), default=None)
        slowest = [log for log in after if log.step in (None, least)]
        why = "the others ran out of time waiting, and it came after they had gone"
        yield slowest or after, why


# The document


def document(job: Job, detail: int = 0) -> Document:
    """The whole answer; every rank with -v."""
    mark: Mark = "bad" if job.first else "ok" if job.ranks and not job.failed else "unknown"
    evidence = pairs(*(pair(name, text) for name, text in _evidence(job)))
    made: list[Block] = [Heading((headline(job),), mark), evidence]
    if detail:
        said = (f"{r.name} {_WORDS[r.ended]}{f': {r.text}' if r.text else ''}" for r in job.ranks)
        made.append(items(map(item, said)))
    own = job.first and job.ranks[job.first[0]].ended == "failed"
    if job.report and (own or detail):
        head, *rest = blocks.document(job.report, detail).blocks
        made += [replace(head, level=2) if isinstance(head, Heading) else head, *rest]
    return Document(tuple(made), title=headline(job))


def headline(job: Job) -> str:
    """The answer in one sentence."""
    if job.first:
        more = f" and {len(job.first) - 4} more" if len(job.first) > 4 else ""
        names = ", ".join(job.names(job.first[:4])) + more
        head = job.ranks[job.first[0]]
        if head.ended not in ("failed", "killed"):
            return f"{names} {'is' if len(job.first) == 1 else 'are'} what the others waited for"
        return f"{names} failed first" + (f": {clip(head.text, 90)}" if head.text else "")
    if job.failed:
        return "which rank failed first cannot be told from these logs"
    if job.ranks:
        return f"none of the {len(job.ranks)} ranks tells of a failure"
    return "no rank's log was found"


def _evidence(job: Job) -> Iterator[tuple[str, str]]:
    """What is known beside the answer, each with its name."""
    if job.why:
        yield "how", job.why
    count = Counter(rank.ended for rank in job.ranks)
    ends = " · ".join(f"{number} {_WORDS[ended]}" for ended, number in count.items())
    yield "ranks", f"{len(job.ranks)}: {ends}"
    if job.behind:
        late = [job.ranks[place] for place in job.behind[:MOST]]
        yield "behind", ", ".join(f"{rank.name} at step {rank.step}" for rank in late)
    if job.absent:
        yield "absent", f"no log of rank {', '.join(map(str, job.absent[:MOST]))}"
    skewed = [f"{rank.name} {rank.offset:+.0f} s" for rank in job.ranks if rank.offset]
    if skewed:
        yield "clocks", f"corrected: {', '.join(skewed[:MOST])}"
    for xid in job.xids[:MOST]:
        yield "Xid", " ".join(filter(None, (xid.host, xid.pci, xid.text)))
    yield from (("note", note) for note in job.notes[:MOST])
