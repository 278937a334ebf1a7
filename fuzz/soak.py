"""Soak: long, large and many, each with its peak of memory and what it left behind.

    python -m fuzz.soak [run] [short] [explain] [lint] [--scale N]

`run` watches a program that prints 1 GB; `short` runs 200 short programs; `explain` reads a log of 2 GB through a pipe;
`lint` checks 25,000 files in folders of 5,000. `--scale 5` makes each five times as large. Linux.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

GPUWHY = [sys.executable, "-I", "-m", "gpuwhy"]
PRINTS = """
import sys
line = b"[2026-01-01 00:00:00,000] epoch 3 step 12345 loss 0.1234 lr 1.00e-04 grad_norm 0.321 tokens/s 1234\\n"
piece = line * (1048576 // len(line))
for _ in range(int(sys.argv[1])):
    sys.stdout.buffer.write(piece)
print("RuntimeError: CUDA error: no kernel image is available for execution on the device", flush=True)
sys.exit(1)
"""


def measured(argv: list[str], stdin: int | None = None) -> tuple[int, float, float, list[float]]:
    """Exit code, seconds, peak MiB of the process itself, and its resident MiB by the tenth of a second."""
    start, sizes = time.monotonic(), list[float]()
    with subprocess.Popen(argv, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        peak = 0.0
        while child.poll() is None:
            size, most = _resident(child.pid)
            sizes.append(size)
            peak = max(peak, most)
            time.sleep(0.1)
    return child.returncode, time.monotonic() - start, peak, sizes


def _resident(pid: int) -> tuple[float, float]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0, 0.0
    fields = {key: value for key, _, value in (line.partition(":") for line in lines)}
    return tuple(int(fields.get(name, "0 kB").split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def _growth(sizes: list[float]) -> str:
    """The resident memory a quarter of the way through, and in the last quarter."""
    if len(sizes) < 8:
        return "too short to tell growth"
    early, late = sizes[len(sizes) // 4], max(sizes[-len(sizes) // 4 : -1])
    return f"{early:.0f} MiB after a quarter, {late:.0f} MiB at most in the last"


def run(scale: int) -> str:
    """A watched program with a lot of output."""
    megabytes = 1000 * scale
    code, took, peak, sizes = measured([*GPUWHY, "run", "--", sys.executable, "-c", PRINTS, str(megabytes)])
    return f"{megabytes} MB of output: exit code {code}, {took:.1f} s, peak {peak:.0f} MiB, {_growth(sizes)}"


def short(scale: int) -> str:
    """Short programs, one after another; what is left of them."""
    count, failed, start = 200 * scale, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        environ = {**os.environ, "TMPDIR": place, "SOAK": place}
        for number in range(count):
            argv = [*GPUWHY, "run", "--", sys.executable, "-S", "-c", f"raise SystemExit({number % 7})"]
            done = subprocess.run(argv, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            failed += done.returncode != number % 7
        took = (time.monotonic() - start) / count
        time.sleep(1)
        left, files = _marked(f"SOAK={place}"), len(list(Path(place).rglob("*")))
    return (
        f"{count} runs: {failed} wrong exit codes, {left} processes and {files} files left, {took * 1000:.0f} ms each"
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


def explain(scale: int) -> str:
    """A log through a pipe."""
    megabytes = 2000 * scale
    with subprocess.Popen(
        [sys.executable, "-c", PRINTS, str(megabytes)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as source:
        assert source.stdout is not None
        argv = [*GPUWHY, "explain", "--log-only", "-"]
        code, took, peak, sizes = measured(argv, source.stdout.fileno())
    return f"{megabytes} MB: exit code {code}, {took:.1f} s, peak {peak:.0f} MiB, {_growth(sizes)}"


def lint(scale: int) -> str:
    """Generated requirements in folders of 5,000, one call for each: the rate must not fall."""
    rates = list[str]()
    peak = 0.0
    with tempfile.TemporaryDirectory() as place:
        for part in range(5 * scale):
            folder = Path(place, f"part{part}")
            for number in range(5000):
                file = folder / f"d{number // 100}" / f"requirements-{number}.txt"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"torch==2.{number % 6}.0\nnumpy<2\ntensorflow==2.{number % 15}.0\n")
            _, took, most, _ = measured([*GPUWHY, "lint", "--json", str(folder)])
            rates.append(f"{5000 / took:.0f}")
            peak = max(peak, most)
    return f"{25000 * scale} files: {', '.join(rates)} files a second, peak {peak:.0f} MiB"


PARTS: dict[str, Callable[[int], str]] = {"run": run, "short": short, "explain": explain, "lint": lint}


def main() -> None:
    """Print a row for each part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(PARTS)}; all")
    parser.add_argument("--scale", type=int, default=1)
    options = parser.parse_args()
    for name in options.parts or PARTS:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        row = PARTS[name](options.scale)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{name:<8} {row}; {cpu:.1f} s of CPU with children", flush=True)


if __name__ == "__main__":
    main()
