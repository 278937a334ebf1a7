"""The weigher: what decides counts, the first error most, findings beside it, else nothing."""

import json
from pathlib import Path

import pytest

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.schema import CauseFile, Clue, ForCause, MessageRow, When
from gpuwhy.diagnose.conditions import holds
from gpuwhy.diagnose.diagnosis import Diagnosis
from gpuwhy.diagnose.view import View
from gpuwhy.diagnose.weigh import GUESS, TABLE, calibrated, diagnose, shares
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.log.case import Case, Release, Stated
from gpuwhy.log.ending import Ending
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message, Standing
from gpuwhy.log.read import read

LABELLED = Path(__file__).parent.parent / "log" / "labelled"


def data(*causes: CauseFile, messages: tuple[MessageRow, ...] = ()) -> Catalogue:
    return Catalogue((), {one.id: one for one in causes}, messages, {}, {"silent": ("a.quiet",)})


def cause(name: str, *clues: Clue, **more: object) -> CauseFile:
    return CauseFile(name, f"about {name}", clues=clues, **more)  # type: ignore[arg-type]


def clue(weight: float, *on: str, when: When | None = None, unless: When | None = None) -> Clue:
    return Clue(on or ("a.one",), weight, "{what} failed", when, unless)


def log(*messages: Message | str, **more: object) -> Log:
    made = [
        Message(one, number, f"line of {one}") if isinstance(one, str) else one
        for number, one in enumerate(messages, 1)
    ]
    return Log(tuple(made), mentions_gpu=True, **more)  # type: ignore[arg-type]


def named(found: Diagnosis) -> list[str]:
    return [one.cause for one in found.causes]


TWO = data(cause("x.first", clue(3.0, "a.one")), cause("x.second", clue(3.0, "b.two")))
NOTED = Message("a.one", 1, "one", standing=Standing.NOTED)
BAD = Ending(kind="exception", type="RuntimeError", line=2, last=2, gpu=True)
OWN = Ending(kind="exception", type="KeyError", line=9, last=9, own=True)


def test_nothing_recognised_is_an_empty_diagnosis():
    assert diagnose(Log()) == Diagnosis()
    assert named(diagnose(read(b"all is well\n"))) == []


def test_the_first_error_counts_most():
    assert named(diagnose(log("a.one", "b.two"), catalogue=TWO)) == ["x.first", "x.second"]
    assert named(diagnose(log("b.two", "a.one"), catalogue=TWO)) == ["x.second", "x.first"]


@pytest.mark.parametrize("standing", [Standing.FOLLOWS, Standing.QUOTED])
def test_only_what_decides_finds_a_cause(standing: Standing):
    text = log(Message("a.one", 1, "one", standing=standing), "b.two")
    assert named(diagnose(text, catalogue=TWO)) == ["x.second"]


def test_a_further_message_for_the_same_cause_counts_half():
    both = data(cause("x.first", clue(3.0, "a.one", "a.other")))
    one = diagnose(log("a.one"), catalogue=both).causes[0]
    two = diagnose(log("a.one", "a.other"), catalogue=both).causes[0]
    assert 0 < two.confidence - one.confidence < 0.2
    assert len(two.because) == 2


def test_the_sentence_is_filled_in():
    found = diagnose(log(Message("a.one", 7, "line", fields={"what": "cuFFT"})), catalogue=TWO)
    (why,) = found.causes[0].because
    assert (why.text, why.line, why.message) == ("cuFFT failed", 7, 0)
    (why,) = diagnose(log("a.one"), catalogue=TWO).causes[0].because
    assert why.text == "line of a.one"  # a field is not stated: the line speaks for itself


@pytest.mark.parametrize(
    ("says", "what", "text"),
    [
        ("cuDNN {what:cudnn}", "8902", "cuDNN 8.9"),
        ("CUDA {what:dotted}", "12080", "CUDA 12.8"),
        ("cuDNN {what}", "9, 12, 0", "cuDNN 9.12.0"),
    ],
)
def test_versions_are_written_as_people_write_them(says: str, what: str, text: str):
    made = data(cause("x.first", Clue(("a.one",), 3.0, says)))
    found = diagnose(log(Message("a.one", 1, "line", fields={"what": what})), catalogue=made)
    assert found.causes[0].because[0].text == text


