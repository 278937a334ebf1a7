"""Scores `gpuwhy explain --ranks` on what lab/rank_failures.py made: is the first rank the one that was broken?

python lab/rank_score.py OUT [GPUWHY]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any


def _number(rank: dict[str, Any]) -> int | None:
    """Its number; Ray's prefix tells none, but our stand-in for it has it in the process number."""
    found = re.search(r"pid=4(\d+)7", rank["name"])
    return int(found[1]) if found else rank["rank"]


def main(out: str, gpuwhy: str = "gpuwhy") -> None:
    """One line a case, and the sum."""
    right = causes = asked = total = 0
    for file in sorted(Path(out).glob("*/truth.json")):
        truth = json.loads(file.read_text())
        done = subprocess.run(
            [gpuwhy, "explain", "--ranks", str(file.parent / "logs"), "--json"], capture_output=True, text=True
        )
        job = json.loads(done.stdout) if done.returncode in (0, 1) else {"first": [done.stderr[-200:]], "ranks": []}
        ranks = {rank["name"]: rank for rank in job["ranks"]}
        first = [_number(ranks[name]) if name in ranks else name for name in job["first"]]
        wanted = {truth["first"], *truth["also"]}
        good = not first if truth["kind"] == "none" else bool(first) and set(first) <= wanted
        cause = (job.get("report") or {}).get("causes") or [{}]
        total, right = total + 1, right + good
        if truth["cause"] and truth["kind"] == "own":
            asked += 1
            causes += cause[0].get("id") == truth["cause"]
        mark = "right" if good else "WRONG"
        print(
            f"{mark} {truth['name']:20} {truth['layout']:10} {truth['kind']:9} wanted {truth['first']} got {first}",
            end="  ",
        )
        print(cause[0].get("id", "-"), "·", job.get("why", ""))
    print(f"{right} of {total} first ranks right; {causes} of {asked} causes")


if __name__ == "__main__":
    main(*sys.argv[1:3])
