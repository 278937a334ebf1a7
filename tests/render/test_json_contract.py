"""gpuwhy.report/1: what is printed fits the published schema, and the schema holds what the design promises."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from gpuwhy.render.json import render, report_dict

from .reports import ALL, awkward, broken

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# The design's contract, version 1: a release may add to these, never take away.
REPORT = {"schema", "status", "causes", "ruled_out", "undetermined", "facts"}
CAUSE = {"id", "title", "confidence", "because", "explains", "fixes"}
FIX = {"text", "command", "safe", "root", "reboot", "check"}


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ALL)
def test_reports_fit_the_schema(name):
    report = json.loads(render(ALL[name]()))
    assert [error.message for error in VALIDATOR.iter_errors(report)] == []


def test_the_contract_holds():
    report = json.loads(render(broken()))
    assert report["schema"] == "gpuwhy.report/1"
    assert set(report) >= REPORT
    assert report["status"] == "broken"
    cause = report["causes"][0]
    assert set(cause) >= CAUSE
    assert cause["id"] == "driver.missing"
    assert set(cause["because"][0]) >= {"text", "saw"}
    assert set(cause["because"][0]["saw"][0]) == {"text", "source"}
    assert all(set(fix) >= FIX for fix in cause["fixes"])
    assert set(report["facts"]) >= {"driver", "devices", "target", "libraries", "environment", "surroundings"}


def test_the_schema_requires_the_contract():
    assert set(SCHEMA["required"]) >= REPORT
    assert set(SCHEMA["$defs"]["cause"]["required"]) >= CAUSE
    assert set(SCHEMA["$defs"]["fix"]["required"]) >= FIX
    assert "additionalProperties" not in SCHEMA, "readers must accept what later releases add"


@pytest.mark.parametrize("field", sorted(REPORT))
def test_a_report_without_a_promised_field_is_refused(field):
    report = json.loads(render(awkward()))
    del report[field]
    assert not VALIDATOR.is_valid(report)


def test_added_fields_are_accepted_and_wrong_ones_refused():
    report = json.loads(render(awkward()))
    more = {**copy.deepcopy(report), "later": 1}
    more["causes"][0]["later"] = 2
    assert VALIDATOR.is_valid(more)
    report["status"] = "fine"
    assert not VALIDATOR.is_valid(report)


def test_causes_keep_their_order_and_text_survives():
    report = awkward()
    assert [c["id"] for c in report_dict(report)["causes"]] == [c.id for c in report.causes]
    assert "\x1b" not in render(report), "control characters are escaped by JSON"


def test_odd_bytes_do_not_stop_the_report():
    import msgspec

    odd = msgspec.structs.replace(awkward(), headline="caf\udce9")
    assert json.loads(render(odd))["headline"] == "caf\\udce9"
