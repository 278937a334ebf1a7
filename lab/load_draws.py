"""Draw faults of loading by the thousand: programs that only do what a framework's start does, in broken worlds.

    python -m lab.load_draws --python TARGET --carry FOLDER --out OUT [--seed 1] [--minutes 30] [--jobs 1]

As root, on Linux, with or without a GPU. A draw is its seed and its number: a second call with the same OUT goes on
where the first ended. OUT/faults.jsonl and OUT/records.tar are those of lab.random_faults, and scored as they are.
Without a driver on the machine a stand-in is built for the one program that links with it.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import lab.random.fourth  # noqa: F401  (its operators enter themselves)
import lab.random_faults as faults
from lab.random.draw import OPERATORS, Draw, Machine
from lab.random.loaders import LOADERS
from lab.random.loads import PART, USED
from lab.random.programs import CPP, PROGRAMS

GPU = ("torch-matmul", "jax-matmul", "cupy-matmul", "cupy-raw")
FILES = (
    "hide-library",
    "cut-library",
    "swap-library",
    "close-library",
    "odd-library",
    "library-marks",
    "library-holes",
)
STAND_IN = """
int cuInit(unsigned f) { return 100; }
int cuDriverGetVersion(int* v) { *v = 13000; return 0; }
int cuTensorMapEncodeTiled(void) { return 1; }
"""


class Loads(faults.Lab):
    """The lab with programs that load and stop."""

    def __init__(self, options: argparse.Namespace) -> None:
        kept = Path(options.out) / "faults.jsonl"
        before = kept.read_text() if kept.exists() else ""
        old = Path(options.out) / "records.tar"
        if old.exists():
            old.rename(old.with_name(f"records-{sum(1 for _ in old.parent.glob('records-*.tar'))}.tar"))
        super().__init__(options)
        self.log.write(before)
        self.log.flush()
        self.done = {json.loads(line)["id"] for line in before.splitlines()}
        if not self.driver():
            self.stand_in()

    def stand_in(self) -> None:
        """A driver of three functions for the program that links with one."""
        home = self.work / "drv"
        home.mkdir()
        (home / "d.c").write_text(STAND_IN)
        path = home / "libcuda.so.1"
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", path, home / "d.c"], check=True)
        faults.BASE["LAB_DRIVER"] = str(path)

    def drawn(self, number: int, machine: Machine) -> Draw | None:
        """The draw of a number; every operator as likely."""
        rng = random.Random(f"{self.options.seed}:{number}")
        name = rng.choice(self.options.operators or [*sorted(n for n, (p, _) in OPERATORS.items() if p == PART), *USED])
        broken = OPERATORS[name][0] == PART or name in FILES
        here = machine if broken else without_own(machine)
        try:
            one = OPERATORS[name][1](rng, here) if here.maps else None
        except (KeyError, IndexError):
            return None
        return one if one and (self.users or not one.user) else None

    def numbered(self, machine: Machine) -> Iterator[tuple[int, Draw]]:
        """The draws that are not yet done."""
        for number in range(self.options.draws):
            if f"{self.options.seed}-{number:04d}" in self.done:
                continue
            one = self.drawn(number, machine)
            if one:
                yield number, replace(one, seconds=90)

    def go(self) -> None:
        """Healthy runs, then the draws until the time is over."""
        machine = self.healthy()
        print(f"{len(machine.maps)} programs work: {' '.join(machine.maps)}; {len(self.done)} draws done", flush=True)
        (self.out / "healthy.json").write_text(json.dumps(asdict(machine), indent=1))
        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(lambda pair: self.guarded(pair[0], pair[1], machine), self.numbered(machine)))
        self.records.close()


def without_own(machine: Machine) -> Machine:
    """The machine without the bindings of a user's own, which are of no framework."""
    return replace(machine, maps={n: m for n, m in machine.maps.items() if not n.startswith("own")})


def main() -> int:
    """Read the options and go."""
    parser = argparse.ArgumentParser(prog="python -m lab.load_draws", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the environment to break")
    parser.add_argument("--carry", default="build/carry", help="gpuwhy and its dependencies, from lab/carry.sh")
    parser.add_argument("--own", default="", help="the Python that runs gpuwhy; the target's otherwise")
    parser.add_argument("--out", default="load-draws")
    parser.add_argument("--work", default="/var/lab-loads")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cpu", help="cuda adds programs that compute")
    parser.add_argument("operators", nargs="*", help="these operators only")
    options = parser.parse_args()
    options.list, options.held, options.part = False, 0, PART
    kept = {name: PROGRAMS[name] for name in GPU} if options.device == "cuda" else {}
    PROGRAMS.clear()
    PROGRAMS.update(LOADERS | kept)
    CPP.clear()
    Loads(options).go()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
