"""Plain words get the answer to a question: likely causes, how each shows, how to go on."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from gpuwhy import logs
from gpuwhy.render.explained import render
from gpuwhy.render.json import report_dict
from gpuwhy.render.terminal import Paper
from gpuwhy.rooms import CAUSES
from gpuwhy.schemas import schema
from gpuwhy.spoken.heard import hear, plain
from gpuwhy.spoken.spelling import corrected
from gpuwhy.spoken.tells import TOLD
from gpuwhy.spoken.topics import TOPICS
from tests.rooms.facts import HERE, load

ROWS = [line.split("\t") for line in (Path(__file__).parent / "phrases.tsv").read_text().splitlines() if line[0] != "#"]


def _right(first: str, wanted: list[str]) -> bool:
    return any(first == one or (one.endswith("*") and first.startswith(one[:-1])) for one in wanted)


def test_every_phrase_leads_to_its_cause() -> None:
    wrong = []
    for words, causes in ROWS:
        report = logs.explain_text(words)
        first = report.causes[0].id if report.causes else "-"
        if not _right(first, causes.split("|")):
            wrong.append((words, first))
    assert not wrong


def test_every_topic_is_reached_and_says_how_to_go_on() -> None:
    reached = set()
    for words, _ in ROWS:
        heard = hear(words)
        topic = next((one for one in TOPICS if one.when(heard)), None)
        if topic is not None:
            guide = topic.guide(heard)
            reached.add(topic.id)
            assert guide.next, words
            assert all(way.tell for way in guide.ways), words
    assert reached >= {topic.id for topic in TOPICS} - {"container"}


def test_what_is_told_is_a_cause() -> None:
    assert {cause.id for cause in CAUSES} >= TOLD


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity)",
        "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object",
        "CUDA error: no kernel image is available for execution on the device",
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        "Error 804: forward compatibility was attempted on non supported HW",
    ],
)
def test_a_programs_message_is_no_question(text: str) -> None:
    assert logs.explain_text(text).guide is None


def test_slips_are_set_right_and_other_words_left_alone() -> None:
    assert corrected("tenserflow dosent detct gup nto") == "tensorflow doesnt detect gpu not"
    assert corrected("note the detached user words found") == "note the detached user words found"


def test_a_log_is_not_plain() -> None:
    assert not plain("Traceback (most recent call last):\n  File \"x.py\", line 1\nKeyError: 'lr'")
    assert not plain("word " * 200)
    assert plain("my gpu is not detected")


def test_a_working_nvidia_smi_clears_the_driver() -> None:
    ids = [c.id for c in logs.explain_text("torch sees no gpu but nvidia-smi works").causes]
    assert "driver.missing" not in ids
    assert ids[0] == "framework.cpu_only"


def test_the_commands_are_those_of_the_place() -> None:
    report = logs.explain_text("tensorflow does not use my gpu on windows 11")
    assert report.causes[0].id == "framework.platform_dropped"
    assert not any("sudo" in fix.command for cause in report.causes for fix in cause.fixes)
    assert any("%CUDA_VISIBLE_DEVICES%" in way.command for way in report.guide.ways)  # type: ignore[union-attr]


def test_versions_are_answered_by_the_release() -> None:
    assert "CUDA 12.1" in logs.explain_text("which cuda version do i need for pytorch 2.3").headline
    assert (
        "560." in logs.explain_text("what driver do i need for cuda 12.6").headline
        or "525." in logs.explain_text("what driver do i need for cuda 12.6").headline
    )


def test_the_forms_of_an_answer() -> None:
    report = logs.explain_text("my gpu is not detected")
    text = render(report, Paper(80))
    assert "if    nvidia-smi is not found" in text
    assert "next   gpuwhy check" in text
    value = report_dict(report)
    jsonschema.validate(value, schema("report"))
    assert [way["id"] for way in value["guide"]["ways"]] == [cause["id"] for cause in value["causes"]]


def test_what_is_wrong_on_this_machine_goes_before_what_is_likely() -> None:
    _, facts = load(HERE / "driver/library_mismatch/shown.json")
    report = logs.explain_text("my gpu is not detected", facts)
    assert report.causes[0].id == "driver.library_mismatch"
    assert report.guide is not None
    assert report.guide.ways[0].seen
    assert "   here  " in render(report, Paper(80))
    jsonschema.validate(report_dict(report), schema("report"))
