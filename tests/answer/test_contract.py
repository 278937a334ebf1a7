"""`gpuwhy.report/1`: its schema, and version 0's reports and schema, which are kept."""

import json
import os
from pathlib import Path

import jsonschema
import msgspec
import pytest

from gpuwhy.advise.remedy import Install, Restart
from gpuwhy.answer import html
from gpuwhy.answer.answer import Answer, Layer
from gpuwhy.answer.blocks import document
from gpuwhy.answer.contract import UnreadableError, as_json, ended, read, schema, symptoms
from gpuwhy.answer.terminal import write
from gpuwhy.log.ending import Ending, Frame
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message, Standing
from tests.answer.examples import ANSWERS, SURE
from tests.answer.injections import planted
from tests.answer.test_pictures import same

OLD = Path(__file__).parent / "version_0"
SAVED = sorted(file for file in OLD.glob("*.json") if file.name != "report.schema.json")
OLD_SCHEMA = json.loads((OLD / "report.schema.json").read_text())


SCHEMA = schema()
PUBLISHED = Path(__file__).parents[2] / "docs" / "report.schema.json"


def test_the_published_schema_is_made_of_the_types():
    if os.environ.get("GPUWHY_GOLDEN") == "write":
        PUBLISHED.write_text(as_json(SCHEMA), encoding="utf-8")
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == json.loads(as_json(SCHEMA))


def test_every_field_of_version_0_is_still_required():
    answer = SCHEMA["$defs"]["Answer"]
    assert set(OLD_SCHEMA["required"]) <= set(answer["required"])
    gone = set(OLD_SCHEMA["properties"]) - set(answer["properties"])
    assert gone == {"guide", "origin"}, "docs/stability.md says that these are no longer filled"


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_valid_by_its_schema_and_version_0s_and_read_back_as_it_was(name):
    values = json.loads(as_json(ANSWERS[name]))
    assert next(iter(values)) == "schema"
    jsonschema.validate(values, SCHEMA)
    jsonschema.validate(values, OLD_SCHEMA)
    assert read(as_json(ANSWERS[name])) == ANSWERS[name]


def test_remedies_are_values_in_json():
    fix = json.loads(as_json(SURE))["causes"][0]["fixes"][0]
    assert fix["action"][0] == {
        "action": "install", "packages": ["nvidia-cudnn-cu11>=8.6,<9"], "upgrade": True,
    }  # fmt: skip
    assert read(as_json(SURE)).causes[0].fixes[0].action[1] == Restart("kernel")


def test_an_action_of_a_later_release_does_not_make_a_report_unreadable():
    text = as_json(SURE).replace('"action": "restart"', '"action": "teleport"')
    fix = read(text).causes[0].fixes[0]
    assert fix.action == ()
    assert fix.text == SURE.causes[0].fixes[0].text
    assert Install(("x",)) not in fix.action


@pytest.mark.parametrize("file", SAVED, ids=lambda file: file.stem)
def test_a_report_of_version_0_is_read_and_written_in_every_form(file):
    answer = read(file.read_bytes())
    same(f"version-0-{file.stem}.txt", write(document(answer)))
    assert answer.headline in write(document(answer, 2)).replace("\n  ", " ")
    assert len(html.page(document(answer, 2))) > 5_000
    jsonschema.validate(json.loads(as_json(answer)), SCHEMA)


def test_verdicts_of_version_0():
    verdicts = {file.stem: read(file.read_bytes()).verdict for file in SAVED}
    assert verdicts == {"check-broken": "found", "check-healthy": "healthy", "explain": "undecided"}
    old = json.loads((OLD / "explain.json").read_text())
    assert read(json.dumps({**old, "causes": [], "question": None})).verdict == "unrecognised"


def test_a_line_of_version_0_keeps_its_number():
    answer = read((OLD / "explain.json").read_bytes())
    assert answer.causes[0].because[0].line == 1
    assert [row.means for row in answer.question.rows] == list(answer.question.answers.values())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a report"),
        ('{"schema": "gpuwhy.plan/1"}', "not a report"),
        ('{"schema": "gpuwhy.report/1"}', "missing required field"),
        ('{"schema": "gpuwhy.report/1", "causes": 7, "question": {"answers": 1}}', "not a report"),
        ('{"schema": "gpuwhy.report/1", "causes": [{"confidence": "x"}]}', "report"),
        ('{"schema": "gpuwhy.report/1", "symptoms": [{"text": []}]}', "report"),
    ],
)
def test_what_is_no_report_is_refused_with_a_reason(text, why):
    with pytest.raises(UnreadableError, match=why):
        read(text)


def test_json_holds_no_lone_surrogate_and_steers_no_terminal():
    layer = Layer("GPU", "/mnt/\udcff\u202e\x9b\U000e0041.so", "ok", "")
    one = msgspec.structs.replace(SURE, layers=(layer,))
    text = as_json(one)
    assert all(c.isprintable() or c == "\n" for c in text)
    again = json.loads(text)["layers"][0]["text"]
    assert again == "/mnt/\\udcff\u202e\x9b\U000e0041.so"


def test_hostile_answers_are_valid_json():
    for answer in planted():
        text = as_json(answer)
        json.loads(text)
        assert all(c.isprintable() or c == "\n" for c in text)
        assert isinstance(read(text), Answer)


def test_messages_and_the_ending_of_a_log():
    log = Log(
        messages=(
            Message("torch.oom", 7, "out of memory", fields={"asked": "2 GiB"}),
            Message("told.driver", 2, "Driver Version: 580", role="fact"),
            Message("cudnn.status", 9, "x", standing=Standing.NOTED, explained_by=0),
        )
    )
    first, second, third = symptoms(log)
    assert (first.role, first.line, first.follows, first.standing) == ("error", 7, None, "decides")
    assert second.role == "told"
    assert (third.role, third.follows, third.standing) == ("aside", 0, "noted")
    assert ended(Ending()) is None
    raised = Ending("exception", "KeyError", "'lr'", (Frame("train.py", 41, "main"),), 9)
    assert ended(raised).frame.line == 41
    jsonschema.validate(
        json.loads(as_json(msgspec.structs.replace(SURE, ending=ended(raised)))), OLD_SCHEMA
    )
