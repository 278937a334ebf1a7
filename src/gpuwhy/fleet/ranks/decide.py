"""Decide: the rank that failed first, by clock and by cause.

A rank that only reports an absence did not begin it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from gpuwhy.answer.answer import Answer
from gpuwhy.fleet.ranks.gather import Gathered
from gpuwhy.fleet.ranks.job import Ended, Job, Rank
from gpuwhy.fleet.ranks.launcher import Said, named
from gpuwhy.fleet.ranks.log import Log
from gpuwhy.fleet.ranks.times import offsets
from gpuwhy.log.log import Log as Reading

Found = tuple[list[int], str]
"""Places of ranks, and how that is known."""
NOBODY: Found = ([], "")
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
    apart = offsets({log.name: log.shared for log in logs})
    reports = [explain(log.reading) if log.tells_a_failure else None for log in logs]
    rows = zip(logs, reports, strict=True)
    ranks = tuple(_rank(log, apart[log.name], report, said) for log, report in rows)
    absent = _absent(logs, gathered.world)
    places, why = _Judge(ranks, logs, said, absent).first()
    return Job(
        ranks=ranks,
        first=tuple(places),
        why=why,
        behind=_behind(ranks),
        xids=tuple(gathered.xids),
        absent=absent,
        report=reports[places[0]] if places else None,
        notes=tuple(gathered.notes),
    )


def _rank(log: Log, offset: float, report: Answer | None, said: Said) -> Rank:
    by_launcher = log.gone or (named(log.code) if log.code else "")
    return Rank(
        name=log.name,
        number=log.number if log.number >= 0 else None,
        host=said.hosts.get(log.number),
        ended=log.ended,
        text=log.words or (f"its launcher says: {by_launcher}" if by_launcher else ""),
        cause=report.causes[0].id if report and report.causes else None,
        time=None if log.ending_time is None else log.ending_time - offset,
        last=None if log.last is None else log.last - offset,
        offset=offset,
        step=log.step,
    )


def _absent(logs: Sequence[Log], world: int) -> tuple[int, ...]:
    """Ranks of the job that have no log, where its size is told and every log has a number."""
    have = {log.number for log in logs}
    if not have or -1 in have or world > MOST_RANKS:
        return ()
    return tuple(number for number in range(world) if number not in have)


def _behind(ranks: Sequence[Rank]) -> tuple[int, ...]:
    """Ranks that had come less far than most."""
    steps = {place: rank.step for place, rank in enumerate(ranks) if rank.step is not None}
    middle = sorted(steps.values())[len(steps) // 2] if len(steps) > 2 else 0
    return tuple(place for place, step in steps.items() if step < middle)


def _minority(values: Mapping[int, object]) -> list[int]:
    """Whose value most others do not have; nobody, where no value has a majority."""
    for usual, times in Counter(values.values()).most_common(1):
        if times * 2 > len(values):
            return sorted(key for key, value in values.items() if value != usual)
    return []


class _Judge:
    """Rules in their order: the first that names a rank decides."""

    def __init__(
        self,
        ranks: Sequence[Rank],
        logs: Sequence[Log],
        said: Said,
        absent: tuple[int, ...],
    ) -> None:
        self.ranks, self.logs, self.said = ranks, logs, said
        self.absent = absent
        self.places = range(len(ranks))
        self.waited = self._ended("waited")

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
        found = next((one for one in (rule() for rule in rules) if one[0]), None)
        if found:
            return found
        if any(log.parted for log in self.logs):
            return [], PARTED
        if self.absent:
            numbers = ", ".join(map(str, self.absent[:8]))
            return [], f"the others wait for rank {numbers}, which left no log"
        return [], "every rank only reports that another one is missing"

    def _ended(self, *how: Ended) -> list[int]:
        return [place for place in self.places if self.ranks[place].ended in how]

    def _few(self, places: Sequence[int]) -> bool:
        return 0 < len(places) * 2 <= len(self.ranks)

    def _some_late(self) -> bool:
        return any(log.late for log in self.logs)

    def _others(self, places: Sequence[int]) -> str:
        waited = len(set(self.waited) - set(places))
        stopped = len(set(self._ended("stopped")) - set(places))
        absence = f"; {waited} {'report' if waited > 1 else 'reports'} its absence"
        told = f"; {stopped} {'were' if stopped > 1 else 'was'} told to stop"
        return (absence if waited else "") + (told if stopped else "")

    def _own(self) -> Found:
        """Among ranks with a reason of their own the earliest, by whatever tells their order."""
        own = self._ended("failed")
        if len(own) < 2:
            return own, f"the only rank with a reason of its own{self._others(own)}"
        if len(own) == len(self.ranks) and len({rank.text for rank in self.ranks}) == 1:
            return own, "every rank failed in the same way"
        by = f"{len(own)} ranks with a reason of their own"
        own, lead = _in_time(own, [rank.time for rank in self.ranks])
        if lead > LEAD:
            return own[:1], f"the earliest of {by}, by {lead:.1f} s"
        own, lead = _in_time(own, [log.written for log in self.logs])
        if lead > WRITTEN:
            return own[:1], f"of {by} its file ended first, by {lead:.1f} s"
        orders = {self.logs[place].order: place for place in own}
        if min(orders) >= 0 and len(orders) == len(own):
            return [orders[min(orders)]], f"the first in the stream of {by}"
        if by_launcher := [place for place in own if self._is_root(place)]:
            return by_launcher, "the launcher saw it fail first"
        return own, "these failed at the same time"

    def _is_root(self, place: int) -> bool:
        """Whether a launcher saw this rank fail first; a process without a number is nobody's."""
        return self.ranks[place].number is not None and self.ranks[place].number == self.said.root

    def _killed(self) -> Found:
        killed = self._ended("killed")
        first = [place for place in killed if self._is_root(place)] or killed
        why = f"it ended without a word, and its launcher says how{self._others(killed)}"
        return first, why

    def _numbered(self, odd: list[int]) -> list[int]:
        return [place for place in self.places if self.ranks[place].number in odd]

    def _by_print(self) -> Found:
        """By PyTorch's debug mode, which tells the collective that each rank ran."""
        prints = {number: text for log in self.logs for number, text in log.prints.items()}
        places = self._numbered(_minority(prints))
        if not places:
            return NOBODY
        ran = prints[self.logs[places[0]].number][:160]
        return places, f"it ran another collective than most: {ran}"

    def _by_watchdog(self) -> Found:
        """By NCCL's watchdog: who had begun fewer collectives."""
        logs = enumerate(self.logs)
        begun = {place: log.enqueued for place, log in logs if log.enqueued is not None}
        most = max(begun.values(), default=0)
        behind = [place for place, number in begun.items() if number < most]
        if not behind or len(behind) * 2 >= len(begun):
            return NOBODY
        fewer = f"it had begun {begun[behind[0]]} collectives, the others {most}"
        return behind, f"{fewer}: they waited for it"

    def _by_other_work(self) -> Found:
        """By NCCL's watchdog: who ran another collective under the same number."""
        for number in sorted({number for log in self.logs for number in log.works}):
            logs = enumerate(self.logs)
            ran = {place: log.works[number] for place, log in logs if number in log.works}
            odd = _minority(ran) if len(ran) > 2 else []
            if odd:
                work = f"as collective {number} it ran {ran[odd[0]]}"
                return odd, f"{work}, the others something else"
        return NOBODY

    def _elsewhere(self) -> Found:
        """All waited, most at one place of the program, one at another: it took another way."""
        waited = {place: self.logs[place].place for place in self.waited}
        told = all(file for file, _, _ in waited.values())
        odd = _minority(waited) if told and 3 <= len(waited) == len(self.ranks) else []
        if not odd:
            return NOBODY
        file, line, code = waited[odd[0]]
        return odd, f"it waited at {file}:{line} ({code[:80]}), the others elsewhere"

    def _stopped_silently(self) -> Found:
        """Others ran out of time; one was waiting for nobody when the launcher ended it."""
        stopped = [place for place in self._ended("stopped") if not self.logs[place].words]
        if not self._few(stopped) or not self._some_late():
            return NOBODY
        silent = "it had said nothing when its launcher ended it: it hung"
        return stopped, f"the others ran out of time waiting, and {silent}"

    def _early(self) -> Found:
        """One that came to its end while the others still waited for it."""
        well = self._ended("well")
        if len(well) * 2 >= len(self.ranks) or not self.waited:
            return NOBODY
        return well, "it ended well, before the others were done; they report its absence"

    def _silent(self) -> Found:
        """One whose log just ends, while the others report that somebody is missing."""
        silent, waited = self._ended("silent"), self.waited
        if not waited or not self._few(silent):
            return NOBODY
        silent.sort(key=lambda at: (self.ranks[at].step or -1, self.ranks[at].last or 0.0))
        late = all(self.logs[place].late for place in waited)
        how = "hangs" if late else "was killed, or left without a word"
        return silent[:1], f"its log just ends while {len(waited)} others wait for it: it {how}"

    def _late_comer(self) -> Found:
        """Some ran out of time and others then met closed connections: those others were late."""
        closed = [place for place in self.waited if not self.logs[place].late]
        if not self._few(closed) or not self._some_late():
            return NOBODY
        late = (rank for rank, log in zip(self.ranks, self.logs, strict=True) if log.late)
        begun = min((rank.time for rank in late if rank.time is not None), default=0.0)
        after = [at for at in closed if (self.ranks[at].time or begun) >= begun - 1.0]
        least = min((rank.step for rank in self.ranks if rank.step is not None), default=None)
        slowest = [at for at in after if self.ranks[at].step in (None, least)]
        why = "the others ran out of time waiting, and it came after they had gone"
        return slowest or after, why

    def _by_launcher(self) -> Found:
        places = [
            at for at in self.places if self._is_root(at) and at not in self._ended("stopped")
        ]
        return places, "the launcher saw it fail first; its own log only reports an absence"


def _in_time(places: list[int], times: Sequence[float | None]) -> tuple[list[int], float]:
    """The places by their times, and by how many seconds the first leads."""
    known = {place: time for place in places if (time := times[place]) is not None}
    if len(known) < len(places):
        return places, 0.0
    ordered = sorted(places, key=lambda place: known[place])
    return ordered, known[ordered[1]] - known[ordered[0]]
