"""The observation that separates the causes which fit."""

from gpuwhy.advise.questions import question_for
from gpuwhy.advise.remedy import Look
from gpuwhy.diagnose.diagnosis import Diagnosis, Ranked
from gpuwhy.log.log import Log
from gpuwhy.log.read import read


def asked(*causes: str, text: str = "") -> list[tuple[str, str]]:
    diagnosis = Diagnosis(tuple(Ranked(one, 0.3) for one in causes))
    found = question_for(diagnosis, read(text.encode()) if text else Log())
    return [] if found is None else [(one.sees, one.means) for one in found.outcomes]


def test_one_observation_separates_neighbours() -> None:
    means = {means for _, means in asked("memory.oom", "memory.other_process")}
    assert means == {"memory.oom", "memory.other_process"}


def test_a_single_cause_needs_no_question() -> None:
    assert asked("memory.oom") == []
    assert question_for(Diagnosis(), Log()) is None


def test_every_outcome_says_what_to_do_and_not_the_same_again() -> None:
    text = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"
    diagnosis = Diagnosis((Ranked("memory.oom", 0.4), Ranked("program.index", 0.3)))
    found = question_for(diagnosis, read(text.encode()))
    assert found is not None
    for one in found.outcomes:
        assert one.remedy is not None
        assert not any(
            isinstance(step, Look) and step.command == found.look.command for step in one.remedy.do
        )
