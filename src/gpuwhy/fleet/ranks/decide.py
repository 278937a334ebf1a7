"""Decide: the rank that failed first, by clock and by cause.

A rank that only reports an absence did not begin it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from gpuwhy.answer.answer import Answer
from gpuwhy.fleet.ranks.gather import Gathered, Said, named
from gpuwhy.fleet.ranks.job import Ended, Job, Rank
from gpuwhy.fleet.ranks.log import Log, offsets
from gpuwhy.log.log import Log as Reading

T = TypeVar("T")
Found = tuple[Sequence[Log], str]  # logs of ranks, and how that is known
NOBODY: Found = ((), "")
PARTED = (
    "the ranks did not run the same collective; which one parted is not in these logs: run it "
    "again with TORCH_DISTRIBUTED_DEBUG=DETAIL, or with TORCH_FR_BUFFER_SIZE=2000, and have "
    "torchfrtrace compare its dumps"
)
LEAD, WRITTEN = 0.05, 0.3
"""Seconds by which one must be earlier: by its own times, and by when its file was written."""
MOST_RANKS = 100_000


def decide(gathered: Gathered, explain: Callable[[Reading], Answer]) -> Job:
    """The whole answer; `explain` says why one log's program failed."""
    gathered.whole()
    said = gathered.said
    for number, code in said.codes.items():  # a rank without a log gets an empty one
        mine = [log for log in gathered.logs.values() if log.number == number]
        for log in mine or [gathered.log(f"rank {number}", number)]:
            log.code = code
    logs = sorted(gathered.logs.values(), key=lambda log: (log.number < 0, log.number, log.name))
    apart = offsets([log.shared for log in logs])
    for log, offset in zip(logs, apart, strict=True):
        log.offset = offset
    reports = [explain(log.reading) if log.tells_a_failure else None for log in logs]
    absent = _absent(logs, gathered.world)
    first, why = _Judge(logs, said.root, absent).first()
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
    by_launcher = log.gone or (named(log.code) if log.code else "")
    return Rank(
        name=log.name,
        number=log.number if log.number >= 0 else None,
        host=said.hosts.get(log.number),
        ended=log.ended,
        text=log.words or (f"its launcher says: {by_launcher}" if by_launcher else ""),
        cause=report.causes[0].id if report and report.causes else None,
        time=log.time,
        last=None if log.last is None else log.last - log.offset,
        offset=log.offset,
        step=log.step,
    )


def _absent(logs: Sequence[Log], world: int) -> tuple[int, ...]:
    """Ranks of the job that have no log, where its size is told and every log has a number."""
    have = {log.number for log in logs}
    if not have or -1 in have or world > MOST_RANKS:
        return ()
    return tuple(number for number in range(world) if number not in have)


def _minority(values: Sequence[tuple[T, object]]) -> list[T]:
    """Whose value most others do not have; nobody, where no value has a majority."""
    for usual, times in Counter(value for _, value in values).most_common(1):
        if times * 2 > len(values):
            return [key for key, value in values if value != usual]
    return []


