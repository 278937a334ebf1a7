"""What does `gpuwhy run` cost, in time and memory, beside running the program bare?

    python bench/run.py [--seconds S] [--runs N]

Three programs: one that only computes (S seconds), one that prints a line every few microseconds (a chatty log of S
seconds), and one that writes 200 MB as fast as it can, each to a pipe that is read and thrown away. They run bare and
under `gpuwhy run` in turn, N times; medians are printed, the difference, and the ratio to bare. On a busy machine the
ratio says little; then the CPU time of our process and of the sampler does, in per cent of the program's time. Their
memory is the sum of both peaks, pages that processes share counted in parts (PSS). Both are asked from the kernel four
times a second.

What does not grow with the program's time is starting and ending: it is shown by `true`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from typing import NamedTuple

COMPUTES = "import sys, time\nn = int(sys.argv[1])\nx = 0\nfor i in range(n):\n    x = (x * 31 + i) & 0xffff"
CHATTY = (
    "import sys\nfor i in range(int(sys.argv[1])):\n"
    "    sys.stdout.write('step %d loss 0.123456\\n' % i)\n    x = sum(range(60))"
)
FLOOD = "import sys\nb = b'x' * 63 + b'\\n'\nb *= 16384\nfor _ in range(200):\n    sys.stdout.buffer.write(b)"


class Took(NamedTuple):
    """One run: seconds, and megabytes and CPU seconds of our processes."""

    seconds: float
    megabytes: float
    cpu: float


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Overhead of `gpuwhy run` in time and memory.")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the computing and the chatty program")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each (default 5)")
    options = parser.parse_args(argv)
    count = {name: calibrated(code, options.seconds) for name, code in (("computes", COMPUTES), ("chatty", CHATTY))}
    programs = {
        "true": ("true",),
        "computes": (sys.executable, "-c", COMPUTES, str(count["computes"])),
        "chatty": (sys.executable, "-c", CHATTY, str(count["chatty"])),
        "200 MB": (sys.executable, "-c", FLOOD),
    }
    print(f"{options.runs} runs each in turn, {os.cpu_count()} cores, Python {sys.version.split()[0]}; medians")
    print(f"{'program':<10}{'bare s':>9}{'run s':>9}{'more ms':>9}{'× bare':>9}{'our CPU %':>11}{'our MB':>9}")
    for name, program in programs.items():
        show(name, *measured(program, options.runs))
    return 0


def calibrated(code: str, seconds: float) -> int:
    """How many turns take so long."""
    count = 1 << 14
    while True:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, str(count)], stdout=subprocess.DEVNULL, check=True)
        took = time.perf_counter() - start
        if took > 0.5:
            return int(count * seconds / took)
        count *= 2


def measured(program: tuple[str, ...], runs: int) -> tuple[list[Took], list[Took]]:
    """Bare and under us, in turn, after one of each to warm up."""
    bare, ours = [], []
    for turn in range(runs + 1):
        one, other = run(program), run((sys.executable, "-m", "gpuwhy", "run", "--", *program))
        if turn:
            bare.append(one)
            ours.append(other)
    return bare, ours


def run(argv: tuple[str, ...]) -> Took:
    """Run once, reading what it prints; the memory of a `gpuwhy run` and of its sampler is watched."""
    start = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        peaks: dict[int, float] = {}
        spent: dict[int, float] = {}
        done = threading.Event()
        watching = threading.Thread(target=watch, args=(child.pid, peaks, spent, done))
        if "gpuwhy" in argv:
            watching.start()
        assert child.stdout is not None
        while os.read(child.stdout.fileno(), 1 << 20):
            pass
        child.wait()
        seconds = time.perf_counter() - start
        done.set()
    return Took(seconds, sum(peaks.values()), sum(spent.values()))


def watch(pid: int, peaks: dict[int, float], spent: dict[int, float], done: threading.Event) -> None:
    """The memory and CPU time of a process and of the sampler below it, four times a second."""
    while not done.wait(0.25):
        sampler = [p for p in children(pid) if b"sampler.py" in read(f"/proc/{p}/cmdline")]
        for one in (pid, *sampler):
            fields = read(f"/proc/{one}/stat").rpartition(b")")[2].split()
            if len(fields) > 12:
                spent[one] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            for line in read(f"/proc/{one}/smaps_rollup").splitlines():
                if line.startswith(b"Pss:"):
                    peaks[one] = max(peaks.get(one, 0.0), int(line.split()[1]) / 1024)


def children(pid: int) -> list[int]:
    """The direct children of a process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        tail = read(f"/proc/{name}/stat").rpartition(b")")[2].split()
        if len(tail) > 1 and int(tail[1]) == pid:
            found.append(int(name))
    return found


def read(path: str) -> bytes:
    """A file of /proc, or nothing where the process has gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def show(name: str, bare: list[Took], ours: list[Took]) -> None:
    """One row."""
    one, other = (statistics.median(t.seconds for t in each) for each in (bare, ours))
    peak, cpu = max(t.megabytes for t in ours), statistics.median(t.cpu / t.seconds for t in ours)
    costs = f"{cpu * 100:>11.2f}{peak:>9.1f}" if peak else f"{'-':>11}{'-':>9}"
    print(f"{name:<10}{one:>9.3f}{other:>9.3f}{(other - one) * 1000:>9.0f}{other / one:>9.3f}{costs}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
