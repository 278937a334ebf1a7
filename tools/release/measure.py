"""The smallest install, measured: how much it takes on disk, and how much longer than bare Python it takes to start.

    python -m tools.release.measure WHEEL [--tries N]

Installs the wheel with its dependencies and nothing else into a fresh environment (pip, without bytecode), counts the
bytes, compiles, counts again; then starts `gpuwhy --version` and `python -c pass` and prints the least times of both,
on the clock and of CPU. Exit code 1 where a limit is passed: 15 MB, 30 ms.
"""

from __future__ import annotations

import argparse
import compileall
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

MEGABYTES, MILLISECONDS = 15.0, 30.0


def main(argv: list[str]) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description="Measure the smallest install.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--tries", type=int, default=25)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        packages = installed(options.wheel, Path(folder))
        plain = size(packages)
        blocks = sum(one.stat().st_blocks * 512 for one in packages.rglob("*") if one.is_file())
        compileall.compile_dir(packages, quiet=2)
        print(f"on disk: {plain / 1e6:.1f} MB (limit {MEGABYTES:g}); {blocks / 1e6:.1f} MB in blocks of this disk")
        print(f"         {size(packages) / 1e6:.1f} MB with bytecode")
        for part in sorted(packages.iterdir(), key=size)[-5:]:
            print(f"  {part.name:<28} {size(part, bytecode=False) / 1e6:.1f} MB")
        bare = least([f"{folder}/bin/python", "-c", "pass"], options.tries)
        ours = least([f"{folder}/bin/gpuwhy", "--version"], options.tries)
    over = 1000 * (ours[1] - bare[1])
    print(f"start: {1000 * ours[0]:.0f} ms, bare Python {1000 * bare[0]:.0f} ms on the clock")
    print(f"       {1000 * ours[1]:.0f} ms, bare Python {1000 * bare[1]:.0f} ms of CPU: {over:.0f} ms over it")
    return int(plain / 1e6 > MEGABYTES or over > MILLISECONDS)


def installed(wheel: Path, folder: Path) -> Path:
    """A fresh environment with the wheel; its packages, without what it was made with."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--no-compile", str(wheel)]
    subprocess.run(pip, check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    subprocess.run([*pip[:3], "uninstall", "-q", "-y", "setuptools", "pip"], check=True)
    return packages


def size(path: Path, *, bytecode: bool = True) -> int:
    """Bytes of a file or of all files of a folder."""
    if path.is_file():
        return path.stat().st_size
    files = (one for one in path.rglob("*") if one.is_file() and (bytecode or one.suffix != ".pyc"))
    return sum(one.stat().st_size for one in files)


def least(argv: list[str], tries: int) -> tuple[float, float]:
    """The least time on the clock, and of CPU."""
    clock, cpu = [], []
    for _ in range(tries):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        clock.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(clock), min(cpu)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
