"""Decide: the rank that failed first, by clock and by cause.

A rank that only reports an absence did not begin it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from gpuwhy.answer.answer import Answer
from gpuwhy.fleet.ranks.gather import Gathered
from gpuwhy.fleet.ranks.job import Job, Mismatch, Rank
from gpuwhy.fleet.ranks.launcher import Said, named
from gpuwhy.fleet.ranks.log import Log
from gpuwhy.fleet.ranks.recorder import mismatches
from gpuwhy.fleet.ranks.times import offsets
from gpuwhy.log.log import Log as Reading

Found = tuple[list[int], str]
"""Places of ranks, and how that is known."""
_NOBODY: Found = ([], "")
_PARTED = (
    "the ranks did not run the same collective; which one parted is not in these logs: run it "
    "again with TORCH_DISTRIBUTED_DEBUG=DETAIL, or with TORCH_FR_BUFFER_SIZE=2000 and its dumps "
    "beside the logs"
)
_LAUNCHER = "its launcher says: "
LEAD, WRITTEN = 0.05, 0.3
"""Seconds by which one must be earlier: by its own times, and by when its file was written."""


def decide(gathered: Gathered, explain: Callable[[Reading], Answer]) -> Job:
    """The whole answer; `explain` says why one log's program failed."""
    gathered.whole()
    said = gathered.said
    _launched(gathered, said)
    logs = sorted(gathered.logs.values(), key=lambda log: (log.number < 0, log.number, log.name))
    apart = offsets({log.name: log.shared for log in logs})
    reports = [explain(log.reading) if _tells(log) else None for log in logs]
    ranks = [
        _rank(log, apart[log.name], report, said) for log, report in zip(logs, reports, strict=True)
    ]
    parted = mismatches(gathered.dumps)
    absent = _absent(ranks, gathered.world)
    places, why = _first(ranks, logs, said, parted, absent)
    return Job(
        ranks=tuple(ranks),
        first=tuple(places),
        why=why,
        behind=tuple(_behind(ranks)),
        mismatches=parted,
        xids=tuple(gathered.xids),
        absent=absent,
        report=reports[places[0]] if len(places) >= 1 else None,
        notes=tuple(gathered.notes),
    )


def _launched(gathered: Gathered, said: Said) -> None:
    """The launcher's exit codes to the logs; a rank without a log gets an empty one."""
    for number, code in said.codes.items():
        mine = [log for log in gathered.logs.values() if log.number == number]
        for log in mine or [gathered.log(f"rank {number}", number)]:
            log.code = code


def _tells(log: Log) -> bool:
    """Whether a log has a word of failure."""
    return log.reading.lines > 0 and (log.reading.ending.kind != "none" or bool(log.errors))


def _rank(log: Log, offset: float, report: Answer | None, said: Said) -> Rank:
    ended = log.ended()
    text = log.words
    if not text and (log.code or log.gone):
        text = f"{_LAUNCHER}{log.gone or named(log.code or 0)}"
    return Rank(
        name=log.name,
        number=log.number,
        ended=ended,
        text=text,
        time=_set_right(log.ending_time, offset),
        last=_set_right(log.last, offset),
        offset=offset,
        step=log.step,
        cause=report.causes[0].id if report and report.causes else "",
        host=said.hosts.get(log.number, ""),
        late=ended == "waited" and log.late,
    )


def _set_right(time: float | None, offset: float) -> float | None:
    return None if time is None else time - offset


def _absent(ranks: Sequence[Rank], world: int) -> tuple[int, ...]:
    """Ranks of the job that have no log, where its size is told and every log has a number."""
    have = {rank.number for rank in ranks}
    if not ranks or -1 in have or not 0 < world <= 100_000:
        return ()
    return tuple(number for number in range(world) if number not in have)


def _first(
    ranks: list[Rank],
    logs: list[Log],
    said: Said,
    parted: tuple[Mismatch, ...],
    absent: tuple[int, ...],
) -> Found:
    rules: tuple[Callable[[], Found], ...] = (
        lambda: _own(ranks, logs, said),
        lambda: _killed(ranks, said),
        lambda: _by_recorder(ranks, parted),
        lambda: _by_print(ranks, logs),
        lambda: _by_watchdog(logs),
        lambda: _early(ranks),
        lambda: _elsewhere(ranks, logs),
        lambda: _silent(ranks),
        lambda: _began_late(ranks, logs),
        lambda: _stopped_silently(ranks),
        lambda: _late_comer(ranks),
        lambda: _by_launcher(ranks, said),
    )
    if not any(rank.ended in ("failed", "killed", "waited") for rank in ranks):
        return _by_recorder(ranks, tuple(one for one in parted if one.kind != "missing"))
    for rule in rules:
        found = rule()
        if found[0]:
            return found
    if any(log.parted for log in logs):
        return [], _PARTED
    if absent:
        return [], f"the others wait for rank {', '.join(map(str, absent[:8]))}, which left no log"
    return [], "every rank only reports that another one is missing"


