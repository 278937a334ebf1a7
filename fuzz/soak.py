"""Soak: long, large and many, each with its peak of memory and what it left behind.

    python -m fuzz.soak [run] [short] [explain] [lint] [--scale N] [--minutes M]

`run` watches a program that prints 1 GB, spread over M minutes; `short` runs 200 short programs; `explain` reads a log
of 2 GB through a pipe; `lint` checks 25,000 files in one folder on a terminal, and tells how the rate of its progress held.
`--scale 5` makes each five times as large. Memory is that of gpuwhy and of every process it started but the program
itself. Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

GPUWHY = [sys.executable, "-I", "-m", "gpuwhy"]
PRINTS = """
import sys
line = b"[2026-01-01 00:00:00,000] epoch 3 step 12345 loss 0.1234 lr 1.00e-04 grad_norm 0.321 tokens/s 1234\\n"
import time
piece, count, start = line * (1000000 // len(line)), int(sys.argv[1]), time.monotonic()
for number in range(count):
    sys.stdout.buffer.write(piece)
    time.sleep(max(0.0, start + (number + 1) * float(sys.argv[2]) / count - time.monotonic()))
print("RuntimeError: CUDA error: no kernel image is available for execution on the device", flush=True)
sys.exit(1)
"""


class Size(NamedTuple):
    """What a process and its helpers hold at one moment."""

    resident: float
    descriptors: int


def measured(argv: list[str], stdin: int | None = None, program: str = "") -> tuple[int, float, list[Size]]:
    """Exit code, seconds, and the sizes by the tenth of a second; `program` marks the processes that are not ours."""
    start, sizes = time.monotonic(), list[Size]()
    with subprocess.Popen(argv, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            sizes.append(_size(child.pid, program))
            time.sleep(0.1)
    return child.returncode, time.monotonic() - start, sizes


def _size(pid: int, program: str) -> Size:
    """Of a process and of what it started, but for the program."""
    sizes = [_own(pid)]
    for number in _children(pid):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{number}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if not program or program not in words[:4]:
                sizes.append(_size(number, program))
    return Size(sum(one.resident for one in sizes), sum(one.descriptors for one in sizes))


def _own(pid: int) -> Size:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return Size(pages * resource.getpagesize() / (1 << 20), len(os.listdir(f"/proc/{pid}/fd")))
    except (OSError, IndexError):
        return Size(0.0, 0)


def _children(pid: int) -> list[int]:
    found = list[int]()
    for place in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, place.read_text().split())
    return found


def _growth(sizes: list[Size]) -> str:
    """The most that was held in each tenth of the time."""
    if len(sizes) < 20:
        return "too short to tell growth"
    step = len(sizes) / 10
    parts = [sizes[int(at * step) : int((at + 1) * step)] for at in range(10)]
    memory = " ".join(f"{max(one.resident for one in part):.0f}" for part in parts)
    return f"MiB by tenths of the time {memory}; descriptors {' '.join(str(part[-1].descriptors) for part in parts)}"


def run(scale: int, minutes: float) -> str:
    """A watched program with a lot of output."""
    megabytes = 1000 * scale
    argv = [*GPUWHY, "run", "--", sys.executable, "-c", PRINTS, str(megabytes), str(minutes * 60)]
    code, took, sizes = measured(argv, program=PRINTS)
    return f"{megabytes} MB of output: exit code {code}, {took:.1f} s, {_growth(sizes)}"


def short(scale: int, _: float) -> str:
    """Short programs, one after another; what is left of them."""
    count, failed, start = 200 * scale, 0, time.monotonic()
    memory, mine = set(os.listdir("/dev/shm")), _own(os.getpid()).descriptors
    with tempfile.TemporaryDirectory() as place:
        environ = {**os.environ, "TMPDIR": place, "SOAK": place}
        for number in range(count):
            argv = [*GPUWHY, "run", "--", sys.executable, "-S", "-c", f"raise SystemExit({number % 7})"]
            done = subprocess.run(argv, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            failed += done.returncode != number % 7
        took = (time.monotonic() - start) / count
        time.sleep(1)
        left, files = _marked(f"SOAK={place}"), len(list(Path(place).rglob("*")))
    shared, held = len(set(os.listdir("/dev/shm")) - memory), _own(os.getpid()).descriptors - mine
    return (
        f"{count} runs: {failed} wrong exit codes; {left} processes, {files} files, {shared} pieces of shared memory and "
        f"{held} descriptors left; {took * 1000:.0f} ms each"
    )


def _marked(mark: str) -> int:
    """How many processes hold a variable."""
    found = 0
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += mark.encode() in place.read_bytes().split(b"\0")
        except OSError:
            continue
    return found


def explain(scale: int, _: float) -> str:
    """A log through a pipe."""
    megabytes = 2000 * scale
    with subprocess.Popen(
        [sys.executable, "-c", PRINTS, str(megabytes), "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as source:
        assert source.stdout is not None
        argv = [*GPUWHY, "explain", "--log-only", "-"]
        code, took, sizes = measured(argv, source.stdout.fileno())
    return f"{megabytes} MB: exit code {code}, {took:.1f} s, {_growth(sizes)}"


def lint(scale: int, _: float) -> str:
    """Generated files of five kinds in one folder, on a terminal: the rate that its progress tells must not fall."""
    count = 25000 * scale
    with tempfile.TemporaryDirectory() as place:
        for number in range(count):
            name, text = KINDS[number % len(KINDS)]
            file = Path(place, f"d{number // 100}", f"{number}", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.format(n=number % 6))
        code, took, told, sizes = _on_terminal([*GPUWHY, "lint", "--json", place])
    return f"{count} files: exit code {code}, {took:.1f} s, {count / took:.0f} files a second; {_rates(told)}; {_growth(sizes)}"


KINDS = (
    ("requirements.txt", "torch==2.{n}.0\nnumpy<2\ntensorflow==2.{n}.0\n"),
    ("environment.yml", "dependencies:\n- python=3.1{n}\n- pytorch=2.{n}\n- pytorch-cuda=12.1\n"),
    ("pyproject.toml", '[project]\nname = "x"\nversion = "1"\ndependencies = ["torch==2.{n}.0", "numpy<2"]\n'),
    ("Dockerfile", "FROM nvidia/cuda:12.{n}.0-base-ubuntu22.04\nRUN pip install torch==2.{n}.0\n"),
    ("compose.yaml", "services:\n  t:\n    image: nvidia/cuda:12.{n}.0-base-ubuntu22.04\n    runtime: nvidia\n"),
)


def _on_terminal(argv: list[str]) -> tuple[int, float, list[tuple[float, str]], list[Size]]:
    """Run with standard error on a terminal of its own; what it told there, and when."""
    ours, theirs = os.openpty()
    start, told, sizes = time.monotonic(), list[tuple[float, str]](), list[Size]()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs) as child:
        os.close(theirs)
        os.set_blocking(ours, False)
        while child.poll() is None:
            with contextlib.suppress(OSError):
                told.append((_cpu(child.pid), os.read(ours, 1 << 16).decode("utf-8", "replace")))
            sizes.append(_size(child.pid, ""))
            time.sleep(0.1)
    os.close(ours)
    return child.returncode, time.monotonic() - start, told, sizes


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rates(told: list[tuple[float, str]]) -> str:
    """How often progress was told, and for each of its steps the files by a second of CPU in each quarter."""
    parts = list[str]()
    for step in ("understanding", "judging"):
        marks = [(cpu, int(found[-1])) for cpu, text in told if (found := re.findall(rf"{step} (\d+) of", text))]
        marks = [marks[at * (len(marks) - 1) // 4] for at in range(5)] if marks else []
        rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(marks) if b[0] > a[0]]
        parts.append(f"{step} {' '.join(f'{one:.0f}' for one in rates)} files by a second of CPU")
    return f"progress told {len(told)} times: {', '.join(parts)}"


PARTS: dict[str, Callable[[int, float], str]] = {"run": run, "short": short, "explain": explain, "lint": lint}


def main() -> None:
    """Print a row for each part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(PARTS)}; all")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="over how long the watched program prints")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        row = PARTS[name](options.scale, options.minutes)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{name:<8} {row}; {cpu:.1f} s of CPU with children", flush=True)


if __name__ == "__main__":
    main()
