"""What is cut: an answer has few lines whatever it holds, and what decides stays."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuwhy.answer.answer import (
    Layer,
    LogLine,
    Noticed,
    Point,
    Proof,
    Question,
    Reason,
    Row,
    Untried,
)
from gpuwhy.answer.blocks import document
from gpuwhy.answer.terminal import height, write
from tests.answer.examples import BROKEN, HEALTHY, SURE, answer, cause, fix

WORDS = st.integers(1, 90).map(lambda n: " ".join(["libcudnn_graph.so.9"] * n)[: n * 12])
COMMAND = st.sampled_from(["", "nvidia-smi", "pip install torch", "a\nb\nc\nd\ne\nf\ng", "x" * 300])
MARKS = st.sampled_from(["ok", "bad", "warn", "unknown", "none"])


def some(strategy, most):
    return st.lists(strategy, max_size=most).map(tuple)


PROOFS = some(st.builds(Proof, WORDS, WORDS), 3)
REASONS = some(st.builds(Reason, WORDS, PROOFS, PROOFS, PROOFS, st.integers(0, 10**9)), 3)
FIXES = some(st.builds(fix, WORDS, COMMAND, worked_if=WORDS, if_not=WORDS, root=st.booleans()), 4)


def one_cause(confidence, title, because, fixes):
    return cause("cudnn.missing", title, confidence, *because, fixes=fixes)


CAUSES = some(st.builds(one_cause, st.floats(0, 1), WORDS, REASONS, FIXES), 6)
QUESTION = st.none() | st.builds(
    Question,
    WORDS,
    WORDS,
    st.sampled_from(["", "nvidia-smi", "echo a\necho b"]),
    st.just({}),
    some(st.builds(Row, WORDS, WORDS, WORDS, WORDS, COMMAND), 7),
)
VERDICTS = st.sampled_from(["healthy", "found", "undecided", "unrecognised", "answered"])
ANSWERS = st.builds(
    answer,
    VERDICTS,
    st.just("broken"),
    WORDS,
    CAUSES,
    command=st.sampled_from(["check", "explain", "run"]),
    layers=some(st.builds(Layer, WORDS, WORDS, MARKS, WORDS), 25),
    probe=some(st.builds(Layer, WORDS, WORDS, MARKS, WORDS), 9),
    unseen=some(WORDS, 12),
    not_tried=some(st.builds(Untried, WORDS, COMMAND), 6),
    noticed=some(st.builds(Noticed, WORDS, WORDS), 6),
    question=QUESTION,
    points=some(st.builds(Point, WORDS, WORDS, COMMAND, WORDS), 9),
    last_line=st.none() | st.builds(LogLine, st.integers(0, 10**9), WORDS),
    more=st.just("gpuwhy explain -v train.log"),
)


def most(one) -> int:
    if one.command == "check" and (one.layers or one.probe):
        return 20
    return 16 if one.verdict == "undecided" else 12


@given(ANSWERS)
@settings(max_examples=60, deadline=None)
def test_an_answer_has_few_lines_whatever_it_holds(one):
    shown = document(one)
    assert height(shown) <= most(one), write(shown)
    write(document(one, 2))


def test_sound_layers_become_one_row_before_anything_that_decides_is_cut():
    layers = tuple(Layer(f"framework {n}", "1.0", "ok", "") for n in range(20))
    text = write(document(replace(BROKEN, layers=(*BROKEN.layers, *layers))))
    for said in ("✗ cuDNN", "and 20 more", "Do this", "Worked if", "If not"):
        assert said in text


def test_what_was_not_looked_at_is_counted():
    unseen = tuple(f"file {n}: no permission" for n in range(30))
    assert "30 facts could not be read" in write(document(replace(HEALTHY, unseen=unseen)))
    one = write(document(replace(HEALTHY, unseen=unseen[:1])))
    assert "1 fact could not be read" in one


def test_a_quotation_is_one_line_and_whole_with_v():
    long = Proof("E " + "tensorflow " * 40, "train.log")
    first = replace(SURE.causes[0], because=(Reason("x", told=(long,), line=7),))
    one = replace(SURE, causes=(first,))
    assert "Because    line 7: E tensorflow" in write(document(one))
    assert "tensorflow …\n" in write(document(one))
    assert "…" not in write(document(one, 1))


def test_without_an_observation_the_causes_that_fit_are_listed_with_their_remedies():
    more = cause("memory.oom", "the model needs more memory", 0.4, fixes=(fix("a", "b"),))
    causes = (more, cause("device.none", "no GPU is visible", 0.3))
    text = write(document(answer("undecided", "broken", "Perhaps", causes, command="explain")))
    assert "the model needs more memory\n             a\n             b" in text
    assert "no GPU is visible\n             device.none" in text


def test_facts_are_for_vv_alone():
    version = {"state": "known", "value": "580", "source": {"where": "/proc"}}
    one = replace(HEALTHY, facts={"driver": {"version": version}})
    assert "driver.version" not in write(document(one, 1))
    assert "driver.version\n             580\n             /proc" in write(document(one, 2))