def _others(ranks: Sequence[Rank], places: Sequence[int]) -> str:
    waited = sum(rank.ended == "waited" for place, rank in enumerate(ranks) if place not in places)
    stopped = sum(
        rank.ended == "stopped" for place, rank in enumerate(ranks) if place not in places
    )
    parts = [
        f"{waited} report its absence" * bool(waited),
        f"{stopped} were told to stop" * bool(stopped),
    ]
    return "; ".join(part for part in parts if part)


def _own(ranks: list[Rank], logs: list[Log], said: Said) -> Found:
    """Among ranks with a reason of their own the earliest."""
    own = [place for place, rank in enumerate(ranks) if rank.ended == "failed"]
    if not own:
        return _NOBODY
    if len(own) == 1:
        others = _others(ranks, own)
        return own, "the only rank with a reason of its own" + (f"; {others}" if others else "")
    if len(own) == len(ranks) and len({rank.text for rank in ranks}) == 1:
        return own, "every rank failed in the same way"
    return _earliest(own, ranks, logs, said)


def _earliest(own: list[int], ranks: list[Rank], logs: list[Log], said: Said) -> Found:
    """The first of several, by whatever tells their order."""
    by = f"{len(own)} ranks with a reason of their own"
    own, lead = _in_time(own, [rank.time for rank in ranks])
    if lead > LEAD:
        return own[:1], f"the earliest of {by}, by {lead:.1f} s"
    own, lead = _in_time(own, [log.written for log in logs])
    if lead > WRITTEN:
        return own[:1], f"of {by} its file ended first, by {lead:.1f} s"
    orders = {logs[place].order: place for place in own}
    if min(orders) >= 0 and len(orders) == len(own):
        return [orders[min(orders)]], f"the first in the stream of {by}"
    by_launcher = [place for place in own if _root(ranks[place], said)]
    if by_launcher:
        return by_launcher, "the launcher saw it fail first"
    return own, "these failed at the same time"


def _in_time(places: list[int], times: Sequence[float | None]) -> tuple[list[int], float]:
    """The places by their times, and by how many seconds the first leads."""
    known = {place: time for place in places if (time := times[place]) is not None}
    if len(known) < len(places):
        return places, 0.0
    ordered = sorted(places, key=lambda place: known[place])
    return ordered, known[ordered[1]] - known[ordered[0]]


def _root(rank: Rank, said: Said) -> bool:
    """Whether a launcher saw this rank fail first; a process without a number is nobody's."""
    return rank.number >= 0 and rank.number == said.root


def _killed(ranks: list[Rank], said: Said) -> Found:
    killed = [place for place, rank in enumerate(ranks) if rank.ended == "killed"]
    first = [place for place in killed if _root(ranks[place], said)]
    if not killed:
        return _NOBODY
    others = _others(ranks, killed)
    return first or killed, "it ended without a word, and its launcher says how" + (
        f"; {others}" if others else ""
    )


def _by_recorder(ranks: list[Rank], parted: tuple[Mismatch, ...]) -> Found:
    odd = {number for one in parted for number in one.ranks}
    places = [place for place, rank in enumerate(ranks) if rank.number in odd]
    if not places or len(places) == len(ranks):
        return _NOBODY
    return places, f"by the flight recorder: {parted[0].text}"


def _by_print(ranks: list[Rank], logs: list[Log]) -> Found:
    """By PyTorch's debug mode, which tells the collective that each rank ran."""
    prints: dict[int, str] = {}
    for log in logs:
        prints.update(log.prints)
    odd = _minority(prints)
    places = [place for place, rank in enumerate(ranks) if rank.number in odd]
    return (
        places,
        f"it ran another collective than most: {prints[ranks[places[0]].number][:160]}"
        if places
        else "",
    )


def _by_watchdog(logs: list[Log]) -> Found:
    """By NCCL's watchdog: who had begun fewer collectives, or another one of the same number."""
    begun = {place: log.enqueued for place, log in enumerate(logs) if log.enqueued is not None}
    most = max(begun.values(), default=0)
    behind = [place for place, number in begun.items() if number < most]
    if behind and len(behind) * 2 < len(begun):
        return (
            behind,
            f"it had begun {begun[behind[0]]} collectives, the others {most}: they waited for it",
        )
    return _by_other_work(logs)


def _by_other_work(logs: list[Log]) -> Found:
    for number in sorted({number for log in logs for number in log.works}):
        ran = {place: log.works[number] for place, log in enumerate(logs) if number in log.works}
        odd = sorted(_minority(ran)) if len(ran) > 2 else []
        if odd:
            return odd, f"as collective {number} it ran {ran[odd[0]]}, the others something else"
    return _NOBODY


