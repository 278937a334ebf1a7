"""How fast does `gpuwhy explain` read a large log, beside ripgrep with the same patterns, and a short one?

    python bench/explain.py [--size MB] [--rg PATH] [--folder FOLDER]

Writes a synthetic log (mostly noise, some very long lines, errors near the end), then times one pass of the reader in
this process with each engine that is installed, and `rg --threads 1 -c -i -F -f PATTERNS` over the same file: the
patterns are the anchors, the literals that the reader searches for in one pass. The peak of resident memory is the
reader's. Last, `python -m gpuwhy explain --log-only` on a three-line traceback, from process start to answer.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PIECE = 1 << 20
ERRORS = (
    "E cuda_dnn.cc:319] Loaded runtime CuDNN library: 8.1.0 but source was compiled with: 8.6.0.\n"
    "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
)
SHORT = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 3, in <module>\n'
    "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
)


def write_log(path: Path, megabytes: int) -> None:
    """Noise as training prints it, a 1 MB line now and then, the errors in the last percent."""
    rng = random.Random(7)
    noise = "".join(
        f"[2026-01-01 00:{n % 60:02}:{n % 59:02},{n % 1000:03}] epoch {n % 90} step {n} loss {rng.random():.4f} "
        f"lr {rng.random():.2e} grad_norm {rng.random():.3f} tokens/s {rng.randrange(9999)}\n"
        for n in range(9000)
    ).encode()
    long = b"{" + b'"weights": [0.1234, 0.5678], ' * 36000 + b"}\n"
    with path.open("wb") as file:
        while file.tell() < megabytes * PIECE * 0.99:
            file.write(noise * 20)
            file.write(long)
        file.write(ERRORS.encode())
        file.write(noise)


def pieces(path: Path) -> Iterator[bytes]:
    """The file, in pieces as the command reads them."""
    from gpuwhy.border.reading import PIECE as SIZE

    with path.open("rb") as file:
        while piece := file.read(SIZE):
            yield piece


def read_once(path: Path, fast: bool) -> tuple[float, str, int]:
    """Seconds, engine and number of symptoms of one pass."""
    from gpuwhy.symptoms.reader import read, scanner

    engine = scanner(fast).engine
    start = time.perf_counter()
    reading = read(pieces(path), fast=fast)
    return time.perf_counter() - start, engine, len(reading.symptoms)


def ripgrep(rg: str, path: Path, folder: Path) -> float:
    """Seconds of ripgrep over the same file with the same literals, one thread."""
    from gpuwhy.symptoms.reader import anchors

    patterns = folder / "patterns"
    patterns.write_text("\n".join(anchors()) + "\n", encoding="utf-8")
    argv = [rg, "--threads", "1", "-c", "-i", "-F", "-a", "-f", str(patterns), str(path)]
    start = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def first_answer(folder: Path, runs: int = 9) -> float:
    """Median seconds from process start to the answer on a short traceback."""
    log = folder / "short.log"
    log.write_text(SHORT)
    argv = [sys.executable, "-m", "gpuwhy", "explain", "--log-only", str(log)]
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(argv, stdout=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    """Run everything and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--size", type=int, default=1024, help="megabytes of the log")
    parser.add_argument("--rg", default=shutil.which("rg") or "", help="ripgrep")
    parser.add_argument("--folder", help="where to write the log")
    parser.add_argument("--slow", action="store_true", help="also the standard-library engine, over a tenth of the log")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        log = folder / "big.log"
        write_log(log, options.size)
        gigabytes = os.path.getsize(log) / 1e9
        for _ in pieces(log):  # warm the disk cache
            pass
        took, engine, found = min(read_once(log, True) for _ in range(3))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"gpuwhy, {engine:<10} {gigabytes / took:6.3f} GB/s  {found} symptoms, peak {peak:.0f} MB")
        if options.rg:
            rival = min(ripgrep(options.rg, log, folder) for _ in range(3))
            print(f"ripgrep            {gigabytes / rival:6.3f} GB/s  gpuwhy is {rival / took:.2f} times as fast")
        if options.slow:
            small = folder / "small.log"
            write_log(small, max(1, options.size // 10))
            took, engine, found = read_once(small, False)
            print(f"gpuwhy, {engine:<10} {os.path.getsize(small) / 1e9 / took:6.3f} GB/s  {found} symptoms")
        print(f"short traceback    {first_answer(folder) * 1000:6.0f} ms from process start to answer")


if __name__ == "__main__":
    main()
