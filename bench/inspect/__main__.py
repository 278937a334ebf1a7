"""How fast does gpuwhy read binaries, beside the tools that people use for it?

    python bench/inspect --tree LIBRARY --large LIBRARY [--dll LIBRARY] [--rivals FOLDER] [--runs N]

Three questions, each against named rivals: the load tree of a library (`ldd`, pax-utils' `lddtree`), the GPU
architectures of a large one (`cuobjdump`), and its DT_NEEDED (pyelftools, lief); with `--dll`, the imports and the
version of a Windows library (pefile). `--tree` is libtorch_cuda.so, `--large` a library of about 1 GB such as
libtensorflow_cc.so.2. FOLDER is an environment with the rivals: `python3 -m venv FOLDER && FOLDER/bin/pip install lief
pyelftools pefile nvidia-cuda-cuobjdump`; ldd and lddtree are taken from PATH.

Medians of N warm runs. A command is timed with its start; what is called in a process that already runs (ours, lief,
pyelftools) is timed without imports. Every run of ours starts from a new host, which remembers nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gpuwhy.inspect.file import ALL_CONTAINERS, world_for
from gpuwhy.inspect.inspect import inspect
from gpuwhy.loader.process import Process
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine

PYELFTOOLS = """
from elftools.elf.elffile import ELFFile
def read(path):
    with open(path, "rb") as file:
        section = ELFFile(file).get_section_by_name(".dynamic")
        return [tag.needed for tag in section.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
"""
LIEF = """
import lief
def read(path):
    return [str(name) for name in lief.ELF.parse(path).libraries]
"""
LIEF_LIGHT = """
import lief
config = lief.ELF.ParserConfig()
config.parse_symbol_versions = config.parse_notes = config.parse_overlay = config.parse_relocations = False
config.parse_dyn_symbols = config.parse_symtab_symbols = False
def read(path):
    return [str(name) for name in lief.ELF.parse(path, config).libraries]
"""
PEFILE = """
import pefile
KINDS = [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{one}"] for one in ("IMPORT", "DELAY_IMPORT", "RESOURCE")]
def read(path):
    file = pefile.PE(path, fast_load=True)
    file.parse_data_directories(KINDS)
    found = [one.dll for one in file.DIRECTORY_ENTRY_IMPORT]
    file.close()
    return found
"""
TIMED = """
import statistics, sys, time
path, runs = sys.argv[1], int(sys.argv[2])
took = []
for turn in range(runs + 1):
    start = time.perf_counter()
    found = read(path)
    took.append(time.perf_counter() - start)
assert found
print(statistics.median(took[1:]))
"""


class Row(NamedTuple):
    """One line: who, and the median in seconds; None when it is not installed."""

    name: str
    seconds: float | None


def main(argv: list[str]) -> int:
    """Measure and print the three tables."""
    parser = argparse.ArgumentParser(description="gpuwhy's readers beside their rivals.")
    parser.add_argument("--tree", type=Path, required=True, help="a library whose load tree is computed")
    parser.add_argument("--large", type=Path, required=True, help="a library of about 1 GB, with GPU code")
    parser.add_argument("--dll", type=Path, help="a Windows library")
    parser.add_argument("--rivals", type=Path, help="an environment's folder, with lief, pyelftools and cuobjdump")
    parser.add_argument("--runs", type=int, default=7, help="timed runs of each (default 7)")
    options = parser.parse_args(argv)
    tree, large, runs = str(options.tree.absolute()), str(options.large.absolute()), options.runs
    print(f"medians of {runs} warm runs, {os.cpu_count()} cores, Python {sys.version.split()[0]}")
    show(f"load tree of {options.tree.name} ({size(tree)})", trees(tree, runs))
    for path in dict.fromkeys((large, tree)):
        title = f"GPU architectures of {Path(path).name} ({size(path)})"
        show(title, architectures(path, options.rivals, max(1, runs // 3) if path == large else 1))
    show(f"DT_NEEDED of {options.large.name} ({size(large)})", needed(large, options.rivals, runs))
    if options.dll:
        dll = str(options.dll.absolute())
        show(f"imports and version of {options.dll.name} ({size(dll)})", imported(dll, options.rivals, runs))
    return 0


def size(path: str) -> str:
    """The size of a file in words."""
    return f"{os.path.getsize(path) / 1e9:.2f} GB"


def median(act: Callable[[], object], runs: int) -> float:
    """The median time of `runs` calls after one to warm up."""
    took = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        act()
        took.append(time.perf_counter() - start)
    return statistics.median(took[1:])


def command(argv: list[str], runs: int) -> float | None:
    """The median time of a command; None when its program is not there."""
    if not argv or not shutil.which(argv[0]):
        return None
    nothing = subprocess.DEVNULL
    return median(lambda: subprocess.run(argv, stdout=nothing, stderr=nothing, stdin=nothing, check=False), runs)


def trees(path: str, runs: int) -> list[Row]:
    """The load tree, ours first."""
    environ = dict(os.environ)

    def ours() -> None:
        machine = RecordingMachine(LiveMachine(environ))
        Process(world_for(machine, machine.elf(path).need().machine, "/")).start(path)

    def whole() -> None:
        inspect(RecordingMachine(LiveMachine(environ)), path)

    return [
        Row("gpuwhy, load tree", median(ours, runs)),
        Row("gpuwhy, all of inspect", median(whole, runs)),
        Row("gpuwhy inspect (command)", command([sys.executable, "-m", "gpuwhy", "inspect", path], runs)),
        Row("ldd (command)", command(["ldd", path], runs)),
        Row("lddtree (command)", command(["lddtree", path], runs)),
    ]


def architectures(path: str, rivals: Path | None, runs: int) -> list[Row]:
    """The GPU code, ours first; every container is read."""
    return [
        Row("gpuwhy", median(lambda: LiveMachine().gpu_code(path, ALL_CONTAINERS), 7)),
        Row("cuobjdump (command)", command([cuobjdump(rivals), "--list-elf", "--list-ptx", path], runs)),
    ]


def cuobjdump(rivals: Path | None) -> str:
    """Where cuobjdump is: in the rivals' wheels, on PATH, in a toolkit."""
    places = sorted(rivals.glob("lib/python*/site-packages/nvidia/*/bin/cuobjdump")) if rivals else []
    places += [Path("/usr/local/cuda/bin/cuobjdump")]
    return next((str(p) for p in places if p.exists()), "cuobjdump")


def needed(path: str, rivals: Path | None, runs: int) -> list[Row]:
    """DT_NEEDED, ours first."""
    return [
        Row("gpuwhy", median(lambda: LiveMachine().elf(path).need(), runs)),
        Row("pyelftools", inside(rivals, PYELFTOOLS, path, runs)),
        Row("lief, symbols off", inside(rivals, LIEF_LIGHT, path, max(1, runs // 3))),
        Row("lief", inside(rivals, LIEF, path, 1)),
    ]


def imported(path: str, rivals: Path | None, runs: int) -> list[Row]:
    """Imports, delay imports and version resource of a Windows library, ours first."""
    return [
        Row("gpuwhy", median(lambda: LiveMachine().pe(path).need(), runs)),
        Row("pefile, fast_load", inside(rivals, PEFILE, path, runs)),
    ]


def inside(rivals: Path | None, code: str, path: str, runs: int) -> float | None:
    """The median time of a rival's call inside its own Python."""
    python = str(rivals / "bin" / "python") if rivals else ""
    if not python or not os.path.exists(python):
        return None
    done = subprocess.run([python, "-c", code + TIMED, path, str(runs)], capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 else None


def show(title: str, rows: list[Row]) -> None:
    """One table: the first row is the measure of the others."""
    print(f"\n{title}")
    first = rows[0].seconds or 1.0
    for row in rows:
        if row.seconds is None:
            print(f"  {row.name:<26}{'not installed':>14}")
        else:
            print(f"  {row.name:<26}{row.seconds * 1e3:>11.1f} ms{row.seconds / first:>11.1f} ×")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
