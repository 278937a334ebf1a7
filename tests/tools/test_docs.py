"""docs/causes is what tools/docs.py makes of the pages beside the causes."""

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


def test_check_names_what_differs(root, capsys):
    assert docs.main(["--root", str(root)]) == 0
    written = root / "docs" / "causes"
    assert (written / "driver.missing.md").read_text() == PAGE
    index = (written / "README.md").read_text()
    assert "## driver\n\n- [driver.missing](driver.missing.md): There is a GPU, and no driver.\n" in index
    assert docs.main(["--root", str(root), "--check"]) == 0
    capsys.readouterr()
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


SECTIONS = ("You see", "Why", "What to do", "Something else")


def test_every_cause_has_a_short_page_with_every_section():
    pages = docs.pages(ROOT)
    assert set(pages) == set(catalogue().causes)
    for cause, text in pages.items():
        first, *rest = text.split("\n## ")
        assert first.startswith(f"# {cause}\n\n")
        assert tuple(part.partition("\n")[0] for part in rest) == SECTIONS, cause
        assert all(part.partition("\n")[2].strip() for part in rest), cause
        assert len(text.splitlines()) <= 40, cause


def test_every_cause_that_a_page_names_exists():
    known = docs.pages(ROOT)
    layers = {name.partition(".")[0] for name in known}
    named = {one for text in known.values() for one in re.findall(r"`([a-z]+\.[a-z_]+)`", text)}
    assert {one for one in named if one.partition(".")[0] in layers} <= set(known)
