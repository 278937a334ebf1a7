"""docs/causes is what tools/docs.py makes of the pages beside the causes."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from gpuwhy.model.cause import Fix
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.pages import page

from . import tool

ROOT = Path(__file__).parents[2]
docs = tool("docs")

PAGE = "# driver.missing\n\nThere is a GPU,\nand no driver.\n\n## What you see\n\n- a message\n"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "src" / "gpuwhy" / "rooms" / "driver"
    folder.mkdir(parents=True)
    (folder / "missing.md").write_text(PAGE)
    (folder / "stub.md").write_text(PAGE.replace("missing", "stub"))
    return tmp_path


def test_the_repository_is_up_to_date():
    assert docs.differences(ROOT) == [], "run: python tools/docs.py"


def test_every_cause_is_in_the_index():
    text = (ROOT / "docs" / "causes" / "README.md").read_text(encoding="utf-8")
    assert [c.id for c in CAUSES if f"- [{c.id}]({c.id}.md): " not in text] == []


def test_writes_pages_and_index(root):
    assert docs.main(["--root", str(root)]) == 0
    written = root / "docs" / "causes"
    assert sorted(f.name for f in written.iterdir()) == ["README.md", "driver.missing.md", "driver.stub.md"]
    assert (written / "driver.missing.md").read_text() == PAGE
    index = (written / "README.md").read_text()
    assert "## driver\n\n- [driver.missing](driver.missing.md): There is a GPU, and no driver.\n" in index
    assert docs.main(["--root", str(root), "--check"]) == 0


def test_check_names_what_differs(root, capsys):
    docs.write(root)
    written = root / "docs" / "causes"
    (written / "driver.stub.md").unlink()
    (written / "driver.missing.md").write_text("edited by hand")
    (written / "driver.gone.md").write_text("a cause that was renamed")
    assert docs.main(["--root", str(root), "--check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "docs/causes/driver.missing.md: differs from its source",
        "docs/causes/driver.stub.md: missing",
        "docs/causes/driver.gone.md: there is no such cause",
        "run: python tools/docs.py",
    ]
    assert (written / "driver.missing.md").read_text() == "edited by hand", "--check changes nothing"
    docs.write(root)
    assert docs.differences(root) == []


def own_words(cause_id):
    """What a page says under Fix by itself, on one line."""
    page = (ROOT / "src" / "gpuwhy" / "rooms" / f"{cause_id.replace('.', '/')}.md").read_text(encoding="utf-8")
    return " ".join(" ".join(docs.own_words(page.partition("## Fix\n")[2].partition("\n## ")[0])).split())


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.id)
def test_a_page_has_no_command_of_its_own(cause):
    """Commands stand in the room alone: what a page says by itself cannot contradict them."""
    spans = re.findall(r"`([^`]+)`", own_words(cause.id))
    assert [one for one in spans if " " in one and not one.startswith("gpuwhy ")] == []


@pytest.mark.parametrize("cause_id", ["driver.stub", "program.fork"])
def test_another_command_in_the_room_is_a_difference(cause_id, monkeypatch):
    shown, rows = docs.shown(cause_id), docs.rooms()[cause_id].remedies
    other = [(found, (Fix("Do this", "another --command"), *fixes)) for found, fixes in shown]
    monkeypatch.setattr(docs, "shown", lambda name: other if name == cause_id else [])
    written = docs.quoted(cause_id, page(cause_id) or "")
    assert ("another --command" in written) == bool(shown)
    changed = msgspec.structs.replace(rows[0], fix=Fix("Do that", "yet another"))
    assert "- Do that: `yet another`" in docs.remedies((msgspec.structs.replace(changed, said=("x",)),), set())


def test_quoting_twice_changes_nothing():
    for cause in CAUSES:
        text = page(cause.id) or ""
        assert docs.quoted(cause.id, text) == text
