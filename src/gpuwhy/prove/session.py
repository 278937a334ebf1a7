"""One proof from the first run to the last: what is run when, within the budget."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from gpuwhy.answer.answer import Answer
from gpuwhy.log.ending import Ending
from gpuwhy.prove.counts import contradicted, counts, flaky, in_turn, proven, wanted
from gpuwhy.prove.endings import judge, said
from gpuwhy.prove.proof import Once, Outcome, Plan, Tweak
from gpuwhy.prove.search import Result, hunt
from gpuwhy.prove.tweaks import doubt, named, weighed
from gpuwhy.run.trial import Ran, touched_gpu

KEEP = 3
"""Runs that the search leaves for the confirmation."""
CALM, OFTEN = 3, 7
"""How often a program is run that did not fail, and one that fails at times."""
CONFIRM, ROUNDS = 20, 3
FIRST, MOMENT = 600.0, 5.0
"""Seconds that the first run may take, and that each has however little of the budget is left."""
LEAST_BUDGET, MOST_BUDGET, TIMES = 300.0, 1800.0, 30
WORDS = {"passes": "runs", "same": "fails the same", "other": "fails otherwise"}
WORDS |= {"unclear": "undecided"}


class SpentError(Exception):
    """The budget is spent."""


class World(Protocol):
    """The program and its machine."""

    def run(self, tweaks: Sequence[Tweak], seconds: float, sampled: bool) -> Ran:
        """One trial; whatever was made for it is gone afterwards."""

    def explain(self, ran: Ran) -> tuple[Answer, Sequence[Tweak], str]:
        """What the machine's facts and this output say together, everything that this machine and
        this program allow to change, the text of the program.
        """


class Session:
    """The state of one proof; `page.proof_of` makes the Proof of it."""

    def __init__(self, plan: Plan, world: World, say: Callable[[str], None]) -> None:
        self.plan, self.world, self._say = plan, world, say
        self.began = time.monotonic()
        self.runs: list[Once] = []
        self.bases: list[Ending] = []  # every way in which it failed as it is, the first one first
        self.first = 0.0  # seconds of the first failure
        self.touched = False  # the first run opened a GPU
        self.answer: Answer | None = None
        self.tweaks: list[Tweak] = []
        self.found: tuple[Tweak, ...] = ()
        self.share = 1.0  # of the change found among all weights
        self.proven = self.interrupted = self.spent = False
        self.given: Ran | None = None  # a failure that was recorded before
        self.last: Callable[[Session], None] | None = None  # what follows where nothing was found

    @property
    def base(self) -> Ending | None:
        """The failure that everything is compared with."""
        return self.bases[0] if self.bases else None

    @property
    def causes(self) -> dict[str, float]:
        """The confidence of each cause that explain names."""
        known = self.answer.causes if self.answer else ()
        return {one.id: one.confidence for one in reversed(known)}

    @property
    def budget(self) -> float:
        """All seconds of this proof."""
        usual = min(MOST_BUDGET, max(LEAST_BUDGET, TIMES * self.first))
        return self.plan.budget or usual

    def go(self) -> None:
        """Run until it is decided, the budget is spent, or somebody stops it."""
        try:
            self._steps()
        except KeyboardInterrupt:
            self.interrupted = True
        except SpentError:
            self.spent = True

    def _steps(self) -> None:
        if self.given:
            self._kept((), self.given, "recorded")
        # a success is tried again, for a failure that comes and goes
        while len(self.runs) < CALM and all(one.outcome == "passes" for one in self.runs):
            self.once((), "as it is")
        if not self.bases:
            return
        if len(self.runs) == 1:
            self.once((), "as it is")
        if flaky(self.runs):
            while len(self.runs) < OFTEN and self._left() > 0.6 * self.budget:
                self.once((), "as it is")
            return
        for _ in range(ROUNDS):
            self._hunted()
            if not self.found or self.proven:
                break
            doubtful = {one.id for one in self.found}
            self.tweaks.sort(key=lambda one: one.id in doubtful)
            self.tweaks = [
                replace(one, weight=one.weight / 100) if one.id in doubtful else one
                for one in self.tweaks
            ]
        if self.last and not self.proven:
            self.last(self)

    def _left(self) -> float:
        return self.budget - (time.monotonic() - self.began)

    def once(self, tweaks: Sequence[Tweak], purpose: str, keep: int = 0) -> Once:
        """One run; raises SpentError where the budget does not allow it any more."""
        least = self.first * (1 + keep)
        if len(self.runs) + keep >= self.plan.runs or (self.runs and self._left() < least):
            raise SpentError
        seconds = self._seconds(purpose)
        allowed = min(seconds, max(MOMENT, self._left())) if self.runs else seconds
        ran = self.world.run(tweaks, allowed, self.plan.gpu or not self.runs)
        cut = ran.stopped == "time" and allowed < seconds
        return self._kept(tweaks, ran._replace(stopped="budget") if cut else ran, purpose)

    def _seconds(self, purpose: str) -> float:
        """How long a run may take: a success has to outlive the failure, to confirm it by far."""
        plan, first = self.plan, self.first
        if self.base is None or plan.seconds:
            return plan.seconds or plan.timeout or plan.budget or FIRST
        if self.base.kind == "timeout" or plan.timeout:
            return plan.timeout or first + 5.0
        if plan.ok:
            return max(3.0 * first, first + 60.0)
        return max(3.0 * first, first + 90.0) if purpose == "confirm" else 1.5 * first + 45.0

    def _kept(self, tweaks: Sequence[Tweak], ran: Ran, purpose: str) -> Once:
        """What came of a run. The first failure is what everything is compared with; as it is,
        whatever the program says is its failure.
        """
        outcome, ending, why = judge(ran, self.plan, self.bases, self._away(tweaks, ran))
        if not tweaks and self.bases and outcome == "other":
            self.bases.append(ending)
            outcome, why = "same", "in another way: " + said(ending).split("\n")[0][:140]
        ended = f"left {', '.join(ran.left[:3])} running: ended" if ran.left else ""
        recorded = "as it was recorded" if purpose == "recorded" else ""
        note, seconds = "; ".join(filter(None, (recorded, why, ended))), ran.ended.seconds
        self.runs.append(Once(tuple(tweaks), outcome, ending, seconds, purpose, note))
        first = not self.bases and outcome == "same"
        word = "fails" if first else WORDS[outcome]
        self._say(f"run {len(self.runs)}: {named(tweaks)}: {word} ({seconds:.1f} s)")
        if first:
            self.bases, self.first = [ending], seconds
            self.touched = touched_gpu(ran) is True
            self.answer, possible, source = self.world.explain(ran)
            more = source, self.plan.environ
            self.tweaks = weighed(possible, ending, ran.output, self.causes, *more)
        return self.runs[-1]

    def _away(self, tweaks: Sequence[Tweak], ran: Ran) -> str:
        """Why a success is none: it stayed away from the GPU that it used or asked for before."""
        if not self.plan.gpu or not tweaks or touched_gpu(ran) is not False:
            return ""
        names = (one.name for one in tweaks if one.kind == "unset" and "PATH" not in one.name)
        values = [self.plan.environ.get(name, "").lower() for name in names]
        asked = any(word in value for value in values for word in ("cuda", "gpu", "nvidia"))
        return "it ran, but without the GPU" if asked or self.touched else ""

    def _hunted(self) -> None:
        """The smallest change, confirmed."""
        asking = hunt(self.tweaks, doubt(self.causes, self.tweaks))
        try:
            experiment = next(asking)
            while True:
                once = self.once(experiment, "search", KEEP)
                outcome: Outcome = "same" if once.outcome == "unclear" else once.outcome
                experiment = asking.send(Result(outcome, said(once.ending)))
        except StopIteration as end:
            self.found = end.value
        if self.found:
            total = sum(one.weight for one in self.tweaks) or 1.0
            self.share = max(one.weight for one in self.found) / total
            self.proven = self._confirmed()

    def _confirmed(self) -> bool:
        """Run in turn with what was found and without; False where it does not hold."""
        key = frozenset(one.id for one in self.found)
        for _ in range(CONFIRM):
            lost = any(one.outcome == "other" for one in self.runs if one.key == key)
            if proven(self.runs, key, self.first, self.share):
                return True
            if lost or contradicted(self.runs, key) or flaky(self.runs):
                return False
            wants = counts(self.runs, key).failed[0] < wanted(key, self.first, self.share)[0]
            turn = self.runs[-1].outcome == "passes" and not in_turn(self.runs, key)
            self.once(() if wants or turn else self.found, "confirm")
        return False
