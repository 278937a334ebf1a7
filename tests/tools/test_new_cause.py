"""tools/new_cause.py makes every file of a cause, and they are almost right: only the words are missing."""

from __future__ import annotations

import pytest

from gpuwhy.reason.judge import judge
from gpuwhy.rooms.pages import SECTIONS

from ..rooms import facts
from . import tool

new_cause = tool("new_cause")


def test_scaffold(tmp_path):
    assert new_cause.main(["driver.brand_new", "the driver is brand new", "--root", str(tmp_path)]) == 0
    wrote = sorted(str(f.relative_to(tmp_path)) for f in tmp_path.rglob("*") if f.is_file())
    assert wrote == [
        "src/gpuwhy/rooms/driver/__init__.py",
        "src/gpuwhy/rooms/driver/brand_new.md",
        "src/gpuwhy/rooms/driver/brand_new.py",
        "src/gpuwhy/rooms/driver/brand_new_text.py",
        "tests/rooms/driver/brand_new/ruled-out.json",
        "tests/rooms/driver/brand_new/shown-log.json",
        "tests/rooms/driver/brand_new/shown.json",
        "tests/rooms/driver/brand_new/undetermined.json",
    ]


def test_its_line_goes_to_its_sorted_place():
    text = 'before\nIDS = (\n    "cuda.missing",\n    "driver.stub",\n)\nafter\n'
    new = new_cause.registered(text, "driver.brand_new")
    assert new == text.replace('    "driver.stub"', '    "driver.brand_new",\n    "driver.stub"')
    assert new_cause.registered(new, "driver.brand_new") == new


def test_a_told_cause_has_no_sign_and_its_fixtures_are_logs(tmp_path):
    new_cause.main(["program.brand_new", "the program is brand new", "--told", "--root", str(tmp_path)])
    scope: dict = {}
    exec((tmp_path / "src/gpuwhy/rooms/program/brand_new.py").read_text(), scope)
    assert scope["CAUSE"].needs_log
    assert scope["CAUSE"].signs == ()
    fixtures = sorted((tmp_path / "tests/rooms/program/brand_new").glob("*.json"))
    assert [(file.stem, bool(facts.log_of(file))) for file in fixtures] == [
        ("ruled-out", True), ("shown", True), ("undetermined", False)
    ]  # fmt: skip


def test_the_text_half_is_a_room_that_says_so_where_it_is_not_filled(tmp_path):
    new_cause.main(["driver.brand_new", "the driver is brand new", "--root", str(tmp_path)])
    written = (tmp_path / "src/gpuwhy/rooms/driver/brand_new_text.py").read_text()
    scope: dict = {}
    exec(written, scope)
    room = scope["TEXT"]
    assert [clue.signature for clue in room.weighed()] == [one.id for one in room.signatures]
    assert any(words in written for words in new_cause.UNFILLED)


def test_scaffolded_cause_works(tmp_path):
    """The skeleton judges its own skeleton fixtures as their names say."""
    new_cause.main(["driver.brand_new", "the driver is brand new", "--root", str(tmp_path)])
    scope: dict = {}
    exec((tmp_path / "src/gpuwhy/rooms/driver/brand_new.py").read_text(), scope)
    cause = scope["CAUSE"]
    assert (cause.id, cause.title) == ("driver.brand_new", "the driver is brand new")
    for kind, state in (("shown", "shown"), ("ruled-out", "ruled_out"), ("undetermined", "undetermined")):
        why, seen = facts.load(tmp_path / "tests/rooms/driver/brand_new" / f"{kind}.json")
        assert why
        assert [v.state for v in judge((cause,), seen)] == [state]


def test_the_page_has_every_section_and_none_filled(tmp_path):
    new_cause.main(["driver.brand_new", "the driver is brand new", "--root", str(tmp_path)])
    page = (tmp_path / "src/gpuwhy/rooms/driver/brand_new.md").read_text()
    assert page.startswith("# driver.brand_new\n\nThe driver is brand new.\n\n## What you see\n")
    assert tuple(part.split("\n")[0] for part in page.split("\n## ")[1:]) == SECTIONS


@pytest.mark.parametrize(
    "cause_id, title, why",
    [
        ("driver", "x", "not layer.name"),
        ("Driver.Old", "x", "not layer.name"),
        ("../x.y", "x", "not layer.name"),
        ("colour.red", "x", "there is no layer 'colour'"),
        ("driver.x", "ends in a stop.", "a title is"),
        ("driver.x", 'has "quotes"', "a title is"),
    ],
)
def test_bad_arguments_are_refused(tmp_path, capsys, cause_id, title, why):
    assert new_cause.main([cause_id, title, "--root", str(tmp_path)]) == 2
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path, capsys):
    page = tmp_path / "src/gpuwhy/rooms/driver/brand_new.md"
    page.parent.mkdir(parents=True)
    page.write_text("mine")
    assert new_cause.main(["driver.brand_new", "x", "--root", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert not (tmp_path / "tests").exists()
