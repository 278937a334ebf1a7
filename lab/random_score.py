"""Score what lab.random_faults kept: the log alone, the run, and the recordings judged again with today's gpuwhy.

    python -m lab.random_score OUT/faults.jsonl [--part judge] [--again] [-v]

`--again` takes the verdict of a run from its recording (OUT/records.tar, `gpuwhy explain --from`) instead of from the
report made on the machine. A wrong answer with confidence 0.9 or more is printed always.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lab.random.loads import narrowed

GPUWHY = [sys.executable, "-m", "gpuwhy"]
Said = dict[str, list[dict[str, Any]]]


def logs(rows: list[dict[str, Any]]) -> Said:
    """The causes that the log alone gives."""
    fed = "".join(json.dumps({"id": r["id"], "log": r["log"]}) + "\n" for r in rows)
    done = subprocess.run([*GPUWHY, "explain", "--log-only", "--batch", "-"], input=fed, capture_output=True, text=True)
    return {told["id"]: told["causes"] for told in map(json.loads, done.stdout.splitlines())}


def again(rows: list[dict[str, Any]], archive: Path) -> Said:
    """The causes that the recordings give to the gpuwhy of today."""
    wanted = {f"{r['id']}.json.gz": r["id"] for r in rows}
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as tar, ThreadPoolExecutor(2) as pool:
        kept = {}
        for member in tar.getmembers():
            data = tar.extractfile(member)
            if member.name in wanted and data:
                kept[wanted[member.name]] = Path(folder) / member.name[:-3]
                kept[wanted[member.name]].write_bytes(gzip.decompress(data.read()))
        return dict(pool.map(lambda pair: (pair[0], judged(pair[1])), kept.items()))


def judged(path: Path) -> list[dict[str, Any]]:
    """The causes of one recording."""
    told = subprocess.run([*GPUWHY, "explain", "--from", str(path), "--json"], capture_output=True, text=True).stdout
    try:
        causes: list[dict[str, Any]] = json.loads(told).get("causes", [])
    except ValueError:
        return []
    return causes


def score(title: str, rows: list[dict[str, Any]], said: Said, *, verbose: bool) -> None:
    """Print accuracy, and how often a sure answer is right."""
    count: collections.Counter[str] = collections.Counter()
    by: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for row in (r for r in rows if r["id"] in said):
        named = [c["id"] for c in said[row["id"]]]
        fair = {row["cause"], *row["also_acceptable"]}
        right = bool(named) and named[0] in fair
        right = right or ("healthy" in fair and not named)
        sure = bool(named) and said[row["id"]][0]["confidence"] >= 0.9
        count.update(
            n=1, strict=named[:1] == [row["cause"]], top1=right, top3=bool(fair & {*named[:3]}), empty=not named
        )
        count.update(sure=sure, sure_right=sure and right)
        for key in (row["operator"], f"program {row['program']}"):
            by[key][0] += right
            by[key][1] += 1
        if not right and (verbose or sure):
            where = f"{row['id']} {row['operator']} {row['target'][-60:]!r} {row['program']}"
            print(f"  {'SURE ' if sure else ''}wrong {where}: {row['cause']}, named {named[:2]}")
    n = max(1, count["n"])
    shares = "  ".join(f"{k} {count[k] / n:.3f}" for k in ("strict", "top1", "top3", "empty"))
    print(f"{title}: n {count['n']}  {shares}  sure {count['sure_right']}/{count['sure']}")
    for programs in (False, True):
        here = {key: pair for key, pair in sorted(by.items()) if key.startswith("program ") is programs}
        print("  " + "  ".join(f"{key.removeprefix('program ')} {a}/{b}" for key, (a, b) in here.items()))


def controls(rows: list[dict[str, Any]]) -> None:
    """Print what was named although the program ended as on the healthy machine."""
    told = [r for r in rows if r["kind"] == "control" and r.get("judged")]  # a success without a word has no report
    alarms = [r for r in told if any(c["confidence"] >= 0.5 for c in r["run_report"].get("causes", []))]
    print(f"controls: {len(told)}, named all the same {len(alarms)}")
    for row in alarms:
        print(f"  {row['id']} {row['operator']} {row['target'][-60:]!r}: {row['run_report']['causes'][0]['id']}")


def main() -> int:
    """Read the options and print the scores."""
    parser = argparse.ArgumentParser(prog="python -m lab.random_score", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--part",
        choices=(
            "all",
            "tune",
            "judge",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
        ),
        default="all",
    )
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--narrow", action="store_true", help="load draws: accept only what facts leave open")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.file.read_text().splitlines()]
    rows = [r for r in rows if options.part in ("all", r["part"])]
    print(dict(collections.Counter(r["kind"] for r in rows)))
    faults = [r for r in rows if r["kind"] == "fault"]
    if options.narrow:
        faults = [{**r, "also_acceptable": sorted(narrowed(r))} for r in faults]
    score("log alone", faults, logs(faults), verbose=options.verbose)
    reports = {r["id"]: r["run_report"].get("causes", []) for r in faults if r["run_report"]}
    lost = len(faults) - len(reports)
    print(f"{lost} runs gave no report")
    run = again(faults, options.file.parent / "records.tar") if options.again else reports
    score("run", faults, run, verbose=options.verbose)
    controls(rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
