"""What a child printed becomes stages, whatever it printed."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.facts.probe import Call, Rate, Stage
from gpuwhy.probe.lines import MAX_CALLS, MAX_STAGES, MAX_TEXT, read

from .machines import of_words

BEGIN = {"stage": "init", "device": None}
CALL = {"call": "cuInit", "ok": True, "code": 0, "status": "", "text": "", "ms": 1.5}
BAD = {
    "call": "cuInit",
    "ok": False,
    "code": 803,
    "status": "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    "text": "no",
    "ms": 2,
}


def only(*lines: dict) -> Stage:
    told = read(lines)
    assert len(told.stages) == 1, told
    return told.stages[0]


def test_a_stage_that_ends_well_passed():
    stage = only(
        BEGIN,
        {"calling": "cuInit"},
        CALL,
        {"library": "/usr/lib/libcuda.so.550"},
        {"end": "init", "ok": True},
    )
    assert stage == Stage(
        "init", "passed", (Call("cuInit", True, 0, ms=1.5),), 1.5, library="/usr/lib/libcuda.so.550"
    )


def test_a_stage_that_says_no_failed_with_its_call_and_reason():
    stage = only(
        BEGIN, {"calling": "cuInit"}, BAD, {"end": "init", "ok": False, "why": "because", "ms": 7}
    )
    assert (stage.outcome, stage.why, stage.ms) == ("failed", "because", 7)
    assert stage.failing == Call("cuInit", False, 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "no", 2)


@pytest.mark.parametrize(
    "calls, why",
    [
        ((BAD,), "cuInit gave 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: no"),
        (({"call": "dlopen", "ok": False},), "dlopen gave an error"),
        ((), "it did not say why"),
    ],
)
def test_a_failure_without_a_reason_gets_it_from_its_call(calls, why):
    assert only(BEGIN, *calls, {"end": "init", "ok": False}).why == why


@pytest.mark.parametrize(
    "ended, outcome, why",
    [
        ("probe died by signal 7", "crashed", "cuInit: died by signal 7 (SIGBUS)"),
        (
            "probe died by signal 6: Could not load library",
            "crashed",
            "cuInit: died by signal 6 (SIGABRT): Could not load",
        ),
        ("probe died by signal 64", "crashed", "cuInit: died by signal 64"),
        ("probe ran out of time", "hung", "cuInit: no answer in time"),
        ("probe ran out of time: it said something", "hung", "cuInit: no answer in time"),
        ("probe ended with code 1: Bad", "crashed", "cuInit: ended the process with code 1: Bad"),
        (
            "probe ended with code 3221225477",
            "crashed",
            "cuInit: ended the process with code 3221225477 (access",
        ),
        (
            "probe took more than 6 GiB of memory",
            "crashed",
            "cuInit: took more than 6 GiB of memory",
        ),
        ("who knows", "crashed", "cuInit: died"),
        (["no", "text"], "crashed", "cuInit: died"),
    ],
)
def test_a_death_belongs_to_the_call_that_was_named_last(ended, outcome, why):
    last = of_words(ended) if isinstance(ended, str) else {"ended": ended}
    told = read([BEGIN, CALL, {"calling": "cuInit"}, last])
    (stage,) = told.stages
    assert told.broke
    assert stage.outcome == outcome
    assert stage.why.startswith(why)
    assert stage.failing is not None
    assert (stage.failing.name, len(stage.calls)) == ("cuInit", 2)


def test_what_libraries_printed_last_explains_a_death():
    said = {"said": "noise\nUnable to load any of {libcudnn_cnn.so.9}\nInvalid handle.\n"}
    stage = only(BEGIN, {"calling": "a"}, said, of_words("probe died by signal 6: Invalid handle."))
    assert stage.why == (
        "a: died by signal 6 (SIGABRT): "
        "noise · Unable to load any of {libcudnn_cnn.so.9} · Invalid handle."
    )


def test_what_libraries_printed_last_explains_a_failure_without_words():
    wordless, end = {**BAD, "text": ""}, {"end": "init", "ok": False, "why": "cuInit gave 803"}
    assert (
        only(BEGIN, wordless, end, {"said": "it is missing\n"}).why
        == "cuInit gave 803: it is missing"
    )
    assert only(BEGIN, BAD, end, {"said": "something else"}).why == "cuInit gave 803"


def test_a_death_between_calls_belongs_to_the_stage():
    stage = only(BEGIN, {"calling": "cuInit"}, CALL, of_words("probe died by signal 11"))
    assert (stage.outcome, stage.why, stage.failing) == (
        "crashed",
        "died by signal 11 (SIGSEGV)",
        None,
    )


def test_a_process_that_leaves_in_the_middle_without_an_error_crashed_too():
    told = read([BEGIN, {"calling": "cuInit"}])
    assert told.broke
    assert (told.stages[0].outcome, told.stages[0].why) == (
        "crashed",
        "cuInit: the process ended in the middle of it",
    )


def test_a_stage_that_is_followed_by_another_without_an_end_failed():
    first, second = read([BEGIN, BAD, {"stage": "devices"}, {"end": "devices", "ok": True}]).stages
    assert (first.outcome, second.outcome, second.calls) == ("failed", "passed", ())


def test_what_happens_before_the_first_stage_belongs_to_it():
    first, second = read(
        [
            CALL,
            {"stage": "a", "device": 1},
            {"end": "a", "ok": True},
            BAD,
            {"stage": "b"},
            {"end": "b", "ok": True},
        ]
    ).stages
    assert [call.name for call in first.calls] == ["cuInit"]
    assert (first.device, second.calls) == (1, ())


def test_a_death_before_any_stage_is_a_stage_without_a_name():
    stage = only({"calling": "dlopen libcuda.so.1"}, of_words("probe died by signal 7"))
    assert (stage.name, stage.outcome, stage.calls[0].name) == (
        "",
        "crashed",
        "dlopen libcuda.so.1",
    )


def test_a_death_after_the_last_stage_changes_nothing():
    told = read([BEGIN, {"end": "init", "ok": True}, of_words("probe died by signal 11")])
    assert [stage.outcome for stage in told.stages] == ["passed"]
    assert not told.broke


def test_a_skipped_stage_says_why():
    assert only(BEGIN, {"skipped": "no time"}) == Stage("init", "skipped", why="no time")


def test_rates():
    told = read(
        [
            {"rate": "copy to the GPU", "device": 0, "per_second": 1e9, "unit": "B/s"},
            {"rate": "copy to the GPU", "device": None, "per_second": 1e9, "unit": "B/s"},
            {"rate": "copy to the GPU", "device": 0, "per_second": float("nan"), "unit": "B/s"},
            {"rate": "copy to the GPU", "device": 0, "per_second": float("inf"), "unit": "B/s"},
            {"rate": "copy to the GPU", "device": 0, "per_second": -1, "unit": "B/s"},
            {"rate": "another", "device": 0, "per_second": 1e9, "unit": "B/s"},
        ]
    )
    assert told.rates == (Rate("copy to the GPU", 0, 1e9, "B/s"),)


@pytest.mark.parametrize("device", [-1, True, "0", 1.5, 10**9, [0]])
def test_a_device_that_is_none_is_none(device):
    assert (
        only({"stage": "context", "device": device}, {"end": "context", "ok": True}).device is None
    )


def test_huge_texts_and_many_lines_are_cut():
    huge = "x" * 1_000_000
    lines = [
        {"stage": huge},
        {"library": huge},
        *({**BAD, "text": huge, "call": huge} for _ in range(10 * MAX_CALLS)),
    ]
    stage = only(*lines, {"calling": huge}, of_words("probe died by signal 6: " + huge))
    assert len(stage.calls) == MAX_CALLS
    assert stage.calls[-1].text.startswith("died by signal 6")
    assert len(msgspec.json.encode(stage)) < 4 * MAX_CALLS * MAX_TEXT
    assert len(read([BEGIN] * 10 * MAX_STAGES).stages) == MAX_STAGES


def test_a_text_is_one_line_without_control_characters():
    stage = only(
        BEGIN,
        {**BAD, "text": "first\n  second\x1b[31m\tred"},
        {"end": "init", "ok": False, "why": "a\r\nb"},
    )
    assert (stage.why, stage.calls[0].text) == ("a b", "first second [31m red")


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"garbled": "{"},
        {"stage": None},
        {"call": 7, "ok": "yes", "code": True, "ms": "long"},
        {"call": "a", "code": 1 << 80, "ms": 1e999},
        {"rate": {}, "device": {}, "per_second": None},
        {"end": []},
        {"ended": None},
        {"ended": "x", "how": 7},
        {"ended": "x", "how": {"code": "-6", "late": 1, "why": [], "last": {}}},
    ],
)
def test_garbage_raises_nothing(line):
    told = read([line, BEGIN, line, {"end": "init", "ok": True}])
    assert (
        msgspec.json.decode(msgspec.json.encode(told.stages), type=tuple[Stage, ...]) == told.stages
    )


KEYS = [
    "stage",
    "device",
    "calling",
    "call",
    "ok",
    "code",
    "text",
    "ms",
    "library",
    "rate",
    "end",
    "said",
    "ended",
    "memory",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=4,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=12))
def test_any_lines_become_records_that_a_report_can_hold(lines):
    told = read(json.loads(json.dumps(lines)))
    for stage in told.stages:
        assert msgspec.json.decode(msgspec.json.encode(stage), type=Stage) == stage
        assert stage.outcome != "passed" or any(line.get("ok") is True for line in lines)
