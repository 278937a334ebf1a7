"""How long does the page take over the JSON form of the same report, and how large is it?

    python bench/html.py [RECORDING…] [--runs N]

Without recordings, those of the repository's tests are used (tests/hosts). For each the report is made once; then the
JSON form and the page are built in turn, N times, in processor time of this process. Printed are the medians, their
difference and the sizes; the last line is the largest difference.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.hosts import hosts

from gpuwhy import app, showing
from gpuwhy.render.json import render

NAMES = ("h200-bare", "h200-probe-cudnn-gone", "h200-conda", "h200-memory-held", "h200-wsl", "laptop-cpu-only")


def took(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="*")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    reports = {name: app.Run(*app.recorded_host(Path(name).read_bytes(), name)).report() for name in options.recordings}
    reports = reports or {name: hosts.run(name).report() for name in NAMES}
    worst = 0.0
    for name, report in reports.items():
        showing.html(report)
        rows = [(took(lambda r=report: render(r)), took(lambda r=report: showing.html(r))) for _ in range(options.runs)]
        as_json, page = (statistics.median(column) for column in zip(*rows, strict=True))
        worst = max(worst, page - as_json)
        size = len(showing.html(report).encode()) / 1024
        print(f"{name:<28} JSON {as_json:6.1f} ms  page {page:6.1f} ms  over {page - as_json:6.1f} ms  {size:6.1f} kB")
    print(f"at most {worst:.1f} ms over the JSON form")


if __name__ == "__main__":
    main()
