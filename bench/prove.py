"""`gpuwhy prove` beside a naive search that leaves out one variable at a time: reruns and seconds, in the same run.

    python bench/prove.py [--variables 120] [--seeds 3]

The program is a tiny real process that fails while guilty variables are set; the environment has 120 variables like a
login's. The naive search runs it twice as it is, then without each variable alone until it runs, then (where no
single one is enough) without more and more of them, and puts each back once; what it finds it runs twice.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from gpuwhy.prove.proof import Tweak
from gpuwhy.prove.variables import variables
from gpuwhy.proving.answer import proof_of
from gpuwhy.proving.bench import Bench
from gpuwhy.proving.plan import Plan
from gpuwhy.proving.session import Session

PROGRAM = """
import os, sys
bad = [name for name in sys.argv[1].split(",") if name in os.environ]
if bad:
    raise RuntimeError("the sky fell")
"""
NAMED = PROGRAM.replace('"the sky fell"', '"bad value in " + bad[0]')
STEERING = [
    "XLA_FLAGS",
    "JAX_PLATFORMS",
    "CUDA_VISIBLE_DEVICES",
    "NCCL_DEBUG",
    "TMPDIR",
    "OMP_NUM_THREADS",
    "TORCH_LOGS",
]


def login(count: int) -> dict[str, str]:
    """An environment of so many variables, a few of which steer something."""
    out = {"PATH": os.environ["PATH"], "HOME": "/tmp", **dict.fromkeys(STEERING, "1")}
    kinds = ("SSH", "XDG", "LC", "SLURM", "MODULE", "APP", "TEAM", "SITE")
    for n in range(count - len(STEERING)):
        out[f"{kinds[n % len(kinds)]}_{n}"] = str(n)
    return out


def naive(bench: Bench, environ: dict[str, str]) -> tuple[set[str], int]:
    """One variable at a time; what was found, and the runs."""
    tweaks, runs = list(variables(environ)), 2
    for _ in range(2):
        bench.run((), 30, 0, False)

    def passes(some: list[Tweak]) -> bool:
        nonlocal runs
        runs += 1
        return bench.run(some, 30, 0, False).code == 0

    for one in tweaks:
        if passes([one]):
            passes([one])
            return {one.name}, runs
    gone: list[Tweak] = []
    for one in tweaks:
        gone.append(one)
        if passes(gone):
            break
    for one in list(gone):
        less = [other for other in gone if other is not one]
        gone = less if passes(less) else gone
    passes(gone)
    return {one.name for one in gone}, runs


def ours(plan: Plan, bench: Bench) -> tuple[set[str], int, str]:
    """The proof."""
    session = Session(plan, bench)
    session.go()
    proof = proof_of(session)
    return set(proof.change.unset if proof.change else ()), proof.runs, proof.status


def main() -> int:
    """Print the table and the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--variables", type=int, default=120)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    environ, rows = login(options.variables), []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("steering", "steering, named", "any"):
            for count in (1, 2, 3):
                for seed in range(options.seeds):
                    choice = STEERING if kind != "any" else sorted(set(environ) - {"PATH", "HOME"})
                    guilty = random.Random(seed * 10 + count).sample(choice, count)
                    script = Path(folder) / "program.py"
                    script.write_text(NAMED if "named" in kind else PROGRAM)
                    argv = (sys.executable, "-I", "-S", str(script), ",".join(guilty))
                    rows.append((kind, count, guilty, *compared(argv, environ, set(guilty))))
    print(f"{'guilty':18}{'n':>2}{'naive runs':>12}{'prove runs':>12}{'naive s':>9}{'prove s':>9}  found")
    for kind, count, _, (slow, slow_s), (fast, fast_s), right in rows:
        print(f"{kind:18}{count:>2}{slow:>12}{fast:>12}{slow_s:>9.1f}{fast_s:>9.1f}  {'right' if right else 'WRONG'}")
    slow, fast = [row[3] for row in rows], [row[4] for row in rows]
    runs = sum(one[0] for one in slow) / sum(one[0] for one in fast)
    seconds = sum(one[1] for one in slow) / sum(one[1] for one in fast)
    right, most = sum(row[5] for row in rows), max(one[0] for one in fast)
    print(f"prove: {right} of {len(rows)} right, median {statistics.median(one[0] for one in fast)} runs, most {most}")
    print(f"naive: {runs:.1f} times the runs, {seconds:.1f} times the seconds")
    return 0


def compared(
    argv: tuple[str, ...], environ: dict[str, str], guilty: set[str]
) -> tuple[tuple[int, float], tuple[int, float], bool]:
    """Runs and seconds of both, and whether ours is right."""
    plan = Plan(argv, environ, "/tmp", budget=600.0)
    bench = Bench(plan)
    started = time.monotonic()
    _, slow = naive(bench, environ)
    middle = time.monotonic()
    found, fast, status = ours(plan, bench)
    return (slow, middle - started), (fast, time.monotonic() - middle), found == guilty and status == "proven"


if __name__ == "__main__":
    raise SystemExit(main())
