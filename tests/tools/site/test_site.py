"""The site: no link to nowhere, no lost page; what is pasted is found; the tutorial says what gpuwhy says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.answer import terminal
from gpuwhy.lint import linter, report
from gpuwhy.rooms import CAUSES
from tools.site import stage, tutorial
from tools.site.paste import browser, index

ROOT = Path(__file__).parents[3]
COMPARE = """
const {compiled, weigh} = require(process.argv[1]);
const {index, rows} = JSON.parse(require("fs").readFileSync(0));
compiled(index);
let first = 0, three = 0;
for (const row of rows) {
  const right = new Set([row.cause, ...(row.also || [])]), found = weigh(row.log, index).map((one) => one.cause);
  first += right.has(found[0]); three += found.slice(0, 3).some((one) => right.has(one));
}
console.log(JSON.stringify({broken: index.broken, first, three, of: rows.length}));
"""


def test_every_page_is_there_once_and_no_link_leads_nowhere():
    site = stage.staged()
    assert list(stage.orphans(site)) == []
    assert {f"causes/{one.id}.md" for one in CAUSES} <= set(site.pages)
    assert "[`cudnn.version_mismatch`](cudnn.version_mismatch.md)" in site.pages["causes/cudnn.missing.md"]


def test_a_dead_link_is_named(monkeypatch, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[x](b.md) [y](#z) [z](https://example.org)\n```\n[in code](c.md)\n```\n")
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    monkeypatch.setattr(stage, "places", lambda: {"docs/a.md": "a.md"})
    with pytest.raises(stage.DeadLinkError, match=r"docs/a\.md: b\.md$"):
        stage.staged()


def test_expressions_as_a_browser_reads_them():
    assert browser(r"(?P<name>[^]]+) (?-i:AB)\Z") == r"([^\]]+) (?:AB)$"


def test_the_tutorial_has_five_failures_and_every_block_is_filled():
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^## \d\.", text, re.MULTILINE)) == 5
    assert re.findall(r"-->\n(?!```)", text) == []
    for order in re.findall(r"<!-- log (\S+) -->", text):
        assert tutorial.logs()[order].strip() in text


def test_the_editors_expression_reads_what_lint_prints():
    task = json.loads((ROOT / "docs/editors.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0])
    matcher = task["tasks"][0]["problemMatcher"]["pattern"]
    found = linter.lint({"requirements.txt": "torch==2.5.1\ntorchvision==0.19.0\n"}, lambda _: "")
    lint = terminal.write(report.document(found))
    found = re.search(matcher["regexp"], lint, re.MULTILINE)
    assert (found[matcher["file"]], found[matcher["line"]]) == ("requirements.txt", "2")
    assert (found[matcher["severity"]], found[matcher["code"]]) == ("error", "pair-mismatch")


@pytest.mark.doors
def test_the_tutorial_is_up_to_date():
    assert tutorial.filled(tutorial.PAGE.read_text(encoding="utf-8")) == tutorial.PAGE.read_text(encoding="utf-8")


@pytest.mark.doors
def test_what_is_pasted_leads_to_the_right_page():
    """In node, which reads the page's own script; the browser was looked at by hand."""
    if not shutil.which("node"):
        pytest.skip("no node")
    files = sorted((ROOT / "tests/symptoms/captured").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    given = json.dumps({"index": index(), "rows": rows})
    command = ["node", "-e", COMPARE, str(ROOT / "docs" / "site" / "paste.js")]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    assert found["broken"] == 0
    assert found["first"] >= 0.77 * found["of"]
    assert found["three"] >= 0.87 * found["of"]


@pytest.mark.doors
def test_it_builds_strictly_and_asks_nobody_else(tmp_path):
    pytest.importorskip("zensical")
    subprocess.run([sys.executable, "-m", "tools.site", str(tmp_path / "out")], cwd=ROOT, check=True, timeout=300)
    page = (tmp_path / "out" / "paste" / "index.html").read_text(encoding="utf-8")
    fetched = re.findall(r'(?:src|<link[^>]*href)="(https?://[^"]+)', page)
    assert fetched == []
    assert (tmp_path / "out" / "causes" / "cudnn.missing" / "index.html").is_file()
