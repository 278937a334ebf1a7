"""What comparing many nodes costs: `python bench/fleet.py [GPUWHY] [NODES …]`; 10² … 10⁴ unless told otherwise.

Lines are made from a recorded host (tests/hosts) with noise in what varies, one node in two hundred broken in a
known way. Prints CPU and wall seconds and the largest memory of `gpuwhy fleet compare`, and whether every broken node
was named. The rival is `dshbak -c` of pdsh, which folds equal output together, where there is one (or DSHBAK=PATH).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

BROKEN = (
    {"driver.version": "550.54.15"},
    {"lib.nccl": "2.18.1"},
    {"gpu.count": 7},
    {"host.shm": 64},
    {"gpu.xids": "79"},
    {"env.NCCL_SOCKET_IFNAME": "docker0"},
)
LIMITS = {1500: 5.0, 10_000: 40.0}


def lines(count: int) -> Iterator[tuple[str, bool]]:
    """Each node's line, and whether it was broken."""
    from tests.fleet.nodes import line

    dice = random.Random(7)
    base = json.loads(line("h200-wheels"))
    for number in range(count):
        value = dict(base)
        facts = dict(value["facts"])
        facts["host.memory"] = round(125.9 + dice.gauss(0, 0.2), 1)
        facts["gpu.memory"] = round(140.4 + dice.gauss(0, 0.05), 2)
        facts["env.MY_ADDRESS"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        broken = number % 200 == 17
        if broken:
            facts.update(BROKEN[number // 200 % len(BROKEN)])
        value.update(node=f"gpu{number:06}", facts=facts, time=1.0e9 + number)
        yield json.dumps(value), broken


def measured(argv: list[str], given: Path) -> tuple[bytes, float, float, float]:
    """What a command prints; its CPU and wall seconds, and its largest memory in MiB."""
    with given.open("rb") as file, tempfile.TemporaryFile() as out:
        begun = time.monotonic()
        child = subprocess.Popen(argv, stdin=file, stdout=out)
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
        took = time.monotonic() - begun
        out.seek(0)
        return out.read(), used.ru_utime + used.ru_stime, took, used.ru_maxrss / 1024


def main(gpuwhy: str, counts: list[int]) -> None:
    """One row a size."""
    rival = os.environ.get("DSHBAK") or shutil.which("dshbak")
    heads = f"{'nodes':>8} {'MB':>7} {'CPU s':>7} {'wall s':>7} {'MiB':>7} {'KiB a node':>11}"
    print(f"{heads}  odd named   {'dshbak -c':>10}")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            given, plain = Path(folder) / "nodes.jsonl", Path(folder) / "pdsh.txt"
            wanted = set()
            with given.open("w") as file, plain.open("w") as other:
                for number, (line, broken) in enumerate(lines(count)):
                    file.write(line + "\n")
                    if rival and count <= 10_000:
                        other.write(f"gpu{number:06}: {line}\n")
                    wanted.update({f"gpu{number:06}"} if broken else ())
            row(gpuwhy, count, given, wanted, rival if count <= 10_000 else None, plain)


def row(gpuwhy: str, count: int, given: Path, wanted: set[str], rival: str | None, plain: Path) -> None:
    """Measure one size, and the rival beside it."""
    out, cpu, wall, memory = measured([gpuwhy, "fleet", "compare", "-", "--json"], given)
    value = json.loads(out)
    named = {one["node"] for one in value["odd"]}
    right = "all" if named == wanted else f"{len(named & wanted)} of {len(wanted)}, {len(named - wanted)} too many"
    beside = f"{measured([rival, '-c'], plain)[1]:9.1f}s" if rival else "-"
    size = given.stat().st_size / 1e6
    numbers = f"{count:8,} {size:7.0f} {cpu:7.2f} {wall:7.2f} {memory:7.0f} {memory * 1024 / count:11.1f}"
    print(f"{numbers}  {right:11} {beside:>10}", end="")
    limit = LIMITS.get(count)
    print(f"  {'within' if cpu <= limit else 'OVER'} {limit:g} s" if limit else "", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "gpuwhy", [int(word) for word in sys.argv[2:]] or [100, 1000, 1500, 10_000])