def test_a_harmless_note_says_nothing_beside_an_error():
    note = data(cause("other.not_gpu", clue(0.5, "h.note")), cause("x.first", clue(3.0)))
    quiet = Message("h.note", 1, "note", role="harmless", standing=Standing.HARMLESS)
    assert named(diagnose(log(quiet), catalogue=note)) == ["other.not_gpu"]
    assert named(diagnose(log(quiet, "a.one"), catalogue=note)) == ["x.first"]


def test_what_was_noted_only_is_a_guess_where_nothing_else_explains_the_ending():
    found = diagnose(log(NOTED, ending=BAD), catalogue=TWO)
    assert [(one.cause, one.confidence) for one in found.causes] == [("x.first", GUESS)]
    found = diagnose(log(NOTED, "b.two", ending=BAD), catalogue=TWO)
    assert (named(found), [one.text for one in found.noticed]) == (["x.second"], ["one"])
    assert named(diagnose(log(NOTED, ending=Ending(well=True)), catalogue=TWO)) == []


def test_an_ending_of_its_own_is_no_matter_of_the_gpu():
    found = diagnose(log(NOTED, ending=OWN))
    assert named(found) == ["other.not_gpu"]
    assert found.causes[0].because[0].text == "KeyError"


def test_a_program_says_what_its_message_means():
    row = MessageRow("p.own", "own", for_=(ForCause("x.first", 4.0, "its own words"),))
    found = diagnose(log("p.own"), catalogue=data(cause("x.first"), messages=(row,)))
    assert named(found) == ["x.first"]


def test_how_common_a_cause_is_decides_what_the_text_does_not():
    tie = data(cause("x.a", clue(3.0)), cause("x.b", clue(3.0), likely=0.1))
    assert named(diagnose(log("a.one"), catalogue=tie)) == ["x.b", "x.a"]


# ---------------------------------------------------------------- findings


def finding(name: str, weight: Weight, **more: object) -> Finding:
    return Finding(name, weight, f"{name} is seen", **more)  # type: ignore[arg-type]


def test_findings_alone_are_the_diagnosis():
    found = diagnose(None, [finding("x.a", Weight.PROOF), finding("x.b", Weight.AGAINST)])
    assert [(one.cause, one.confidence) for one in found.causes] == [("x.a", 0.99)]
    assert [one.cause for one in found.ruled_out] == ["x.b"]
    assert diagnose(None).healthy


def test_several_strong_findings_are_surer_than_one():
    one = diagnose(None, [finding("x.a", Weight.STRONG)]).causes[0]
    two = diagnose(None, [finding("x.a", Weight.STRONG)] * 2).causes[0]
    assert one.confidence < two.confidence < 0.99


def test_the_worst_effect_comes_first_and_what_is_explained_last():
    explains = data(cause("x.root", explains=("x.low",)), cause("x.low"))
    found = [
        finding("x.low", Weight.PROOF),
        finding("x.root", Weight.PROOF),
        finding("x.slow", Weight.PROOF, effect=Effect.SLOWS),
        finding("x.fatal", Weight.STRONG, effect=Effect.PREVENTS_START),
    ]
    assert named(diagnose(None, found, explains)) == ["x.fatal", "x.root", "x.low", "x.slow"]


def test_what_nothing_fails_by_is_noticed():
    found = diagnose(None, [finding("x.a", Weight.PROOF, effect=Effect.NOTED)])
    assert (found.causes, found.healthy) == ((), True)
    assert [one.text for one in found.noticed] == ["x.a is seen"]
    noted = finding("x.other", Weight.PROOF, effect=Effect.NOTED)
    assert named(diagnose(log("a.one"), [noted], TWO)) == ["x.first"]


def test_each_subject_has_its_own_answer():
    found = [finding("x.a", Weight.PROOF, subject=name) for name in ("torch", "jax")]
    assert [one.subject for one in diagnose(None, found).causes] == ["torch", "jax"]


def test_facts_tell_neighbours_apart():
    tie = data(cause("x.a", clue(3.0)), cause("x.b", clue(3.0)))
    found = diagnose(log("a.one"), [finding("x.b", Weight.STRONG)], tie)
    assert named(found)[0] == "x.b"
    found = diagnose(log("a.one"), [finding("x.a", Weight.AGAINST)], tie)
    assert named(found) == ["x.b"]


def test_a_fault_of_the_machine_does_not_overrule_a_clear_text():
    found = diagnose(log("a.one"), [finding("x.other", Weight.PROOF)], TWO)
    assert named(found) == ["x.first", "x.other"], "unless it names what the ending names"
    linked = finding("x.other", Weight.PROOF, matches_crash=True)
    assert named(diagnose(log("a.one"), [linked], TWO))[0] == "x.other"


