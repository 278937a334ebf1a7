"""JUnit's XML and GitHub's annotations: every cause once, nothing that breaks the format, no secrets."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from gpuwhy.render.ci import as_annotations, as_junit
from gpuwhy.render.json import report_dict
from tests.hosts.hosts import run

FIX = {"text": "do", "command": "a\nb", "safe": True, "root": False, "reboot": False, "check": "c"}
CAUSE = {
    "id": "cudnn.missing",
    "title": "cuDNN is not found",
    "confidence": 0.99,
    "subject": "torch",
    "because": [{"text": "it is not there\x1b[31m\x00", "saw": [{"text": "]]> <&>", "source": "file"}]}],
    "explains": [],
    "fixes": [FIX],
}
REPORT = {
    "schema": "gpuwhy.report/1",
    "status": "broken",
    "headline": "no",
    "took": 0.25,
    "causes": [CAUSE, {**CAUSE, "id": "env.path", "confidence": 0.3, "subject": ""}],
    "ruled_out": [{"id": "driver.too_old", "because": "it is new"}, {"id": "env.path", "because": "x"}],
    "undetermined": [{"id": "device.busy", "missing": "no permission", "how": ""}],
    "crashed": [{"id": "wsl.setup", "error": "KeyError"}],
}
PROOF = {
    "schema": "gpuwhy.proof/1",
    "status": "proven",
    "headline": "without X it runs",
    "causes": [CAUSE],
    "change": {"text": "unset X"},
    "experiments": [{"change": "unset X", "outcome": "passes", "n": 3}],
    "seconds": 2.0,
}


def cases(text: str) -> dict[str, ElementTree.Element]:
    top = ElementTree.fromstring(text.encode())
    suite = top.find("testsuite")
    found = {case.get("name"): case for case in suite}
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(name)) == sum(case.find(kind) is not None for case in found.values())
    assert int(suite.get("tests")) == int(top.get("tests")) == len(found)
    return found


def test_a_report_is_a_case_for_each_cause():
    found = cases(as_junit(REPORT))
    kinds = {name: [child.tag for child in case] for name, case in found.items()}
    assert kinds == {
        "cudnn.missing (torch)": ["failure"],
        "env.path": ["skipped"],
        "wsl.setup": ["error"],
        "device.busy": ["skipped"],
        "driver.too_old": ["system-out"],
    }
    failure = found["cudnn.missing (torch)"].find("failure")
    assert failure.get("message") == "cuDNN is not found (torch) · certain"
    assert "saw ]]> <&> [file]" in failure.text
    assert "fix: do\n  a\n  b" in failure.text


def test_a_healthy_machine_has_only_passing_and_skipped_cases():
    found = cases(as_junit(report_dict(run("h200-bare").report())))
    assert len(found) > 20
    assert not any(case.find("failure") is not None for case in found.values())


@pytest.mark.parametrize("status, kind", [("proven", ["failure", "system-out"]), ("not_failing", ["system-out"])])
def test_a_proof_is_one_case(status, kind):
    (case,) = cases(as_junit({**PROOF, "status": status, "causes": [CAUSE] if kind[1:] else []})).values()
    assert [child.tag for child in case] == kind


def test_annotations_are_one_line_each_and_hide_secrets():
    secret = "ghp_" + "a1B2c3D4" * 5
    lines = as_annotations({**REPORT, "causes": [{**CAUSE, "title": f"100%\n::error::x {secret}"}]}).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::error title=gpuwhy cudnn.missing::100%25%0A· ::error")
    assert secret not in lines[0]
    assert as_annotations({**REPORT, "causes": []}) == "::notice title=gpuwhy::no\n"


def test_the_command_line_writes_and_prints_them(tmp_path):
    command = [sys.executable, "-m", "gpuwhy", "explain", "--log-only", "--junit", "a.xml", "--github"]
    done = subprocess.run(command, input="CUDA out of memory. Tried to allocate 2 GiB", capture_output=True, text=True,
                          cwd=tmp_path, timeout=60)  # fmt: skip
    assert done.stdout.startswith("::error title=gpuwhy memory.oom::")
    assert "memory.oom" in cases((tmp_path / "a.xml").read_text())


@pytest.mark.doors
def test_a_reader_of_junit_reads_it(tmp_path):
    junitparser = pytest.importorskip("junitparser")
    for name, values in (("a.xml", REPORT), ("b.xml", PROOF)):
        (tmp_path / name).write_text(as_junit(json.loads(json.dumps(values))), encoding="utf-8")
        found = junitparser.JUnitXml.fromfile(str(tmp_path / name))
        suites = list(found)
        assert suites[0].failures == 1
        failed = [case for case in suites[0] if any(isinstance(one, junitparser.Failure) for one in case.result)]
        assert failed[0].result[0].type == "cudnn.missing"
