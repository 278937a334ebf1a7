"""Whole proofs over programs that are pure functions: what is run when, what is called proven, what is left open."""

import random
from collections.abc import Callable, Sequence

import msgspec
import pytest

from gpuwhy.answer.answer import Answer, CauseFound, Reason
from gpuwhy.answer.compose import plain_answer
from gpuwhy.prove.page import document, proof_of
from gpuwhy.prove.proof import Plan, Proof, Tweak
from gpuwhy.prove.session import Session
from gpuwhy.prove.tweaks import applied, variables
from gpuwhy.run.trial import Ran

ERROR = 'Traceback (most recent call last):\n  File "/app/train.py", line 3, in <module>\n    main()\n'
FAILS = Ran.of(1, 0, 0.1, ERROR + "RuntimeError: bad day\n")
OTHER = Ran.of(1, 0, 0.1, ERROR + "ZeroDivisionError: division by zero\n")
RUNS = Ran.of(0, 0, 0.1, "done\n")
ENVIRON = {**{f"APP_{n}": "1" for n in range(30)}, "XLA_FLAGS": "--a=1", "TMPDIR": "/t", "HOME": "/h"}


class World:
    """A program that is a function of its environment, on a machine nobody looks at."""

    def __init__(self, program: Callable[[dict[str, str]], Ran]) -> None:
        self.program = program
        self.limits: list[float] = []

    def run(self, tweaks: Sequence[Tweak], seconds: float, sampled: bool) -> Ran:
        self.limits.append(seconds)
        return self.program(applied(ENVIRON, tweaks))

    def explain(self, ran: Ran) -> tuple[None, list[Tweak], str]:
        return None, list(variables(ENVIRON)), ""


def prove(program: Callable[[dict[str, str]], Ran], **how) -> tuple[Proof, World]:
    world = World(program)
    session = Session(Plan(("train.py",), ENVIRON, "/", **how), world, lambda text: None)
    session.go()
    return proof_of(session, {}, str), world


def test_one_guilty_variable_is_proven():
    proof, _ = prove(lambda environ: FAILS if "XLA_FLAGS" in environ else RUNS)
    assert proof.status == "proven"
    assert proof.change.unset == ("XLA_FLAGS",)
    assert proof.headline == "proven: without XLA_FLAGS it runs (3 of 3), with it it fails (3 of 3)"
    assert proof.causes[0].id == "env.setting"
    assert proof.causes[0].confidence >= 0.97
    assert proof.runs <= 9
    assert (proof.ending["type"], proof.ending["message"]) == ("RuntimeError", "bad day")


def test_two_that_are_each_enough_to_fail_are_both_named():
    proof, _ = prove(lambda environ: FAILS if {"XLA_FLAGS", "TMPDIR"} & set(environ) else RUNS)
    assert proof.status == "proven"
    assert set(proof.change.unset) == {"XLA_FLAGS", "TMPDIR"}
    assert "with them it fails" in proof.headline
    assert {one.id for one in proof.causes} == {"env.setting", "env.limit"}
    assert all(one.confidence >= 0.97 for one in proof.causes)


def test_another_failure_is_no_success():
    proof, _ = prove(lambda environ: FAILS if "APP_5" in environ else OTHER)
    assert proof.status == "open"
    assert proof.change is None
    assert {one.outcome for one in proof.experiments} == {"same", "other"}


def test_what_no_variable_changes_and_what_cannot_be_started_is_open():
    cannot = Ran.of(127, 0, 0.0, "", cannot="no such program")
    assert prove(lambda environ: cannot)[0].status == "open"
    proof, _ = prove(lambda environ: FAILS)
    assert proof.status == "open"
    assert proof.runs <= 8
    assert "none of" in proof.headline


def test_a_success_is_told_as_one():
    proof, _ = prove(lambda environ: RUNS)
    assert proof.status == "not_failing"
    assert proof.runs == 3


def test_trouble_that_passes_by_itself_is_not_blamed_on_a_variable():
    """It fails four times and never again: whatever was changed then is innocent."""
    left = [FAILS] * 4
    proof, _ = prove(lambda environ: left.pop() if left else RUNS)
    assert proof.status == "flaky"
    assert all(one.confidence < 0.97 for one in proof.causes)


@pytest.mark.parametrize("seed", range(40))
def test_a_flaky_program_gets_a_rate_and_no_culprit_but_the_guilty_variable(seed):
    dice = random.Random(seed)
    proof, _ = prove(lambda environ: FAILS if "XLA_FLAGS" in environ and dice.random() < 0.7 else RUNS)
    assert proof.status != "proven" or proof.change.unset == ("XLA_FLAGS",)
    proof, _ = prove(lambda environ: FAILS if dice.random() < 0.7 else RUNS)
    assert proof.status != "proven", proof.headline
    assert proof.status != "flaky" or proof.rate.startswith("fails ")


def test_the_number_of_runs_is_a_limit_and_what_is_known_is_told():
    proof, _ = prove(lambda environ: FAILS if {"APP_3", "APP_17"} & set(environ) else RUNS, runs=6)
    assert proof.runs <= 6
    assert proof.status == "open"
    assert any("is spent" in note for note in proof.notes)


