"""The site: no link to nowhere, no lost page."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.answer import terminal
from gpuwhy.lint import linter, report
from gpuwhy.causes.load import catalogue
from tools.site import stage

ROOT = Path(__file__).parents[3]

def test_every_page_is_there_once_and_no_link_leads_nowhere():
    site = stage.staged()
    assert list(stage.orphans(site)) == []
    assert {f"causes/{one}.md" for one in catalogue().causes} <= set(site.pages)
    assert "[`cudnn.version_mismatch`](cudnn.version_mismatch.md)" in site.pages["causes/cudnn.missing.md"]


def test_a_dead_link_is_named(monkeypatch, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[x](b.md) [y](#z) [z](https://example.org)\n```\n[in code](c.md)\n```\n")
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    monkeypatch.setattr(stage, "places", lambda: {"docs/a.md": "a.md"})
    with pytest.raises(stage.DeadLinkError, match=r"docs/a\.md: b\.md$"):
        stage.staged()


def test_the_editors_expression_reads_what_lint_prints():
    task = json.loads((ROOT / "docs/editors.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0])
    matcher = task["tasks"][0]["problemMatcher"]["pattern"]
    found = linter.lint({"requirements.txt": "torch==2.5.1\ntorchvision==0.19.0\n"}, lambda _: "")
    lint = terminal.write(report.document(found))
    found = re.search(matcher["regexp"], lint, re.MULTILINE)
    assert (found[matcher["file"]], found[matcher["line"]]) == ("requirements.txt", "2")
    assert (found[matcher["severity"]], found[matcher["code"]]) == ("error", "pair-mismatch")


@pytest.mark.doors
def test_it_builds_strictly_and_asks_nobody_else(tmp_path):
    pytest.importorskip("zensical")
    subprocess.run([sys.executable, "-m", "tools.site", str(tmp_path / "out")], cwd=ROOT, check=True, timeout=300)
    page = (tmp_path / "out" / "tutorial" / "index.html").read_text(encoding="utf-8")
    fetched = re.findall(r'(?:src|<link[^>]*href)="(https?://[^"]+)', page)
    assert fetched == []
    assert (tmp_path / "out" / "causes" / "cudnn.missing" / "index.html").is_file()
