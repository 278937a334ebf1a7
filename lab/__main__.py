"""Break this GPU machine in every way of the lab, one at a time, and print what gpuwhy names.

    python -m lab --python TARGET [--out FOLDER] [--jobs 4] [NAME…]          (as root, on Linux with an NVIDIA GPU)
    python -m lab --programs --python TARGET …                              wrong programs, under `gpuwhy run`

Every fault lives in a mount namespace of its own (`unshare --mount`) or in one process's environment, so the machine
itself is never changed, and no setting of the card is touched. For each fault a recording is kept (OUT/work/NAME.json,
`gpuwhy record --probe`), from which the verdict is taken: what CI replays is what was judged here. The table: fault,
causes that would be right, the cause named, seconds. Exit code 0 when at least 95 % were named right and none hung.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from lab.faults import FAULTS, Fault
from lab.programs import PROGRAMS, Program
from lab.worlds import quoted

LIMIT = 240
HOLD = (
    "import torch,sys,time; free,total=torch.cuda.mem_get_info(); n=int(min(free-(600<<20), total*float(sys.argv[1])));"
    "x=torch.empty(n,dtype=torch.uint8,device='cuda'); print('held',flush=True); time.sleep(600)  # gpuwhy-lab"
)
GOAL = 0.95


class Row(NamedTuple):
    """One line of the table."""

    name: str
    expected: tuple[str, ...]
    named: str
    status: str
    seconds: float
    right: bool


class Bench:
    """The machine: the target's Python, gpuwhy's own, and where results go."""

    def __init__(self, target: str, out: Path) -> None:
        self.target = target
        self.out = out
        self.work = out / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.work.chmod(0o777)
        self.gpuwhy = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')} {sys.executable} -m gpuwhy"
        ask = [target, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
        self.site = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
        smi = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
        self.gpu = (subprocess.run(smi, capture_output=True, text=True).stdout.split() or [""])[0][:12]

    def script(self, fault: Fault | Program, command: str, scratch: Path) -> str:
        """The shell script that makes the world and runs a command in it."""
        exports = "".join(f'export {k}="{v}"; ' for k, v in fault.environ.items())
        inner = f"{exports}{fault.limit + '; ' if fault.limit else ''}cd /tmp; {command}"
        if isinstance(fault, Fault) and fault.user:
            start = f"export W SITE TARGET GPU; su -m {fault.user} -s /bin/bash -c {quoted(inner)}"
        else:
            inside = fault.inside if isinstance(fault, Fault) else ""
            start = f"export W SITE TARGET GPU; {inside} bash -c {quoted(inner)}"
        values = f"W={scratch} SITE={self.site} TARGET={self.target} GPU={self.gpu}"
        return f"set -u; {values}; {fault.setup or ':'}; {start}"

    def run(self, name: str, fault: Fault | Program, command: str) -> tuple[float, str]:
        """Run a command in a broken world; seconds, and what was printed."""
        scratch = self.out / "scratch" / name
        scratch.mkdir(parents=True, exist_ok=True)
        scratch.chmod(0o777)
        holder = self.hold(fault)
        start = time.monotonic()
        argv = ["unshare", "--mount", "--propagation", "private", "bash", "-c", self.script(fault, command, scratch)]
        with subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
        ) as child:
            try:
                out, _ = child.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                out = (child.communicate()[0] or b"") + b"\nlab: HUNG\n"
            code = child.returncode
        took = time.monotonic() - start
        if holder:
            end_holders()
            holder.wait()
            time.sleep(1.0)
        text = out.decode("utf-8", "replace") + f"\nexit {code}\n"
        (self.out / f"{name}.txt").write_text(text)
        shutil.rmtree(scratch, ignore_errors=True)
        return took, text

    def hold(self, fault: Fault | Program) -> subprocess.Popen[str] | None:
        """Another process that holds GPU memory meanwhile."""
        if not fault.hold:
            return None
        argv = [self.target, "-c", HOLD, str(fault.hold)]
        if isinstance(fault, Fault) and fault.hold_user:
            argv = ["su", fault.hold_user, "-s", "/bin/bash", "-c", " ".join(map(quoted, argv))]
        held = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert held.stdout
        held.stdout.readline()
        if isinstance(fault, Fault) and fault.stop:
            os.killpg(held.pid, signal.SIGSTOP)
        return held


def end_holders() -> None:
    """Kill every process that holds memory for us, whoever owns it."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if "gpuwhy-lab" in (folder / "cmdline").read_text() and int(folder.name) != os.getpid():
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:
            continue