class _Judge:
    """Rules in their order: the first that names a rank decides."""

    def __init__(self, logs: Sequence[Log], root: int, absent: tuple[int, ...]) -> None:
        self.logs, self.root, self.absent = logs, root, absent
        self.waited = self._ended("waited")
        self.some_late = any(log.late for log in logs)

    def first(self) -> Found:
        """Who failed first, and how that is known."""
        if not self._ended("failed", "killed", "waited"):
            return NOBODY
        rules: tuple[Callable[[], Found], ...] = (
            self._own,
            self._killed,
            self._by_print,
            self._by_watchdog,
            self._by_other_work,
            self._early,
            self._elsewhere,
            self._silent,
            self._stopped_silently,
            self._late_comer,
            self._by_launcher,
        )
        for rule in rules:
            found = rule()
            if found[0]:
                return found
        if any(log.parted for log in self.logs):
            return (), PARTED
        if self.absent:
            numbers = ", ".join(map(str, self.absent[:8]))
            return (), f"the others wait for rank {numbers}, which left no log"
        return (), "every rank only reports that another one is missing"

    def _ended(self, *how: Ended) -> list[Log]:
        return [log for log in self.logs if log.ended in how]

    def _few(self, logs: Sequence[Log]) -> bool:
        return 0 < len(logs) * 2 <= len(self.logs)

    def _is_root(self, log: Log) -> bool:
        """Whether a launcher saw this rank fail first; a process without a number is nobody's."""
        return log.number >= 0 and log.number == self.root

    def _others(self, logs: Sequence[Log]) -> str:
        waited = len(set(self.waited) - set(logs))
        stopped = len(set(self._ended("stopped")) - set(logs))
        absence = f"; {waited} {'report' if waited > 1 else 'reports'} its absence"
        told = f"; {stopped} {'were' if stopped > 1 else 'was'} told to stop"
        return (absence if waited else "") + (told if stopped else "")

    def _own(self) -> Found:
        """Among ranks with a reason of their own the earliest, by whatever tells their order."""
        own = self._ended("failed")
        if len(own) < 2:
            return own, f"the only rank with a reason of its own{self._others(own)}"
        if len(own) == len(self.logs) and len({log.words for log in own}) == 1:
            return own, "every rank failed in the same way"
        by = f"{len(own)} ranks with a reason of their own"
        earliest, lead = _earliest(own, [log.time for log in own])
        if lead > LEAD:
            return [earliest], f"the earliest of {by}, by {lead:.1f} s"
        earliest, lead = _earliest(own, [log.written for log in own])
        if lead > WRITTEN:
            return [earliest], f"of {by} its file ended first, by {lead:.1f} s"
        earliest = min(own, key=lambda log: log.order)
        if earliest.order >= 0 and len({log.order for log in own}) == len(own):
            return [earliest], f"the first in the stream of {by}"
        if by_launcher := list(filter(self._is_root, own)):
            return by_launcher, "the launcher saw it fail first"
        return own, "these failed at the same time"

    def _killed(self) -> Found:
        killed = self._ended("killed")
        why = f"it ended without a word, and its launcher says how{self._others(killed)}"
        return list(filter(self._is_root, killed)) or killed, why

    def _by_print(self) -> Found:
        """By PyTorch's debug mode, which tells the collective that each rank ran."""
        prints = {number: text for log in self.logs for number, text in log.prints.items()}
        odd = _minority(list(prints.items()))
        logs = [log for log in self.logs if log.number in odd]
        ran = prints[logs[0].number][:160] if logs else ""
        return logs, f"it ran another collective than most: {ran}"

    def _by_watchdog(self) -> Found:
        """By NCCL's watchdog: who had begun fewer collectives."""
        begun = [(log, log.enqueued) for log in self.logs if log.enqueued is not None]
        most = max((number for _, number in begun), default=0)
        behind = [log for log, number in begun if number < most]
        if not behind or len(behind) * 2 >= len(begun):
            return NOBODY
        fewer = f"it had begun {behind[0].enqueued} collectives, the others {most}"
        return behind, f"{fewer}: they waited for it"

    def _by_other_work(self) -> Found:
        """By NCCL's watchdog: who ran another collective under the same number."""
        for number in sorted({number for log in self.logs for number in log.works}):
            ran = [(log, log.works[number]) for log in self.logs if number in log.works]
            odd = _minority(ran) if len(ran) > 2 else []
            if odd:
                work = f"as collective {number} it ran {odd[0].works[number]}"
                return odd, f"{work}, the others something else"
        return NOBODY

    def _elsewhere(self) -> Found:
        """All waited, most at one place of the program, one at another: it took another way."""
        places = [(log, log.place) for log in self.waited]
        if not all(file for _, (file, _, _) in places) or not 3 <= len(places) == len(self.logs):
            return NOBODY
        odd = _minority(places)
        file, line, code = odd[0].place if odd else ("", 0, "")
        return odd, f"it waited at {file}:{line} ({code[:80]}), the others elsewhere"

    def _stopped_silently(self) -> Found:
        """Others ran out of time; one was waiting for nobody when the launcher ended it."""
        stopped = [log for log in self._ended("stopped") if not log.words]
        if not self._few(stopped) or not self.some_late:
            return NOBODY
        silent = "it had said nothing when its launcher ended it: it hung"
        return stopped, f"the others ran out of time waiting, and {silent}"

    def _early(self) -> Found:
        """One that came to its end while the others still waited for it."""
        well = self._ended("well")
        if len(well) * 2 >= len(self.logs) or not self.waited:
            return NOBODY
        return well, "it ended well, before the others were done; they report its absence"

    def _silent(self) -> Found:
        """One whose log just ends, while the others report that somebody is missing."""
        silent, waited = self._ended("silent"), self.waited
        if not waited or not self._few(silent):
            return NOBODY
        first = min(silent, key=lambda log: (log.step or -1, (log.last or 0.0) - log.offset))
        how = "hangs" if all(log.late for log in waited) else "was killed, or left without a word"
        return [first], f"its log just ends while {len(waited)} others wait for it: it {how}"

    def _late_comer(self) -> Found:
        """Some ran out of time and others then met closed connections: those others were late."""
        closed = [log for log in self.waited if not log.late]
        if not self._few(closed) or not self.some_late:
            return NOBODY
        late = (log.time for log in self.logs if log.late)
        begun = min((time for time in late if time is not None), default=0.0)
        after = [log for log in closed if (log.time or begun) >= begun - 1.0]
        least = min((log.step for log in self.logs if log.step is not None), default=None)
        slowest = [log for log in after if log.step in (None, least)]
        why = "the others ran out of time waiting, and it came after they had gone"
        return slowest or after, why

    def _by_launcher(self) -> Found:
        roots = [log for log in self.logs if self._is_root(log) and log.ended != "stopped"]
        return roots, "the launcher saw it fail first; its own log only reports an absence"


def _earliest(logs: Sequence[Log], times: Sequence[float | None]) -> tuple[Log, float]:
    """The log with the first of their times, and by how many seconds it leads."""
    known = [(time, place) for place, time in enumerate(times) if time is not None]
    if len(known) < len(logs):
        return logs[0], 0.0
    (first, place), (second, _), *_ = sorted(known)
    return logs[place], second - first
