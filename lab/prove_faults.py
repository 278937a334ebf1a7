"""`gpuwhy prove` on a GPU, over faults whose truth is known by construction; one JSON line for each.

    sh lab/carry.sh build/carry 3.12                                     where something can be installed
    python3 -m lab.prove_faults --carry build/carry --out "$OUT" [--jobs 10] [--minutes 8] [NAME…]

The target is the python3 that runs this, with torch, JAX and CuPy; C++ programs are built with nvcc. A fault that does
not bite (the program runs all the same) is told and left out of the counts. Faults run side by side; those that need
the card's memory run alone, first. `--device cpu` tries the lab itself where there is no GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lab.prove_cases import CASES, CPP, HELPERS, LOGIN, PROGRAMS, Case

ONE = 150
"""Seconds of budget for one fault."""
BUILDS = {
    "cpp": ["-arch=sm_90"],
    "cpp-shared": ["-arch=sm_90", "-cudart", "shared"],
    "cpp-ptx": ["-gencode", "arch=compute_80,code=compute_80"],
}
HOLD = (
    "import cupy as c, sys, time; x = c.empty(int(sys.argv[1]), dtype='u1'); x[-1] = 1; "
    "print('held', flush=True); time.sleep(500)"
)


class Bench:
    """The machine: gpuwhy in an environment of its own, the programs, the folder of results."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.out, self.work = Path(options.out).resolve(), Path(options.work).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "bin").mkdir(parents=True)
        self.python, self.device = options.python, options.device
        self.gpuwhy = self._own(Path(options.carry).resolve())
        self.end = time.monotonic() + options.minutes * 60
        self.lock = threading.Lock()
        self.log = (self.out / "prove.jsonl").open("w")
        self.values = self._places()

    def _own(self, carry: Path) -> list[str]:
        home = self.work / "own"
        subprocess.run([self.python, "-m", "venv", "--without-pip", str(home)], check=True)
        site = next(home.glob("lib/python3*/site-packages"))
        (site / "carried.pth").write_text(f"{carry}\n")
        return [f"{home}/bin/python", "-I", "-m", "gpuwhy"]

    def _places(self) -> dict[str, str]:
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        cuda = str(Path(nvcc).resolve().parent.parent)
        stub = next(iter(Path(cuda).glob("**/stubs/libcuda.so")), Path("/nowhere"))
        compat = next(iter(sorted(Path("/usr/local").glob("cuda*/compat"))), Path("/nowhere"))
        return {"CUDA": cuda, "STUB": str(stub), "COMPAT": str(compat), "BIN": str(self.work / "bin")}

    def build(self) -> None:
        """The C++ programs, at the same time."""
        source = self.work / "main.cu"
        source.write_text(CPP)
        nvcc = f"{self.values['CUDA']}/bin/nvcc"
        started = [
            subprocess.Popen([nvcc, "-O1", *flags, "-o", str(self.work / "bin" / name), str(source)])
            for name, flags in BUILDS.items()
        ]
        for one in started:
            one.wait()

    def expand(self, text: str, folder: Path) -> str:
        """$D and the machine's places in a value."""
        values = {**self.values, "D": str(folder), "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        return re.sub(r"\$(\w+)", lambda found: values.get(found[1], found[0]), text).rstrip(":")

    def command(self, case: Case, folder: Path) -> list[str]:
        """Write the program beside what the fault needs; its command line."""
        for name, text in {**case.files, **HELPERS.get(case.program, {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        if case.program in BUILDS:
            return [str(self.work / "bin" / case.program), *case.words]
        (folder / "main.py").write_text(self.source(PROGRAMS[case.program]))
        return [self.python, str(folder / "main.py")]

    def source(self, text: str) -> str:
        """The program, for the device that there is."""
        if self.device == "cpu":
            text = text.replace('device="cuda"', 'device="cpu"').replace(".cuda()", "").replace('== "gpu"', '== "cpu"')
            text = text.replace("torch.cuda.synchronize()", "pass")
        return text

    def environ(self, case: Case, folder: Path) -> dict[str, str]:
        """A login's variables and the fault's."""
        own = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
        given = {**LOGIN, **case.environ}
        return {**own, **{name: self.expand(value, folder) for name, value in given.items()}}

    def judge(self, name: str) -> dict[str, Any]:
        """One fault: made, proven, compared with its truth."""
        case, folder = CASES[name], self.work / name
        folder.mkdir()
        row: dict[str, Any] = {"name": name, "program": case.program, "want": case.want, "causes": case.causes}
        if time.monotonic() > self.end - 20:
            return self.keep({**row, "verdict": "no time"})
        command = self.command(case, folder)
        if case.setup:
            subprocess.run(["sh", "-c", self.expand(case.setup, folder)], cwd=folder)
        held = self._held(case)
        words = [
            *self.gpuwhy,
            "prove",
            "--json",
            "--quiet",
            "--no-packages",
            "--budget",
            str(self._budget()),
            *case.options,
        ]
        words += ["--may-end", str(held.pid)] if held and case.may_end else []
        script = f'{case.limit or ":"}\nexec "$@"'
        argv = ["bash", "-c", script, "bash", *words, "--", *command]
        started = time.monotonic()
        done = self._run(argv, self.environ(case, folder), folder)
        if held:
            with_kill(held)
        shutil.rmtree(folder, ignore_errors=True)
        return self.keep({**row, **verdict(case, self, folder, done), "wall": round(time.monotonic() - started, 1)})

    def _budget(self) -> int:
        return int(max(20, min(ONE, self.end - time.monotonic() - 10)))

    def _run(self, argv: list[str], environ: dict[str, str], folder: Path) -> tuple[str, str]:
        with subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ,
            cwd=folder, start_new_session=True,
        ) as child:  # fmt: skip
            try:
                return child.communicate(timeout=ONE + 60)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                out, err = child.communicate()
                return out, err + "\nlab: HUNG"

    def _held(self, case: Case) -> subprocess.Popen[str] | None:
        if not case.hold:
            return None
        held = subprocess.Popen([self.python, "-c", HOLD, str(case.hold)], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=held.wait, daemon=True).start()  # reaped as soon as it ends
        assert held.stdout
        held.stdout.readline()
        return held

    def keep(self, row: dict[str, Any]) -> dict[str, Any]:
        """One line, at once."""
        with self.lock:
            self.log.write(json.dumps(row) + "\n")
            self.log.flush()
        return row


def with_kill(held: subprocess.Popen[str]) -> None:
    """End the holder of memory, if it is still there."""
    if held.poll() is None:
        held.kill()


def verdict(case: Case, bench: Bench, folder: Path, done: tuple[str, str]) -> dict[str, Any]:
    """What was answered, held against the truth."""
    try:
        told = json.loads(done[0])
    except ValueError:
        return {"verdict": "no answer", "said": (done[0] + done[1])[-1500:]}
    first = told["causes"][0]["id"] if told["causes"] else ""
    row = {
        "status": told["status"], "headline": told["headline"][:300], "cause": first, "runs": told["runs"],
        "seconds": told["seconds"], "change": told["change"], "ending": told["ending"]["message"][:200],
        "once": statistics.median([one["seconds"] for one in told["experiments"]] or [0]), "left": told["left"],
        "experiments": [[one["change"][:120], one["outcomes"], one["note"]] for one in told["experiments"]],
        "causes_told": [[one["id"], one["confidence"]] for one in told["causes"][:5]],
    }  # fmt: skip
    return {**row, "verdict": _verdict(case, told, first, lambda text: bench.expand(text, folder))}


def _verdict(case: Case, told: dict[str, Any], first: str, expand: Any) -> str:
    if case.expect == "not_failing":
        return "right" if told["status"] == "not_failing" else "wrong"
    if told["status"] == "not_failing":
        return "does not bite"
    if not case.want:
        return "wrong" if told["status"] == "proven" else "right"
    if told["status"] != "proven":
        return "undecided"
    if not fits(case, told["change"], expand):
        return "wrong change"
    return "right" if first in case.causes else "wrong cause"


def fits(case: Case, change: dict[str, Any], expand: Any) -> bool:
    """Whether the change is the wanted one, all of it and nothing else."""
    made = [f"unset {name}" for name in change["unset"]]
    made += [
        f"drop {name} {one}" for name, gone in change["drop"].items() if name not in change["unset"] for one in gone
    ]
    made += [f"limit {name}" for name in change["limits"]]
    made += [f"hide {Path(one).name}" for one in change["hide"]]
    made += [f"package {name}" for name in change["packages"]]
    made += ["set " + " ".join(change["set"])] if change["set"] else []
    made += ["process"] if "process" in change["text"] else []
    wanted = [expand(one) for one in case.want]
    return len(made) == len(wanted) and all(any(_like(one, choice) for one in made) for choice in wanted)


def _like(made: str, wanted: str) -> bool:
    """`a|b` is either; the words of a wanted drop are parts of the entry; a variable with one entry may be unset."""
    for choice in wanted.split("|"):
        kind, *words = choice.split()
        if made.startswith(kind) and all(word in made for word in words):
            return True
        if kind == "drop" and made == f"unset {words[0]}":
            return True
    return False


def summary(rows: list[dict[str, Any]]) -> str:
    """The counts that the documentation tells."""
    by: dict[str, int] = {}
    for row in rows:
        by[row["verdict"]] = by.get(row["verdict"], 0) + 1
    changeable = [row for row in rows if row["want"] and row["verdict"] not in ("does not bite", "no time")]
    proven = [row for row in changeable if row["verdict"] == "right"]
    runs = [row["runs"] for row in proven]
    times = [row["seconds"] / row["once"] for row in proven if row.get("once")]
    lines = [f"{len(rows)} faults: " + ", ".join(f"{count} {name}" for name, count in sorted(by.items()))]
    lines.append(f"with a changeable cause: {len(proven)} of {len(changeable)} proven right")
    if runs:
        lines.append(
            f"runs: median {statistics.median(runs)}, most {max(runs)}; "
            f"time: median {statistics.median(times):.1f} times one run"
        )
    others = [row for row in rows if row["verdict"] != "right"]
    lines += [f"  {row['name']:30} {row['verdict']:14} {row.get('headline', '')[:150]}" for row in others]
    return "\n".join(lines)


def main() -> int:
    """All faults, or those named."""
    parser = argparse.ArgumentParser(prog="python -m lab.prove_faults")
    parser.add_argument("--carry", default="build/carry")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", default="prove-results")
    parser.add_argument("--work", default="/tmp/prove-faults")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bench = Bench(options)
    names = [name for name in CASES if name in options.names or not options.names]
    if any(CASES[name].program in BUILDS for name in names):
        bench.build()
    together = [name for name in names if not CASES[name].alone]
    alone = [name for name in names if CASES[name].alone]
    rows = [bench.judge(name) for name in alone]
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        rows += list(pool.map(bench.judge, together))
    text = summary(rows)
    print(text)
    (bench.out / "summary.txt").write_text(text + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
