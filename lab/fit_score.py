"""Scores predictions of lab/fit_models.py against what was measured.

    python -m lab.fit_score PREDICTED.jsonl MEASURED.jsonl [--part tune|judge] [-v]

Half of the models, by a checksum of their names, may be looked at (`tune`); the other half judges. The truth is what
NVML saw of the process; for JAX, whose pool grows by doubling, what its arrays took at most and what lies outside the
pool.
"""

from __future__ import annotations

import argparse
import json
import statistics
import zlib
from typing import Any


def part_of(model: str) -> str:
    """Which half a model belongs to."""
    return "tune" if zlib.crc32(model.encode()) % 2 else "judge"


def truth(row: dict[str, Any]) -> int | None:
    """Bytes that the process needed."""
    if row.get("error") or not row.get("process"):
        return None
    if row.get("by") == "jax":
        return int(row["allocated"] + row["process"] - row["reserved"])
    return int(row["process"])


def joined(predicted: str, measured: str) -> list[dict[str, Any]]:
    """A row for each case that was measured: predicted, real, verdicts."""
    with open(predicted) as file:
        told = {row["id"]: row for row in map(json.loads, file)}
    out: dict[str, dict[str, Any]] = {}
    with open(measured) as file:
        lines = [json.loads(line) for line in file]
    for row in lines:
        real = truth(row) if "id" in row else None
        if real and row["id"] in told:
            kept = {"real": real, "allocated": row["allocated"], "verdicts": row.get("verdicts", [])}
            out[row["id"]] = {**told[row["id"]], **kept, "by": row["by"], "part": part_of(row["model"])}
    for row in lines:
        if row.get("verdict") in out and "no " not in row["told"][:3]:
            out[row["verdict"]]["verdicts"].append({"limit": row["limit"], "fits": row["fits"]})
    return list(out.values())


def told(rows: list[dict[str, Any]], name: str) -> None:
    """Errors and verdicts of some cases."""
    if not rows:
        return
    errors = [row.get("bytes", 0) / row["real"] - 1 for row in rows]
    within = {limit: sum(abs(e) <= limit for e in errors) / len(errors) for limit in (0.05, 0.1, 0.2)}
    shown = ", ".join(f"{share:.0%} within {limit:.0%}" for limit, share in within.items())
    inside = sum(row["least"] <= row["real"] <= row["most"] for row in rows if "least" in row) / len(rows)
    print(f"{name:<22} {len(rows):>4} cases  median |e| {statistics.median(map(abs, errors)):.1%}, {shown}, "
          f"in bounds {inside:.0%}, mean {statistics.mean(errors):+.1%}")  # fmt: skip


def verdicts(rows: list[dict[str, Any]]) -> tuple[int, int, list[str]]:
    """Right and all verdicts outside a margin of 5 % around what was really needed, and the wrong ones."""
    right, wrong = 0, []
    for row in rows:
        for one in row["verdicts"]:
            if abs(one["limit"] / row["real"] - 1) <= 0.05:
                continue
            if (row.get("needs", row["bytes"]) <= one["limit"]) == one["fits"]:
                right += 1
            else:
                wrong.append(f"{row['id']} {one['limit'] >> 30} GiB: {'fits' if one['fits'] else 'does not'}")
    return right, right + len(wrong), wrong


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predicted")
    parser.add_argument("measured")
    parser.add_argument("--part", choices=("tune", "judge"))
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    rows = [row for row in joined(options.predicted, options.measured) if options.part in (None, row["part"])]
    for name, of in (("inference", "run"), ("training", "")):
        some = [row for row in rows if row["mode"].startswith("run") is (of == "run")]
        told(some, name)
        for by in ("plain", "transformers", "jax"):
            told([row for row in some if row["by"] == by], f"  {by}")
    right, count, wrong = verdicts(rows)
    print(f"verdicts outside 5 %: {right} of {count} right")
    if options.verbose:
        print(*wrong, sep="\n")
        for row in sorted(rows, key=lambda row: -abs(row.get("bytes", 0) / row["real"] - 1)):
            sizes = {k.split(":")[1] + k.split(":")[0]: round(v / 2**20) for k, v in row.get("parts", {}).items()}
            print(f"{row.get('bytes', 0) / row['real'] - 1:+.0%} {row['part']} {row['id']} predicted "
                  f"{row.get('bytes', 0) / 2**30:.2f} real {row['real'] / 2**30:.2f} "
                  f"allocated {row['allocated'] / 2**30:.2f} {sizes}")  # fmt: skip


if __name__ == "__main__":
    main()
