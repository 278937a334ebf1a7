"""The table of breaks, run for real: `GPUWHY_BREAKS=/folder pytest -m real tests/repair/test_breaks.py -n0`.

The folder keeps the healthy environments (12 GB); what every row ended with is added to `score.jsonl` in it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from . import keep, lab, remedies, wheels
from .breaks import BASES, BREAKS, Break

real = [pytest.mark.real, pytest.mark.skipif(not wheels.UV, reason="no uv")]


def test_the_table_is_whole():
    """At least 40 breaks, each of a known base, with causes that exist and something that must hold."""
    from gpuwhy.rooms import CAUSES

    known = {cause.id for cause in CAUSES} | {"install.inconsistent"}
    assert len(BREAKS) >= 40
    assert len({one.id for one in BREAKS}) == len(BREAKS)
    for one in BREAKS:
        assert one.base in BASES
        assert one.steps
        assert set(one.causes) <= known, one.id
        assert one.told or one.works, one.id


def test_every_break_was_run():
    """A break that nobody ran is no evidence; `scored.jsonl` has the last run of each."""
    lines = Path(__file__).with_name("scored.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["id"], row["base"]) for row in rows] == [(one.id, one.base) for one in BREAKS]


def test_a_run_takes_the_place_of_an_older_one():
    """Only what was run moves, nothing that the lab failed at, and the order is that of the table."""
    first, second = BREAKS[:2]
    old = [{"id": one.id, "commit": "old"} for one in (second, first)]
    ran = {
        "id": second.id,
        "right": True,
        "ends": "verified",
        "seconds": 3.0,
        "done": [["a.b", "Do it in /here/lab/env-x/bin/y"]],
        "rc": 0,
    }
    rows = keep.merged(old, [{"id": first.id, "ends": "lab", "said": "disk"}, ran], "new", "2026-11-18")
    assert [(row["id"], row["commit"]) for row in rows] == [(first.id, "old"), (second.id, "new")]
    assert rows[1].keys() == keep.read(remedies.SCORED)[0].keys()
    assert rows[1]["works"] is True
    assert rows[1]["done"] == [["a.b", "Do it in ~/env-x/bin/y"]]
    told = next(one for one in BREAKS if one.told)
    assert keep.kept(told, {**ran, "id": told.id}, "new", "")["works"] is None


def test_every_remedy_was_carried_out_or_says_why_not():
    """What `--apply` can do for a cause was done once in a real environment; `remedies.NOT_YET` has the rest."""
    done = remedies.carried_out()
    bare = {one.where for one in remedies.remedies() if not remedies.breaks_of(one, done)}
    assert bare == set(remedies.NOT_YET)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    kept = os.environ.get("GPUWHY_BREAKS")
    return Path(kept) if kept else tmp_path_factory.mktemp("breaks")


@pytest.mark.parametrize("one", [pytest.param(row, id=row.id, marks=real) for row in BREAKS])
def test_a_break_is_named_and_mended(folder: Path, one: Break):
    if not lab.interpreter(BASES[one.base][0]):
        pytest.skip(f"no Python {BASES[one.base][0]}")
    told = lab.score(folder, one)
    with (folder / "score.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")
    assert told["right"], told
    assert told["ends"] == "verified", told