def _minority(values: Mapping[int, object]) -> set[int]:
    """Whose value most others do not have; nobody, where no value has a majority."""
    count = Counter(values.values())
    (usual, times), *_ = count.most_common(1) or [(None, 0)]
    return (
        {key for key, value in values.items() if value != usual}
        if times * 2 > len(values)
        else set()
    )


def _elsewhere(ranks: list[Rank], logs: list[Log]) -> Found:
    """All waited, most at one place of the program, one at another: it took another way."""
    waited = {
        place: logs[place].place for place, rank in enumerate(ranks) if rank.ended == "waited"
    }
    if (
        len(waited) < 3
        or len(waited) < len(ranks)
        or any(not where[0] for where in waited.values())
    ):
        return _NOBODY
    odd = sorted(_minority(waited))
    if not odd:
        return _NOBODY
    file, line, code = waited[odd[0]]
    return odd, f"it waited at {file}:{line} ({code[:80]}), the others elsewhere"


def _began_late(ranks: list[Rank], logs: list[Log]) -> Found:
    """One that said its first word after all others had given up."""
    for place, log in enumerate(logs):
        others = [
            rank.time
            for other, rank in enumerate(ranks)
            if other != place and rank.late and rank.time
        ]
        begun = None if log.first is None else log.first - ranks[place].offset
        if begun is not None and len(others) * 2 >= len(ranks) and begun > max(others):
            return [
                place
            ], f"its first line came {begun - max(others):.0f} s after the others' last"
    return _NOBODY


def _stopped_silently(ranks: list[Rank]) -> Found:
    """Others ran out of time; one was waiting for nobody when the launcher ended it."""
    stopped = [
        p
        for p, rank in enumerate(ranks)
        if rank.ended == "stopped" and rank.text.startswith(_LAUNCHER)
    ]
    if not stopped or len(stopped) * 2 > len(ranks) or not any(rank.late for rank in ranks):
        return _NOBODY
    return (
        stopped,
        "the others ran out of time, and it had said nothing when its launcher ended it: it hung",
    )


def _early(ranks: list[Rank]) -> Found:
    """One that came to its end while the others still waited for it."""
    well = [place for place, rank in enumerate(ranks) if rank.ended == "well"]
    if not well or len(well) * 2 >= len(ranks) or not any(rank.ended == "waited" for rank in ranks):
        return _NOBODY
    return well, "it ended well, before the others were done; they report its absence"


def _silent(ranks: list[Rank]) -> Found:
    """One whose log just ends, while the others report that somebody is missing."""
    silent = [place for place, rank in enumerate(ranks) if rank.ended == "silent"]
    waited = [rank for rank in ranks if rank.ended == "waited"]
    if not silent or not waited or len(silent) * 2 > len(ranks):
        return _NOBODY
    silent.sort(key=lambda place: (ranks[place].step or -1, ranks[place].last or 0.0))
    how = "hangs" if all(rank.late for rank in waited) else "was killed, or left without a word"
    return silent[:1], f"its log just ends while {len(waited)} others wait for it: it {how}"


def _late_comer(ranks: list[Rank]) -> Found:
    """Where some ran out of time and others then met closed connections, those others were late."""
    late = [rank for rank in ranks if rank.late]
    closed = [place for place, rank in enumerate(ranks) if rank.ended == "waited" and not rank.late]
    if not late or not closed or len(closed) * 2 > len(ranks):
        return _NOBODY
    after = _slowest(ranks, _after(ranks, closed, late))
    return (
        after,
        "the others ran out of time waiting, and it came after they had gone" if after else "",
    )


def _after(ranks: list[Rank], closed: list[int], late: list[Rank]) -> list[int]:
    """Those of them that did not end before the first gave up."""
    times = [rank.time for rank in late if rank.time is not None]
    if not times:
        return closed
    return [place for place in closed if (ranks[place].time or min(times)) >= min(times) - 1.0]


def _slowest(ranks: list[Rank], places: list[int]) -> list[int]:
    """Those of them that are not beyond the earliest step; all where none is."""
    steps = [rank.step for rank in ranks if rank.step is not None]
    if not steps:
        return places
    return [place for place in places if ranks[place].step in (None, min(steps))] or places


def _by_launcher(ranks: list[Rank], said: Said) -> Found:
    places = [
        place for place, rank in enumerate(ranks) if _root(rank, said) and rank.ended != "stopped"
    ]
    return (
        places,
        "the launcher saw it fail first; its own log only reports an absence" if places else "",
    )


def _behind(ranks: Sequence[Rank]) -> list[int]:
    """Ranks that had come less far than most."""
    steps = sorted(rank.step for rank in ranks if rank.step is not None)
    if len(steps) < 3:
        return []
    middle = steps[len(steps) // 2]
    return [
        place for place, rank in enumerate(ranks) if rank.step is not None and rank.step < middle
    ]