def test_an_interruption_leaves_the_answer_so_far():
    count = iter(range(40))

    def program(environ: dict[str, str]) -> Ran:
        if next(count) == 4:
            raise KeyboardInterrupt
        return FAILS

    proof, _ = prove(program)
    assert proof.interrupted
    assert proof.runs == 4
    assert proof.status == "open"


def test_outliving_the_failure_counts_and_the_second_time_by_far():
    def program(environ: dict[str, str]) -> Ran:
        return FAILS if "XLA_FLAGS" in environ else Ran.of(0, 0, 50.0, "step 1\n", stopped="time")

    proof, world = prove(program)
    assert proof.status == "proven"
    assert any("still running" in one.note for one in proof.experiments)
    assert max(seconds for seconds in world.limits[2:]) >= 90
    idle = Ran.of(0, 0, 20.0, "", stopped="time", busy=False)
    assert prove(lambda environ: FAILS if "XLA_FLAGS" in environ else idle)[0].status == "open"


def test_a_hang_can_be_proven_and_a_new_hang_is_no_success():
    hangs = Ran.of(0, 0, 60.0, "waiting\n", stopped="hangs", busy=False)
    proof, _ = prove(lambda environ: hangs if "XLA_FLAGS" in environ else RUNS, budget=5000.0)
    assert proof.status == "proven"
    assert proof.ending["kind"] == "timeout"
    proof, _ = prove(lambda environ: FAILS if "XLA_FLAGS" in environ else hangs, budget=5000.0)
    assert proof.status == "open"


def test_success_by_a_text_or_by_time():
    good, bad = Ran.of(0, 0, 1.0, "step 1", stopped="ok"), Ran.of(0, 0, 1.0, "cpu only")
    proof, _ = prove(lambda environ: bad if "XLA_FLAGS" in environ else good, ok="step 1")
    assert proof.status == "proven"
    assert "never printed" in proof.ending["message"]
    alive = Ran.of(0, 0, 9.0, "", stopped="time")
    proof, world = prove(lambda environ: FAILS if "XLA_FLAGS" in environ else alive, seconds=9.0)
    assert proof.status == "proven"
    assert set(world.limits) == {9.0}


def test_a_silent_exit_is_compared_by_its_last_line():
    def program(environ: dict[str, str]) -> Ran:
        return Ran.of(1, 0, 0.1, "cannot open model 12\n" if "XLA_FLAGS" in environ else "cannot open data\n")

    assert prove(program)[0].status == "open"


def test_a_program_that_fails_in_several_ways_is_not_flaky():
    """A limit on memory strikes at one place or another: each is its failure, and none a finding."""
    count = iter(range(1000))

    def program(environ: dict[str, str]) -> Ran:
        if "XLA_FLAGS" not in environ:
            return RUNS
        return FAILS if next(count) % 2 else OTHER

    proof, _ = prove(program)
    assert proof.status == "proven"
    assert proof.change.unset == ("XLA_FLAGS",)


def test_what_a_run_leaves_behind_and_heals_is_said():
    """As with a cache: after the first success it never fails again."""
    seen = []

    def program(environ: dict[str, str]) -> Ran:
        if "XLA_FLAGS" not in environ:
            seen.append(1)
        return RUNS if seen else FAILS

    proof, _ = prove(program)
    assert proof.status == "flaky"
    assert any("left something behind" in note for note in proof.notes)


def test_one_error_that_goes_on_telling_of_the_moment_is_one_failure():
    """PyTorch lists every process on the card behind the first sentence."""
    count = iter(range(1000))

    def program(environ: dict[str, str]) -> Ran:
        if "XLA_FLAGS" not in environ:
            return RUNS
        others = "Process 12 has 6 MiB memory in use. " * (next(count) % 3)
        text = f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB. {others}\n"
        return Ran.of(1, 0, 0.1, ERROR + text)

    proof, _ = prove(program)
    assert proof.status == "proven"
    assert not any("in another way" in one.note for one in proof.experiments)


def test_a_cause_that_the_runs_refute_does_not_lead():
    """Explain blames a variable; without it the program fails the same."""
    because = (Reason("XLA_FLAGS has an unknown flag"),)
    cause = CauseFound("env.setting", "a variable", 0.9, "", because, (), ())
    told = plain_answer("found", "XLA_FLAGS has an unknown flag")

    class Explained(World):
        def explain(self, ran: Ran) -> tuple[Answer, list[Tweak], str]:
            return msgspec.structs.replace(told, causes=(cause,)), list(variables(ENVIRON)), ""

    session = Session(Plan(("train.py",), ENVIRON, "/"), Explained(lambda environ: FAILS), lambda text: None)
    session.go()
    proof = proof_of(session, {}, str)
    assert [one.id for one in proof.ruled_out] == ["env.setting"]
    assert proof.headline.startswith("not proven: it fails 2 of 2 times")
    assert proof.causes == ()
    assert document(proof, session.answer).blocks[0].line == (proof.headline,)
