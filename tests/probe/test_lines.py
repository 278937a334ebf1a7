"""What a child printed becomes stages, whatever it printed."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.facts.probe import Call, Stage
from gpuwhy.probe.lines import MAX_CALLS, MAX_STAGES, MAX_TEXT, read

from .machines import of_words

BEGIN = {"stage": "init", "device": None}
CALL = {"call": "cuInit", "ok": True, "code": 0, "status": "", "text": "", "ms": 1.5}
STATUS = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
BAD = {"call": "cuInit", "ok": False, "code": 803, "status": STATUS, "text": "no", "ms": 2}
FAILED = {"end": "init", "ok": False}
CALLING = {"calling": "cuInit"}


def only(*lines: dict) -> Stage:
    told = read(lines)
    assert len(told.stages) == 1, told
    return told.stages[0]


def test_a_stage_ends_well_or_fails_with_its_call_and_reason():
    library = "/usr/lib/libcuda.so.550"
    stage = only(BEGIN, CALLING, CALL, {"library": library}, {"end": "init", "ok": True})
    assert stage == Stage("init", "passed", (Call("cuInit", True, 0, ms=1.5),), 1.5, library=library)
    stage = only(BEGIN, CALLING, BAD, {**FAILED, "why": "because", "ms": 7})
    assert (stage.outcome, stage.why, stage.ms) == ("failed", "because", 7)
    assert stage.failing == Call("cuInit", False, 803, STATUS, "no", 2)


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ((BAD,), f"cuInit gave 803 {STATUS}: no"),
        (({"call": "dlopen", "ok": False},), "dlopen gave an error"),
        ((), "it did not say why"),
    ],
)
def test_a_failure_without_a_reason_gets_it_from_its_call(calls, why):
    assert only(BEGIN, *calls, FAILED).why == why


@pytest.mark.parametrize(
    ("ended", "outcome", "why"),
    [
        ("probe died by signal 7", "crashed", "died by signal 7 (SIGBUS)"),
        ("probe died by signal 6: Could not load", "crashed", "died by signal 6 (SIGABRT): Could"),
        ("probe died by signal 64", "crashed", "died by signal 64"),
        ("probe ran out of time: it said something", "hung", "no answer in time"),
        ("probe ended with code 1: Bad", "crashed", "ended the process with code 1: Bad"),
        ("probe ended with code 3221225477", "crashed", "ended the process with code 3221225477 (a"),
        ("probe took more than 6 GiB of memory", "crashed", "took more than 6 GiB of memory"),
        (["no", "text"], "crashed", "died"),
    ],
)
def test_a_death_belongs_to_the_call_that_was_named_last(ended, outcome, why):
    last = of_words(ended) if isinstance(ended, str) else {"ended": ended}
    told = read([BEGIN, CALL, CALLING, last])
    (stage,) = told.stages
    assert told.broke
    assert stage.outcome == outcome
    assert stage.why.startswith(f"cuInit: {why}")
    assert (stage.failing.name, len(stage.calls)) == ("cuInit", 2)


def test_what_libraries_printed_last_explains_a_death_and_a_failure_without_words():
    said = {"said": "noise\nUnable to load any of {libcudnn_cnn.so.9}\nInvalid handle.\n"}
    stage = only(BEGIN, {"calling": "a"}, said, of_words("probe died by signal 6: Invalid handle."))
    assert stage.why == (
        "a: died by signal 6 (SIGABRT): noise · Unable to load any of {libcudnn_cnn.so.9} · Invalid handle."
    )
    wordless, end = {**BAD, "text": ""}, {**FAILED, "why": "cuInit gave 803"}
    assert only(BEGIN, wordless, end, {"said": "it is so\n"}).why == "cuInit gave 803: it is so"
    assert only(BEGIN, BAD, end, {"said": "something else"}).why == "cuInit gave 803"


def test_before_the_first_stage_after_the_last_and_ends_that_are_missing():
    early = [CALL, {"stage": "a", "device": 1}, {"end": "a", "ok": True}, BAD, {"stage": "b"}]
    first, second = read([*early, {"end": "b", "ok": True}]).stages
    assert [call.name for call in first.calls] == ["cuInit"]
    assert (first.device, second.calls) == (1, ())
    nameless = only({"calling": "dlopen libcuda.so.1"}, of_words("probe died by signal 7"))
    assert (nameless.name, nameless.calls[0].name) == ("", "dlopen libcuda.so.1")
    told = read([BEGIN, {"end": "init", "ok": True}, of_words("probe died by signal 11")])
    assert ([stage.outcome for stage in told.stages], told.broke) == (["passed"], False)
    between = only(BEGIN, CALLING, CALL, of_words("probe died by signal 11"))
    assert (between.why, between.failing) == ("died by signal 11 (SIGSEGV)", None)
    told = read([BEGIN, CALLING])
    assert told.broke
    assert told.stages[0].why == "cuInit: the process ended in the middle of it"
    first, second = read([BEGIN, BAD, {"stage": "b"}, {"end": "b", "ok": True}]).stages
    assert (first.outcome, second.outcome, second.calls) == ("failed", "passed", ())


@pytest.mark.parametrize("device", [-1, True, "0", 1.5, 10**9, [0]])
def test_a_device_that_is_none_is_none(device):
    stage = only({"stage": "context", "device": device}, {"end": "context", "ok": True})
    assert stage.device is None


def test_a_text_is_one_line_without_control_characters_and_huge_texts_and_many_lines_are_cut():
    odd = only(BEGIN, {**BAD, "text": "first\n  second\x1b[31m\tred"}, {**FAILED, "why": "a\r\nb"})
    assert (odd.why, odd.calls[0].text) == ("a b", "first second [31m red")
    huge = "x" * 1_000_000
    calls = [{**BAD, "text": huge, "call": huge}] * 10 * MAX_CALLS
    last = of_words("probe died by signal 6: " + huge)
    stage = only({"stage": huge}, {"library": huge}, *calls, {"calling": huge}, last)
    assert len(stage.calls) == MAX_CALLS
    assert stage.calls[-1].text.startswith("died by signal 6")
    assert len(msgspec.json.encode(stage)) < 4 * MAX_CALLS * MAX_TEXT
    assert len(read([BEGIN] * 10 * MAX_STAGES).stages) == MAX_STAGES


KEYS = ["stage", "device", "calling", "call", "ok", "code", "text", "ms", "library", "rate"]
KEYS += ["end", "said", "ended", "how", "late", "why", "last", "memory", "per_second"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=4,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=12))
def test_any_lines_become_records_that_a_report_can_hold(lines):
    told = read(json.loads(json.dumps(lines)))
    for stage in told.stages:
        assert msgspec.json.decode(msgspec.json.encode(stage), type=Stage) == stage
        assert stage.outcome != "passed" or any(line.get("ok") is True for line in lines)
