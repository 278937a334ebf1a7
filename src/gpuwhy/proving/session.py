"""One proof from the first run to the answer: what is run when, within the budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from gpuwhy.answer.answer import Answer, CauseFound
from gpuwhy.api.watched import Watched, after_run, told
from gpuwhy.log.ending import Ending
from gpuwhy.prove.counts import Once, arms, flaky, hopeless, in_turn, proven, rate, repeats, wanted
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Outcome, Tweak
from gpuwhy.prove.remedies import LOUD
from gpuwhy.prove.search import Result, hunt
from gpuwhy.prove.verdict import told as words
from gpuwhy.prove.weigh import doubt, weighed
from gpuwhy.proving.bench import Bench
from gpuwhy.proving.outcome import Judged, judge
from gpuwhy.proving.plan import Plan, first_limit, outlives
from gpuwhy.proving.world import tweaks_here
from gpuwhy.proving import stage
from gpuwhy.run.child import Ended
from gpuwhy.proving.trial import Ran, interruptible, touched_gpu

KEEP = 3
"""Runs that the search leaves for the confirmation."""
CALM, FLAKY = 3, 7
"""How often a program is run that did not fail, and one that fails at times, before anything is changed."""
CONFIRM = 20
MOMENT = 5.0
"""Seconds that a run has at least, however little of the budget is left."""
ROUNDS = 3
VAGUE = 0.6
"""The confidence below which a loud run is worth its time."""
_ASKS_GPU = ("cuda", "gpu", "nvidia")


class SpentError(Exception):
    """The budget is spent."""


class Session:
    """The state of one proof; `proving.answer` makes the Proof of it."""

    def __init__(self, plan: Plan, bench: Bench, say: Callable[[str], None] = lambda _: None) -> None:
        self.plan, self.bench, self.say = plan, bench, say
        self.runs: list[Once] = []
        self.rans: list[Ran] = []
        self.base: Ending | None = None
        self.bases: list[Ending] = []  # every way in which it failed as it is
        self.first = 0.0
        self.found: tuple[Tweak, ...] = ()
        self.patience = 1.0  # raised where a run that outlived the failure failed after all
        self.share = 1.0  # of the change found among all weights
        self.turns: tuple[Tweak, ...] = ()
        self.proven = self.interrupted = self.spent = False
        self.tweaks: list[Tweak] = []
        self.after: Watched | None = None
        self.causes: dict[str, float] = {}
        self.gpu = stage.gpu_nodes()
        self.began = time.monotonic()
        self.known: tuple[CauseFound, ...] = ()
        self.left: list[str] = []  # what was not tried, and what looks found
        self.given: Ran | None = None
        self.more: list[Callable[[Session], None]] = []  # what follows where nothing was found

    def go(self) -> None:
        """Run until it is decided, the budget is spent, or somebody stops it."""
        try:
            with interruptible():
                self._steps()
        except KeyboardInterrupt:
            self.interrupted = True
        except SpentError:
            self.spent = True

    def _steps(self) -> None:
        if not self._fails():
            return
        self._again()
        self._loud()
        self._search()
        for step in self.more if not self.proven else []:
            step(self)
            if self.proven:
                return

    # ---------------------------------------------------------------- the program as it is

    def _fails(self) -> bool:
        """Whether it fails at all; a success is tried again, for a failure that comes and goes."""
        for _ in range(CALM):
            once = self._taken(self.given) if self.given and not self.runs else self.once((), "as it is")
            if once.outcome == "same" and self.base is None:
                self.base, self.first = once.ending, once.seconds
                self.bases = [once.ending]
                self._think(self.rans[-1])
                return True
            if once.outcome == "unclear":
                return False
        return False

    def _taken(self, ran: Ran) -> Once:
        """The failure that was recorded before, in place of a first run."""
        judged = judge(ran, self.plan, ())
        self.rans.append(ran)
        self.runs.append(Once((), judged.outcome, judged.ending, ran.seconds, "recorded", "as it was recorded"))
        return self.runs[-1]

    def _again(self) -> None:
        """A second time; where that ends otherwise, often enough for a rate."""
        if len(self.runs) == 1:
            self.once((), "as it is")
        while flaky(self.runs) and rate(self.runs)[1] < FLAKY and self.time_left() > 0.6 * self.budget:
            self.once((), "as it is")

    def _think(self, ran: Ran) -> None:
        """What the output and this machine's facts say, before anything is changed."""
        ended = Ended(
            ran.code, ran.signal, ran.seconds, ran.started, ran.began, ran.rings, ran.samples, ran.peak, (), ()
        )
        self.after = after_run(self.plan.argv, ended, self.plan.python)
        self._weigh(self.after.answer, ran.output)

    def _weigh(self, answer: Answer, output: str) -> None:
        assert self.after is not None
        assert self.base is not None
        self.learn(answer)
        here = self.tweaks or tweaks_here(self.plan, self.after.facts)
        self.tweaks = weighed(
            _unweighed(here, self.tweaks),
            self.base,
            output,
            self.causes,
            stage.source_text(self.plan.argv, self.plan.environ),
            self.plan.environ,
        )

    def learn(self, answer: Answer) -> None:
        """Take another answer's word for the causes."""
        self.known = answer.causes
        self.causes = {}
        for one in answer.causes:
            self.causes[one.id] = max(one.confidence, self.causes.get(one.id, 0.0))

    # ---------------------------------------------------------------- runs

    @property
    def budget(self) -> float:
        """All seconds of this proof."""
        return self.plan.budget_for(self.first)

    def time_left(self) -> float:
        """Seconds of the budget that are not spent."""
        return self.budget - (time.monotonic() - self.began)

    def once(self, tweaks: Sequence[Tweak], purpose: str, keep: int = 0) -> Once:
        """One run; raises SpentError where the budget does not allow it any more."""
        if len(self.runs) + keep >= self.plan.runs or (self.runs and self.time_left() < self.first * (1 + keep)):
            raise SpentError
        seconds, quiet = self._limits(purpose)
        allowed = min(seconds, max(MOMENT, self.time_left())) if self.runs else seconds
        ran = self.bench.run(tweaks, allowed, quiet, self.gpu or not self.runs)
        judged = self._judged(ran, tweaks)
        if ran.stopped == "time" and allowed < seconds:
            judged = judged._replace(outcome="unclear", note="stopped: the budget is spent")
        if ran.left:
            note = f"left {', '.join(ran.left[:3])} running: ended"
            judged = judged._replace(note="; ".join(filter(None, (judged.note, note))))
        outlived = ran.stopped == "time" and judged.outcome == "passes"
        once = Once(tuple(tweaks), judged.outcome, judged.ending, ran.seconds, purpose, judged.note, outlived)
        self.runs.append(once)
        self.rans.append(ran if not tweaks else ran._replace(rings=(), output=ran.output[-4000:]))
        self.say(
            f"run {len(self.runs)}: {words(tweaks)}: {_said(once.outcome, self.base is None)} ({ran.seconds:.1f} s)"
        )
        return once

    def _judged(self, ran: Ran, tweaks: Sequence[Tweak]) -> Judged:
        """The outcome; as it is, whatever it says is its failure."""
        judged = judge(ran, self.plan, self.bases, self._away(tweaks, ran))
        if tweaks or judged.outcome != "other" or ran.cannot:
            return judged
        self.bases.append(judged.ending)
        return judged._replace(outcome="same", note=f"in another way: {said(judged.ending)}"[:120])

    def _limits(self, purpose: str) -> tuple[float, float]:
        plan = self.plan
        if self.base is None or plan.seconds:
            return first_limit(plan), plan.quiet
        if self.base.kind == "timeout" or plan.timeout:
            return plan.timeout or self.first + 5.0, plan.quiet
        if plan.ok:
            return max(3.0 * self.first, self.first + 60.0), plan.quiet
        return outlives(self.first, purpose == "confirm", self.patience), plan.quiet

    def _away(self, tweaks: Sequence[Tweak], ran: Ran) -> str:
        """Why a success is none: it stayed away from the GPU that it used or asked for before."""
        if not self.gpu or touched_gpu(ran) is not False or not tweaks:
            return ""
        asked = any(
            any(word in self.plan.environ.get(one.name, "").lower() for word in _ASKS_GPU)
            for one in tweaks
            if one.kind == "unset" and "PATH" not in one.name
        )
        return "it ran, but without the GPU" if asked or touched_gpu(self.rans[0]) else ""

    def repeated(self, tweaks: Sequence[Tweak], purpose: str = "search") -> Result:
        """As often as a flaky program needs, until it fails once."""
        once = self.once(tweaks, purpose, KEEP)
        for _ in range(repeats(self.runs) - 1):
            if once.outcome != "passes":
                break
            once = self.once(tweaks, purpose, KEEP)
        outcome: Outcome = "same" if once.outcome == "unclear" else once.outcome
        return Result(outcome, said(once.ending))

    # ---------------------------------------------------------------- experiments

    def _loud(self) -> None:
        """Once with every layer speaking, where what was said so far decides little."""
        assert self.after is not None
        if not self.plan.loud or self._likely() or flaky(self.runs):
            return
        sets = {name: value for name, value in LOUD.items() if name not in self.plan.environ}
        self.once((Tweak("loud", "set", "with every layer speaking", sets=sets, heals=False),), "loud", KEEP)
        again = told(self.rans[-1].output, self.after.seen)
        self._weigh(again, self.rans[-1].output)

    def _likely(self) -> bool:
        """Whether a cause or a tweak stands out already."""
        weights = [one.weight for one in self.tweaks]
        likeliest = max(weights, default=0.0) / (sum(weights) or 1.0)
        return likeliest >= 0.3 or max(self.causes.values(), default=0.0) >= VAGUE

    def _search(self) -> None:
        """Hunt and confirm; what does not hold is put behind everything else, once."""
        for _ in range(ROUNDS):
            self.hunted(self.tweaks)
            if not self.found or self.proven:
                return
            if self._too_soon():
                self.patience *= 4.0
                self.runs = [_undecided(one) if one.outlived else one for one in self.runs]
                continue
            doubtful = {one.id for one in self.found}
            self.found = ()
            lowered = [_times(one, 0.01) if one.id in doubtful else one for one in self.tweaks]
            self.tweaks = sorted(lowered, key=lambda one: -one.weight)

    def _too_soon(self) -> bool:
        """Whether the change was taken for a success only because a run was not waited for long enough."""
        key = frozenset(one.id for one in self.found)
        return any(one.outlived for one in self.runs if one.key == key)

    def hunted(self, tweaks: Sequence[Tweak]) -> None:
        """The smallest change among these, confirmed."""
        asking = hunt(tweaks, doubt(self.causes, tweaks), lambda one: 1.0 + one.seconds / max(0.5, self.first))
        try:
            experiment = next(asking)
            while True:
                experiment = asking.send(self.repeated(experiment.tweaks, experiment.purpose))
        except StopIteration as end:
            self.found, self.turns = end.value.tweaks, (*self.turns, *end.value.turns)
        if self.found:
            self.share = max(one.weight for one in self.found) / (sum(one.weight for one in tweaks) or 1.0)
            self.proven = self._confirmed(self.found)

    def _confirmed(self, change: Sequence[Tweak]) -> bool:
        """In turn with the change and without, until it is no chance; False where it does not hold."""
        key = frozenset(one.id for one in change)
        for _ in range(CONFIRM):
            if proven(self.runs, key, self.first, self.share):
                return True
            if hopeless(self.runs, key):
                return False
            self.once(() if self._plain_next(key) else change, "confirm")
        return proven(self.runs, key, self.first, self.share)

    def _plain_next(self, key: frozenset[str]) -> bool:
        """Whether it is the turn of the program as it is."""
        now = arms(self.runs, key)
        if flaky(self.runs):
            return now.of_failed <= now.of_passed
        if now.failed < wanted(key, self.first, self.share)[0]:
            return True
        return not in_turn(self.runs, key) and self.runs[-1].outcome == "passes" and not self._failed_since(key)

    def _failed_since(self, key: frozenset[str]) -> bool:
        """Whether it failed without the change after it first ran with it."""
        first = next(
            (n for n, one in enumerate(self.runs) if one.outcome == "passes" and one.key >= key), len(self.runs)
        )
        return any(one.outcome == "same" and not one.key >= key for one in self.runs[first:])


def _unweighed(here: Sequence[Tweak], weighed_before: Sequence[Tweak]) -> Sequence[Tweak]:
    """A second reading raises weights once more at most: what was raised stays, the rest may rise."""
    return here if not weighed_before else [_times(one, 0.5) for one in here]


def _undecided(one: Once) -> Once:
    return one._replace(outcome="unclear")


def _times(one: Tweak, factor: float) -> Tweak:
    return msgspec.structs.replace(one, weight=one.weight * factor)


def _said(outcome: Outcome, first: bool) -> str:
    if first and outcome == "same":
        return "fails"
    return {"passes": "runs", "same": "fails the same", "other": "fails otherwise", "unclear": "undecided"}[outcome]