def judge_fault(bench: Bench, name: str, fault: Fault) -> Row:
    """Record one fault with the probe, and take the verdict from the recording."""
    target = "" if fault.target == "none" else f"--python {bench.target}"
    kept = bench.work / f"{name}.json"
    took, text = bench.run(name, fault, f"{bench.gpuwhy} record --probe {target} -o {kept}")
    if not kept.exists():
        return Row(name, fault.names, "no recording: " + text.strip()[-200:], "failed", took, False)
    argv = [sys.executable, "-m", "gpuwhy", "check", "--from", str(kept), "--json"]
    told = subprocess.run(argv, capture_output=True, text=True)
    (bench.out / f"{name}.report.json").write_text(told.stdout)
    return verdict(name, fault.names, told.stdout, took)


def judge_program(bench: Bench, name: str, program: Program) -> Row:
    """Run one wrong program under `gpuwhy run`; its report is the JSON object at the end of standard error."""
    script, said = bench.work / f"{name}.py", bench.work / f"{name}.err"
    script.write_text(program.code + "\n")
    took, _ = bench.run(name, program, f"{bench.gpuwhy} run --json -- {bench.target} {script} 2> {said}")
    _, found, report = ("\n" + said.read_text(errors="replace")).rpartition("\n{\n")
    return verdict(name, program.names, "{" + report if found else "{}", took)


def verdict(name: str, expected: tuple[str, ...], told: str, took: float) -> Row:
    """Hold a report against what would be right."""
    try:
        report: dict[str, Any] = json.loads(told)
    except ValueError:
        return Row(name, expected, "no report: " + told.strip()[-200:], "failed", took, False)
    found = [c["id"] for c in report.get("causes", []) if c["confidence"] >= 0.5]
    named = found[0] if found else "-"
    right = named in expected if expected else not found
    return Row(name, expected, named, report.get("status", "healthy"), took, right)


def table(rows: list[Row]) -> str:
    """The rows as text, and the count."""
    out = [f"{'fault':34}{'right':40}{'named':28}{'s':>6}"]
    for row in rows:
        expected = " | ".join(row.expected) or "(works)"
        mark = "" if row.right else "   WRONG"
        out.append(f"{row.name:34}{expected[:39]:40}{row.named[:60]:28}{row.seconds:6.1f}{mark}")
    right = sum(row.right for row in rows)
    out.append(f"{right} of {len(rows)} named right ({right / max(1, len(rows)):.1%})")
    return "\n".join(out)


def main() -> int:
    """Go through the faults, several at a time where they do not disturb each other."""
    parser = argparse.ArgumentParser(prog="python -m lab", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the environment to break: a Python with torch")
    parser.add_argument("--out", default="lab-results", help="where recordings and reports go")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--programs", action="store_true", help="wrong programs under `gpuwhy run`")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bench = Bench(options.python, Path(options.out).resolve())
    todo: dict[str, Any] = dict(PROGRAMS if options.programs else FAULTS)
    judge: Any = judge_program if options.programs else judge_fault
    todo = {name: one for name, one in todo.items() if name in options.names or not options.names}
    together = [name for name, one in todo.items() if not one.alone and not options.programs]  # a kernel log is shared
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        rows = list(pool.map(lambda name: judge(bench, name, todo[name]), together))
    rows += [judge(bench, name, one) for name, one in todo.items() if name not in together]
    print(table(rows))
    (bench.out / "table.json").write_text(json.dumps([row._asdict() for row in rows], indent=1))
    right = sum(row.right for row in rows)
    return 0 if right >= GOAL * len(rows) and not any("HUNG" in row.named for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
