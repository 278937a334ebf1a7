"""How fast is `gpuwhy check`, and how much memory does it take, beside what people run instead?

    python bench/check.py ENV [--peers FOLDER] [--runs N]

ENV is a Python environment with frameworks installed (TensorFlow, PyTorch and JAX for the full picture). FOLDER is an
environment with the peers: `python3 -m venv FOLDER && FOLDER/bin/pip install cuda-doctor env-doctor rapids-cli`.
Every command runs once to warm the disk cache, then N times in turn; the median wall time and the largest peak of
resident memory are printed, and the ratio of each time to that of `gpuwhy check`.

The peers look at the environment they are installed in, not at ENV: install them into ENV and pass it as FOLDER to
give them the same work. All run in an empty folder, because `env-doctor check` also reads the Python files of the one
it is started in; it asks the network for newer data first and goes on without it. A peak below this script's own (some
14 MB) cannot be seen.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

REFERENCE = "gpuwhy check"
PEERS = {
    "cuda-doctor diagnose": ("cuda-doctor", "diagnose"),
    "env-doctor check": ("env-doctor", "check"),
    "rapids doctor": ("rapids", "doctor"),
}


class Command(NamedTuple):
    """One row: what is run; nothing to run when it is not installed."""

    name: str
    argv: tuple[str, ...]


class Took(NamedTuple):
    """One run: seconds, peak resident memory in MB, exit code."""

    seconds: float
    megabytes: float
    code: int


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time and memory of `gpuwhy check` beside its neighbours.")
    parser.add_argument("env", type=Path, help="an environment's folder, with frameworks installed")
    parser.add_argument("--peers", type=Path, help="an environment's folder, with the peers installed")
    parser.add_argument("--runs", type=int, default=7, help="timed runs of each command (default 7)")
    options = parser.parse_args(argv)
    rows = commands(options.env.absolute(), options.peers and options.peers.absolute())
    taken: dict[str, list[Took]] = {row.name: [] for row in rows if row.argv}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.runs + 1):
            for row in (row for row in rows if row.argv):
                took = run(row.argv, folder)
                if turn:
                    taken[row.name].append(took)
    show(rows, taken, options.runs)
    return 0


def commands(env: Path, peers: Path | None) -> list[Command]:
    """Every row, in the order in which it is printed."""
    ours = Path(sys.executable).with_name("gpuwhy")
    gpuwhy = (str(ours),) if ours.exists() else (sys.executable, "-m", "gpuwhy")
    target = str(env / "bin" / "python")
    torch = has(target, "torch")
    return [
        Command("python -c pass", (sys.executable, "-c", "pass")),
        Command("gpuwhy --version", (*gpuwhy, "--version")),
        Command(REFERENCE, (*gpuwhy, "check", "--python", str(env))),
        Command("import torch", (target, "-c", "import torch") if torch else ()),
        Command("torch.utils.collect_env", (target, "-m", "torch.utils.collect_env") if torch else ()),
        *(Command(name, installed(peers, *argv)) for name, argv in PEERS.items()),
    ]


def has(python: str, module: str) -> bool:
    """Whether an environment has a module, without importing it."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return os.path.exists(python) and subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def installed(folder: Path | None, program: str, *arguments: str) -> tuple[str, ...]:
    """A peer's command line, or nothing when it is not there."""
    path = folder / "bin" / program if folder else None
    return (str(path), *arguments) if path and path.exists() else ()


def run(argv: tuple[str, ...], folder: str) -> Took:
    """Run once. The peak is that of the process or of the largest child it waited for."""
    start = time.perf_counter()
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(argv, cwd=folder, stdin=nothing, stdout=nothing, stderr=nothing)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    return Took(seconds, usage.ru_maxrss / 1024, child.returncode)


def show(rows: list[Command], taken: dict[str, list[Took]], runs: int) -> None:
    """The table, with the ratio of every time to the reference."""
    reference = statistics.median(t.seconds for t in taken[REFERENCE])
    print(f"{runs} runs each, warm, {os.cpu_count()} cores, Python {sys.version.split()[0]}; medians")
    print(f"{'command':<26}{'seconds':>9}{'× check':>9}{'peak MB':>9}  exit")
    for row in rows:
        if not row.argv:
            print(f"{row.name:<26}{'not installed':>18}")
            continue
        each = taken[row.name]
        seconds = statistics.median(t.seconds for t in each)
        peak = max(t.megabytes for t in each)
        print(f"{row.name:<26}{seconds:>9.3f}{seconds / reference:>9.2f}{peak:>9.1f}  {each[-1].code}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
