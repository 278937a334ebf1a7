"""docs/causes is what tools/docs.py makes of the pages beside the causes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuwhy.causes.load import catalogue

from . import tool

ROOT = Path(__file__).parents[2]
docs = tool("docs")

PAGE = "# driver.missing\n\nThere is a GPU,\nand no driver.\n\n## What you see\n\n- a message\n"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "src" / "gpuwhy" / "causes"
    folder.mkdir(parents=True)
    (folder / "driver.missing.md").write_text(PAGE)
    (folder / "driver.stub.md").write_text(PAGE.replace("missing", "stub"))
    return tmp_path


def test_the_repository_is_up_to_date():
    assert docs.differences(ROOT) == [], "run: python tools/docs.py"


def test_every_cause_is_in_the_index():
    text = (ROOT / "docs" / "causes" / "README.md").read_text(encoding="utf-8")
    assert [one for one in catalogue().causes if f"- [{one}]({one}.md): " not in text] == []


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


SECTIONS = ("You see", "Why", "What to do", "Something else")


@pytest.mark.parametrize("cause", sorted(docs.pages(ROOT)))
def test_a_page_is_short_and_has_every_section(cause):
    text = docs.pages(ROOT)[cause]
    first, *rest = text.split("\n## ")
    assert first.startswith(f"# {cause}\n\n")
    assert tuple(part.partition("\n")[0] for part in rest) == SECTIONS
    assert all(part.partition("\n")[2].strip() for part in rest)
    assert len(text.splitlines()) <= 40


def test_every_cause_that_a_page_names_exists():
    known = docs.pages(ROOT)
    layers = {name.partition(".")[0] for name in known}
    named = {one for text in known.values() for one in re.findall(r"`([a-z]+\.[a-z_]+)`", text)}
    assert {one for one in named if one.partition(".")[0] in layers} <= set(known)
