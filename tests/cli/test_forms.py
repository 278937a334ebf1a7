"""`--html`, `--markdown` and `gpuwhy report` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import started
from tests.page import forms


def gpuwhy(*argv: str, cwd, given: str = "") -> subprocess.CompletedProcess[str]:
    return started.gpuwhy(argv, cwd=cwd, given=given, timeout=120)


def test_explain_writes_a_page_beside_its_text(tmp_path):
    (tmp_path / "a.log").write_text(forms.LOG)
    done = gpuwhy("explain", "a.log", "--log-only", "--html", "a.html", cwd=tmp_path)
    assert done.returncode == 1
    assert "memory.oom" in done.stdout
    assert "wrote a.html" in done.stderr
    text = (tmp_path / "a.html").read_text()
    assert '<li class="decides">' in text
    assert ">304<" in text


def test_markdown_stands_for_the_text(tmp_path):
    done = gpuwhy("explain", "-", "--log-only", "--markdown", cwd=tmp_path, given=forms.LOG)
    assert done.stdout.startswith("**2.00 GiB more was asked for than the GPU had left**")
    assert "<details>" in done.stdout
    assert gpuwhy("explain", "-", "--markdown", "--json", cwd=tmp_path, given="x").returncode == 2


def test_what_cannot_be_written_is_said_before_the_work(tmp_path):
    for name in ("missing/a.html", "."):
        done = gpuwhy("run", "--html", name, "--", sys.executable, "-c", "print('ran')", cwd=tmp_path)
        assert done.returncode == 2
        assert "ran" not in done.stdout
        assert "cannot be written" in done.stderr or "not a folder" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="run works on Linux")
def test_a_run_a_recording_and_a_json_report_have_the_same_page(tmp_path):
    fails = "import sys; print('RuntimeError: CUDA error: out of memory'); sys.exit(1)"
    done = gpuwhy("run", "--html", "a.html", "--record", "r.json", "--", sys.executable, "-c", fails, cwd=tmp_path)
    assert done.returncode == 1
    page = (tmp_path / "a.html").read_text()
    assert "CUDA error: out of memory" in page
    assert "The run" in page
    done = gpuwhy("report", "r.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "What the program printed" in (tmp_path / "r.html").read_text()
    again = gpuwhy("report", "r.json", cwd=tmp_path)
    assert again.returncode == 2
    assert "File exists" in again.stderr, "over nothing unasked"
    issue = gpuwhy("report", "--for", "pytorch", "r.json", cwd=tmp_path)
    assert "CUDA error: out of memory" in issue.stdout


def test_several_files_become_one_page_and_what_is_none_is_refused(tmp_path):
    for name, values in (("plan", forms.planned("torch")), ("proof", forms.proof()), ("fleet", forms.fleet())):
        (tmp_path / f"{name}.json").write_text(json.dumps(values))
    done = gpuwhy("report", "plan.json", "proof.json", "fleet.json", "--html", "all.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    kept = gpuwhy("report", str(forms.RECORD), "--html", "kept.html", cwd=tmp_path)
    assert kept.returncode == 0, kept.stderr
    assert "without CUDA_VISIBLE_DEVICES it runs (3 of 3)" in (tmp_path / "kept.html").read_text()
    assert "3 reports" in (tmp_path / "all.html").read_text()
    for text in ("no JSON", "[]", '{"schema": "other/1"}', '{"schema": "gpuwhy.record/1"}', "[" * 100_000):
        (tmp_path / "bad.json").write_text(text)
        refused = gpuwhy("report", "bad.json", "--html", "b.html", cwd=tmp_path)
        assert refused.returncode == 2, refused.stderr
        assert "Traceback" not in refused.stderr
    assert gpuwhy("report", "--for", "cobol", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("form", ["report", "plan", "inspect", "lint", "fleet", "proof"])
def test_a_form_without_its_answer_is_refused(form, tmp_path):
    (tmp_path / "empty.json").write_text(json.dumps({"schema": f"gpuwhy.{form}/1"}))
    done = gpuwhy("report", "empty.json", "--html", "e.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds no answer" in done.stderr
    assert not (tmp_path / "e.html").exists()
