"""Keeps the last run of each break: `python -m tests.repair.keep OUT.jsonl COMMIT` after `lab` scored with that state.

What the lab itself failed at (no disk, no network) is left out; then `python tools/evidence_docs.py`.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from .breaks import BREAKS, Break
from .remedies import SCORED

FOLDER = re.compile(r"[~/][^\s:]*/env-")
"""Where the lab's environments lay: nobody else has that folder."""


def kept(one: Break, told: dict[str, Any], commit: str, date: str) -> dict[str, Any]:
    """A row of the table: `works` is what the judge saw of the environment that was made, None where none had to be."""
    works = None if one.told else told["ends"] == "verified"
    row = {"id": one.id, "base": one.base, "right": told["right"], "ends": told["ends"], "works": works}
    done = [[causes, FOLDER.sub("~/env-", text)] for causes, text in told["done"]]
    return {**row, "seconds": told["seconds"], "commit": commit, "date": date, "done": done}


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]], commit: str, date: str) -> list[dict[str, Any]]:
    """The table with the runs of today in the place of older ones, in the order of the breaks."""
    rows = {row["id"]: row for row in old}
    ran = {told["id"]: told for told in new if told["ends"] != "lab"}
    rows |= {one.id: kept(one, ran[one.id], commit, date) for one in BREAKS if one.id in ran}
    return [rows[one.id] for one in BREAKS if one.id in rows]


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(argv: list[str]) -> None:
    """Merge a file of the lab's into the table."""
    file, commit = argv
    rows = merged(read(SCORED), read(Path(file)), commit, time.strftime("%Y-%m-%d"))
    SCORED.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
