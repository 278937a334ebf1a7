"""SARIF, JUnit, annotations, code quality: of Answers and of findings in files."""

import json
import re
from xml.etree.ElementTree import fromstring

from gpuwhy.answer.ci import Note, github, gitlab, junit, notes, sarif
from tests.answer.examples import BROKEN, HEALTHY, SURE, UNDECIDED, UNRECOGNISED
from tests.answer.injections import STRINGS, planted

LINT = (
    Note("requirements.txt", 3, "tf-gpu", "tensorflow-gpu is empty since 2.12\nfix: tensorflow"),
    Note("a b/Dockerfile#1", 0, "cpu-image", "the image has no CUDA", "warning"),
    Note("x.py", 9, "style", "torch.cuda.amp is deprecated", "note"),
)


def test_notes_of_an_answer():
    assert [(one.level, one.rule) for one in notes(BROKEN)] == [
        ("error", "cudnn.version_mismatch"),
        ("skipped", "driver.xid"),
        ("skipped", "memory.held"),
        ("passed", "driver.too_old"),
    ]
    first = notes(SURE)[0]
    assert (first.path, first.line) == ("l1.txt", 1)
    assert "fix: install cuDNN 8.6 or a newer 8.x, then restart the notebook kernel\n" in first.text
    assert [one.level for one in notes(UNDECIDED)] == ["warning"] * 3
    assert [one.level for one in notes(UNRECOGNISED)] == ["skipped"]
    assert [one.rule for one in notes(HEALTHY)] == ["gpuwhy.healthy", "driver.too_old"]
    assert {one.level for one in notes(HEALTHY)} == {"passed"}


def test_sarif():
    values = json.loads(sarif(LINT, "1.0.0", {"tf-gpu": "an empty package"}))
    run = values["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["cpu-image", "style", "tf-gpu"]
    assert rules[2]["shortDescription"]["text"] == "an empty package"
    result = run["results"][0]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "tf-gpu"
    place = result["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == 3
    uri = run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20b/Dockerfile%231"
    assert [one["level"] for one in run["results"]] == ["error", "warning", "note"]
    machine = json.loads(sarif(notes(BROKEN), "1.0.0"))["runs"][0]["results"]
    assert len(machine) == 1
    assert "locations" not in machine[0]


def test_a_fingerprint_is_of_the_finding_and_not_of_its_line():
    one, two, three = (
        json.loads(gitlab([note]))[0]["fingerprint"]
        for note in (LINT[0], Note("requirements.txt", 30, *LINT[0].__reduce__()[1][2:]), LINT[1])
    )
    assert one == two != three


def test_junit():
    suite = fromstring(junit(notes(BROKEN), "check", 0.21))[0]
    counts = {"tests": "4", "failures": "1", "errors": "0", "skipped": "2"}
    assert suite.attrib == {"name": "check", "time": "0.210", **counts}
    failure = suite[0].find("failure")
    assert failure.get("type") == "cudnn.version_mismatch"
    assert "because PyTorch 2.11.0 was built with cuDNN 9.19.0" in failure.text
    assert fromstring(junit(LINT))[0][0].get("name") == "tf-gpu requirements.txt:3"


def test_github():
    lines = github(LINT).splitlines()
    assert lines[0] == (
        "::error file=requirements.txt,line=3,title=gpuwhy tf-gpu"
        "::tensorflow-gpu is empty since 2.12%0Afix: tensorflow"
    )
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert github(notes(HEALTHY)) == f"::notice title=gpuwhy::{HEALTHY.headline}\n"
    many = [Note("x", n, "r", str(n)) for n in range(40)]
    assert github(many).count("\n") == 10


def test_gitlab():
    first, second, third = json.loads(gitlab(LINT))
    assert first["check_name"] == "gpuwhy/tf-gpu"
    assert first["location"] == {"path": "requirements.txt", "lines": {"begin": 3}}
    assert [one["severity"] for one in (first, second, third)] == ["major", "minor", "info"]


def test_nothing_in_a_note_leaves_its_place():
    given = [Note(text, 1, "r.x", text) for text in STRINGS]
    given += [note for answer in planted() for note in notes(answer)]
    results = json.loads(sarif(given, "1"))["runs"][0]["results"]
    assert len(json.loads(gitlab(given))) == len(results)
    cases = fromstring(junit(given))[0]
    assert len(cases) == len(given)
    assert {one.tag for one in cases.iter()} <= {
        "testsuite", "testcase", "failure", "skipped", "system-out",
    }  # fmt: skip
    for note in given:
        lines = github([note]).splitlines()
        assert len(lines) == 1
        assert re.match(r"::(error|warning|notice) [^\x00-\x1f]*$", lines[0])