def test_a_message_that_excludes_nothing_admits_the_facts():
    vague = data(cause("x.a", clue(2.0, "a.quiet")), cause("x.b", maybe=("messages:silent",)))
    found = diagnose(log("a.quiet"), [finding("x.b", Weight.STRONG)], vague)
    assert named(found)[0] == "x.b"


# ---------------------------------------------------------------- conditions

CASE = Case(
    os=Stated("linux", 1),
    container=Stated("docker", 2),
    packages=(Release("torch", "2.4.1"),),
    variables={"TF_CONFIG": Stated("{}", 3)},
)
FIELDS = {"library": "libcudnn.so.8", "free": "2 GiB", "total": "4 GiB"}
ONE = Message("a.one", 1, "CUDA error 700", fields=FIELDS)
VIEW = View(log(ONE, "b.two", "title.trouble", case=CASE), TWO)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (None, True),
        ({"os": "LINUX"}, True),
        ({"os": ["windows", "linux"]}, True),
        ({"container": "*", "wsl": ""}, True),
        ({"wsl": "*"}, False),
        ({"library": "~cudnn"}, True),
        ({"of": "cudnn"}, True),
        ({"of": ["cuda", "nccl"]}, False),
        ({"line": r"error \d+"}, True),
        ({"beside": "b."}, True),
        ({"beside": ["c.", "a.one"]}, False),
        ({"beside": "b.", "and_beside": "title."}, True),
        ("alone", False),
        ({"alone_beside": "b."}, True),
        ("nothing_else", False),
        ("no_errors", False),
        ({"no_errors": False}, True),
        ({"version.torch": "~^2\\."}, True),
        ({"version.jax": "*"}, False),
        ({"TF_CONFIG": "{}"}, True),
        ({"share_free": "> 0.4"}, True),
        ({"share_free": "> 0.6"}, False),
        ({"missing": "cuda"}, False),
        ("mentions_gpu", True),
        (["mentions_gpu", "capped"], False),
    ],
)
def test_conditions(when: When | None, expected: bool):
    assert holds(when, None, ONE, VIEW) is expected
    if isinstance(when, str) or (isinstance(when, dict) and len(when) == 1):
        assert holds(None, when, ONE, VIEW) is not expected


def test_confidence_never_falls_and_is_never_certain():
    said = [calibrated(one / 200) for one in range(201)]
    assert said == sorted(said)
    assert said[0] == 0
    assert said[-1] == TABLE[-1][1] < 1
    assert sum(shares({"a": 3.0, "b": 2.0}).values()) < 1


# ---------------------------------------------------------------- labelled texts


def labelled() -> list[tuple[str, set[str]]]:
    """Texts of the repository with the causes that are right for each."""
    rows = []
    for name in ("answers", "builds", "captured/h200", "captured/lab", "captured/process"):
        for line in (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            fair = {row.get("cause", ""), *row.get("also", ()), *row.get("causes", ())} - {""}
            if fair != {"healthy"}:
                rows.append((row["log"], fair))
    return rows


def test_labelled_texts_are_understood_and_what_is_sure_is_right():
    first = [(diagnose(read(text.encode())).first, fair) for text, fair in labelled()]
    right = [one is not None and one.cause in fair for one, fair in first]
    sure = [one.cause in fair for one, fair in first if one and one.confidence >= 0.9]
    assert sum(right) / len(right) >= 0.96
    assert sum(sure) / len(sure) >= 0.98
    assert len(sure) / len(right) >= 0.35


# ---------------------------------------------------------------- precedents

HEADS = "ValueError: FlashAttention forward only supports head dimension at most 256"


def test_where_no_row_knows_the_words_a_precedent_does():
    first = diagnose(read(f"{HEADS}\n".encode())).causes[0]
    assert first.cause == "program.shape"
    assert "head dimension" in first.because[0].text


def test_a_precedent_is_a_guess_where_the_program_did_not_end_with_it():
    phrase = "We were configured to autodetect nvml functionality, but we weren't able"
    text = f"{phrase} to find that lib\nnext step"
    first = diagnose(read(text.encode())).causes[0]
    assert (first.cause, first.confidence <= GUESS) == ("program.build", True)


def test_precedents_say_nothing_beside_a_message_that_is_known():
    known = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
    found = diagnose(read(f"{known}\nit needs the NVIDIA Container Toolkit\n".encode()))
    assert all(one.message >= 0 for cause in found.causes for one in cause.because)
