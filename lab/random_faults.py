"""Break this machine in ways drawn from a seed, hundreds of them side by side, and keep what programs and gpuwhy say.

    python -m lab.random_faults --python TARGET --carry FOLDER --out OUT [--seed 1] [--minutes 6.5] [--part judge]

As root, on Linux; `--device cpu` tries the same here without a GPU, `--list` prints draws and runs nothing. FOLDER is
what lab/carry.sh makes: gpuwhy with its dependencies. Every draw lives in its own mount namespace. First each program
runs on the healthy machine, which tells what it prints and which files it maps; then a draw is run bare (its output is
the log), and again under `gpuwhy run --json`. A draw that ends as the healthy run did is kept as a control; one that
went on silently without the GPU is told as silent, and one that ended otherwise than it was built to as void.
OUT/faults.jsonl has a line per draw; OUT/records.tar the recordings, from which `python -m lab.random_score` judges
again.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import lab.random.driver
import lab.random.eighth_cpp
import lab.random.eighth_ends
import lab.random.eighth_env
import lab.random.eighth_files
import lab.random.eighth_kernels
import lab.random.eighth_layers
import lab.random.eighth_peers
import lab.random.eighth_places
import lab.random.eighth_programs
import lab.random.eleventh_bindings
import lab.random.eleventh_builds
import lab.random.eleventh_cpp
import lab.random.eleventh_env
import lab.random.eleventh_files
import lab.random.eleventh_hub
import lab.random.eleventh_innocents
import lab.random.eleventh_kernels
import lab.random.eleventh_more
import lab.random.eleventh_stack
import lab.random.eleventh_torch
import lab.random.fifth_env
import lab.random.fifth_programs
import lab.random.ninth_builds
import lab.random.ninth_cpp
import lab.random.ninth_cupy
import lab.random.ninth_env
import lab.random.ninth_files
import lab.random.ninth_innocents
import lab.random.ninth_jax
import lab.random.ninth_limits
import lab.random.ninth_peers
import lab.random.ninth_torch
import lab.random.ninth_torch_more
import lab.random.others
import lab.random.settings
import lab.random.seventh
import lab.random.seventh_ends
import lab.random.seventh_kernels
import lab.random.seventh_loader
import lab.random.seventh_more
import lab.random.seventh_packages
import lab.random.seventh_programs
import lab.random.sixth
import lab.random.sixth_programs
import lab.random.tenth_builds
import lab.random.tenth_cpp
import lab.random.tenth_env
import lab.random.tenth_files
import lab.random.tenth_innocents
import lab.random.tenth_jax
import lab.random.tenth_kernels
import lab.random.tenth_limits
import lab.random.tenth_loader
import lab.random.tenth_memory
import lab.random.tenth_peers
import lab.random.tenth_torch
import lab.random.thirteenth_cpp
import lab.random.thirteenth_env
import lab.random.thirteenth_files
import lab.random.thirteenth_innocents
import lab.random.thirteenth_jax
import lab.random.thirteenth_stack
import lab.random.thirteenth_tells
import lab.random.thirteenth_torch
import lab.random.twelfth_cpp
import lab.random.twelfth_env
import lab.random.twelfth_files
import lab.random.twelfth_innocents
import lab.random.twelfth_jax
import lab.random.twelfth_stack
import lab.random.twelfth_tells
import lab.random.twelfth_torch
import lab.random.wrong  # noqa: F401  (the operators enter themselves)
from lab.random.draw import OPERATORS, Draw, Machine, draw
from lab.random.files import OVER
from lab.random.programs import CPP, MAPS, PROGRAMS, source
from lab.worlds import quoted

HOLD = (
    "import torch, time\nfree, total = torch.cuda.mem_get_info()\n"
    "sizes = [int((free - (700 << 20)) * part) for part in (0.6, 0.4)]\n"
    "x = [torch.empty(n, dtype=torch.uint8, device='cuda') for n in sizes]\n"
    "print('held', flush=True)\ntime.sleep(900)\n"
)
BASE = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
AS_NOBODY = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
HEAD, TAIL = 6000, 8000
PARTS = ("all", "tune", "judge", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh")
PARTS += ("twelfth", "thirteenth")


def cut(text: str) -> str:
    """The head and the tail of a long output."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n[…]\n{text[-TAIL:]}"


class Lab:
    """The machine under test and the folder of the work."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.out = Path(options.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.work = Path(options.work)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.work.chmod(0o755)
        self.python = options.python
        self.site = self.ask("import sysconfig; print(sysconfig.get_paths()['purelib'])")
        self.gpuwhy = self.installed(options.own or self.python, Path(options.carry).resolve())
        self.users = self.shell(f"{AS_NOBODY} bash -c '{self.python} -c pass'", 30) == 0
        self.end = time.monotonic() + options.minutes * 60
        self.lock = threading.Lock()
        self.log = (self.out / "faults.jsonl").open("w")
        self.records = tarfile.TarFile(self.out / "records.tar", "w")

    def installed(self, python: str, carry: Path) -> str:
        """An environment of gpuwhy's own, as pipx would make it, whose packages are the carried ones."""
        home = self.work / "own"
        subprocess.run([python, "-m", "venv", "--without-pip", str(home)], check=True)
        site = next(home.glob("lib/python3*/site-packages"))
        (site / "carried.pth").write_text(f"{carry}\n")
        return f"{home}/bin/python -I -m gpuwhy"

    def ask(self, code: str) -> str:
        """What the target's Python answers."""
        return subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    def shell(self, script: str, seconds: float) -> int:
        """Run shell in a private mount namespace, with a limit that nothing outlives."""
        argv = ["unshare", "--mount", "--propagation", "private", "bash", "-c", script]
        with subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as child:
            try:
                return child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                return 124

    def folder(self, name: str) -> Path:
        """A fresh folder for a draw, open to every user."""
        path = self.work / name
        (path / "d").mkdir(parents=True)
        path.chmod(0o777)
        return path

    def write(self, path: Path, one: Draw) -> str:
        """Write the program and what lies beside it; the program's command."""
        for name, text in one.files.items():
            (path / "d" / name).parent.mkdir(parents=True, exist_ok=True)
            (path / "d" / name).write_text(text)
        if one.program in CPP and not one.code:
            return str(self.work / "bin" / one.program)
        script = path / "d" / ("main.cu" if one.program.startswith("cpp") else "main.py")
        script.write_text(one.code or source(one.program, self.options.device))
        if one.command and one.command != "CHROOT":
            text = f"PYTHON={self.python} SCRIPT={script} W={path}\n{one.command}\n"
            (path / "program.sh").write_text(text)
            return f"bash {path / 'program.sh'}"
        return f"{self.python} {script}"

    def inner(self, path: Path, one: Draw, command: str) -> str:
        """The script that a user's shell would be: variables, folder, limit, program."""
        lines = [f"W={path}; D={path}/d; HOME={path}/home; export HOME; unset PYTHONPATH"]
        lines += [f"export {k}={quoted(v)}" for k, v in BASE.items()]
        for key, value in one.environ.items():
            expanded = "" if value is None else value.replace('"', '\\"')
            lines.append(f"unset {key}" if value is None else f'export {key}="{expanded}"')
        lines += [f"cd {one.cwd or str(path / 'd')}", one.limit or ":", f"exec {command}"]
        return "\n".join(lines) + "\n"

    def world(self, path: Path, one: Draw, command: str, name: str) -> str:
        """Shell that makes the broken world, runs one command in it and keeps output and exit code."""
        (path / f"{name}.sh").write_text(self.inner(path, one, command))
        start = f"bash {path}/{name}.sh"
        if one.user:
            start = f"{AS_NOBODY} {start}"
        if one.command == "CHROOT":
            start = f"chroot $W/ov/m {start}"
        streams = start if name == "bare" else f"{start} > >(cat > {path}/{name}.out)"
        kept = f"{path}/{name}.{'out' if name == 'bare' else 'err'}"
        return (  # output goes through pipes: a limit on the size of files must not cut it
            f"W={path}; D={path}/d; export W D; export OLD_LD=${{LD_LIBRARY_PATH:-}}; {OVER}\n"
            f"rm -rf {path}/home; mkdir {path}/home; chmod 777 {path}/home; {one.setup or ':'}\n"
            f"({streams}; echo $? > {path}/{name}.rc) 2>&1 | cat > {kept}\n"
        )

    def bare(self, path: Path, one: Draw, command: str) -> tuple[int, str]:
        """Run the program bare; its exit code and output."""
        self.shell(self.world(path, one, command, "bare"), one.seconds)
        return code_of(path / "bare.rc"), read(path / "bare.out").replace(str(path), "/home/user/run")

    def judged(self, path: Path, one: Draw, command: str) -> tuple[dict[str, Any], bytes]:
        """Run it under gpuwhy; the report, and the recording where one was kept."""
        record = path / "home" / "record.json"
        told = f"{self.gpuwhy} run --json --record {record} -- {command}"
        self.shell(self.world(path, one, told, "run"), one.seconds + 60)
        kept = record.read_bytes() if record.exists() else b""
        return report_of(read(path / "run.err")), kept

    def one(self, number: int, one: Draw, machine: Machine) -> None:
        """One draw from beginning to end; a line for it."""
        name = f"{self.options.seed}-{number:04d}"
        path = self.folder(name)
        began = time.monotonic()
        command = self.write(path, one)
        code, log = self.bare(path, one, command)
        result = next((line for line in log.splitlines() if line.startswith("RESULT")), "")
        same = code == 0 and result == machine.results.get(one.program, "-")
        kind = "control" if same else "silent" if code == 0 else "hung" if code == 124 else "fault"
        kind = "void" if kind == "fault" and one.slipped(log) else kind
        one = one.judged_by(log)
        row: dict[str, Any] = {"id": name, "kind": kind, "part": OPERATORS[one.operator][0], **brief(one)}
        row |= {"exit_code": code, "log": cut(log), "run_report": {}}
        if kind == "fault" or (kind == "control" and number % 3 == 0):
            row["run_report"], kept = self.judged(path, one, command)
            row["judged"] = True
            row["run_tail"] = "" if row["run_report"] else cut(read(path / "run.err"))[-1500:]
            self.keep(name, kept)
        row["seconds"] = round(time.monotonic() - began, 1)
        with self.lock:
            self.log.write(json.dumps(row, ensure_ascii=False) + "\n")
            self.log.flush()
        shutil.rmtree(path, ignore_errors=True)

    def keep(self, name: str, kept: bytes) -> None:
        """Put a recording into the archive."""
        if not kept:
            return
        data = gzip.compress(kept)
        entry = tarfile.TarInfo(f"{name}.json.gz")
        entry.size = len(data)
        with self.lock:
            if self.records.offset < 15_000_000:
                self.records.addfile(entry, io.BytesIO(data))

    # ---------------------------------------------------------------- the healthy machine
    def healthy(self) -> Machine:
        """Run every program on the machine as it is; those that fail are left out, with their last words."""
        toolkit = str(Path("/usr/local/cuda").resolve())
        (self.work / "bin").mkdir()
        with ThreadPoolExecutor(self.options.jobs) as pool:
            names = [n for n in (*PROGRAMS, *CPP) if n != "torch-large" or self.options.device == "cuda"]
            outputs = dict(pool.map(self.try_one, names))
        maps, results = {}, {}
        for name, (code, log) in outputs.items():
            found = [line for line in log.splitlines() if line.startswith("RESULT")]
            if code or not found:
                print(f"left out: {name} (exit {code}): {log.strip()[-300:]!r}", flush=True)
                continue
            results[name] = found[0]
            maps[name] = tuple(sorted({line[7:] for line in log.splitlines() if line.startswith("MAPPED ")}))
        return Machine(self.python, self.site, toolkit, self.driver(), maps, results, device=self.options.device)

    def try_one(self, name: str) -> tuple[str, tuple[int, str]]:
        """One program on the healthy machine, with what it mapped."""
        path = self.folder(f"healthy-{name}")
        plain = Draw("healthy", "", name, "healthy", seconds=150)
        if name in CPP:
            binary = self.work / "bin" / name
            (path / "d" / "main.cu").write_text(CPP[name][1])
            linked = f"ldd {binary} | sed -n 's/.*=> \\(.*\\) (.*/MAPPED \\1/p'"
            build = f"nvcc -arch=sm_90 -o {binary} {path}/d/main.cu {CPP[name][0]} && {binary} && {linked}"
            return name, self.bare(path, plain, f"bash -c {quoted(build)}")
        (path / "d" / "main.py").write_text(source(name, self.options.device) + MAPS)
        return name, self.bare(path, plain, f"{self.python} {path}/d/main.py")

    def driver(self) -> str:
        """The folder of the driver's libraries."""
        told = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
        paths = [line.rpartition("=> ")[2] for line in told.splitlines() if "libcuda.so.1 " in line]
        return str(Path(paths[0]).resolve().parent) if paths else ""

    # ---------------------------------------------------------------- the run
    def go(self) -> None:
        """Healthy runs, the draws with the card's memory held, then all others side by side until the time is over."""
        machine = self.healthy()
        print(f"{len(machine.maps)} programs work: {' '.join(machine.maps)}", flush=True)
        (self.out / "healthy.json").write_text(json.dumps(asdict(machine), indent=1))
        rng = random.Random(self.options.seed)
        names = [n for n, (part, _) in OPERATORS.items() if self.options.part in ("all", part) and n != "memory-held"]
        names = [n for n in names if n in self.options.operators] if self.options.operators else names
        first = self.held(rng, machine)
        with ThreadPoolExecutor(self.options.jobs) as pool:
            waiting: list[Future[None]] = []
            for number in range(first, first + self.options.draws):
                found = draw(rng, machine, names)
                if found and (self.users or not found.user):
                    waiting.append(pool.submit(self.guarded, number, found, machine))
            for future in waiting:
                future.result()
        self.records.close()

    def guarded(self, number: int, one: Draw, machine: Machine) -> None:
        """One draw where time is left; a mistake of the lab is told and does not end it."""
        if self.options.list:
            print(json.dumps({"number": number, **brief(one)}, ensure_ascii=False))
        elif time.monotonic() < self.end:
            try:
                self.one(number, one, machine)
            except Exception as mistake:
                print(f"lab: draw {number} ({one.operator}, {one.target}): {mistake!r}", flush=True)

    def held(self, rng: random.Random, machine: Machine) -> int:
        """The draws during which another process holds the card's memory; how many there were."""
        wanted = self.options.held if self.options.device == "cuda" and self.options.part in ("all", "judge") else 0
        found = [draw(rng, machine, ["memory-held"]) for _ in range(wanted)]
        draws = [one for one in found if one]
        if not draws or self.options.list:
            return 0
        with subprocess.Popen([self.python, "-c", HOLD], stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout
            holder.stdout.readline()
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda pair: self.guarded(pair[0], pair[1], machine), enumerate(draws)))
            holder.kill()
        return len(draws)


def brief(one: Draw) -> dict[str, Any]:
    """What a reader needs of a draw."""
    return {
        "operator": one.operator,
        "target": one.target,
        "program": one.program,
        "cause": one.cause,
        "also_acceptable": [*one.also],
        "setup": one.setup,
        "environ": dict(one.environ),
        "limit": one.limit,
        "user": one.user,
    }


def read(path: Path) -> str:
    """A file's text, empty where there is none."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def code_of(path: Path) -> int:
    """The exit code that the world wrote; 124 where it never came to an end."""
    text = read(path).strip()
    return int(text) if text.isdigit() else 124


def report_of(text: str) -> dict[str, Any]:
    """The report in gpuwhy's standard error, without its long parts."""
    _, found, rest = ("\n" + text).rpartition("\n{\n")
    try:
        told: dict[str, Any] = json.JSONDecoder().raw_decode("{\n" + rest)[0] if found else {}
    except ValueError:
        told = {}
    if not told:
        return {}
    causes = [{k: c.get(k) for k in ("id", "confidence", "subject", "because")} for c in told.get("causes", [])[:4]]
    for cause in causes:
        cause["because"] = [b.get("text") for b in cause["because"] or []][:6]
    return {
        "status": told.get("status"),
        "headline": told.get("headline"),
        "causes": causes,
        "noticed": told.get("noticed", [])[:3],
    }


def main() -> int:
    """Read the options and go."""
    parser = argparse.ArgumentParser(prog="python -m lab.random_faults", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the environment to break")
    parser.add_argument("--carry", default="build/carry", help="gpuwhy and its dependencies, from lab/carry.sh")
    parser.add_argument("--own", default="", help="the Python that runs gpuwhy; the target's otherwise")
    parser.add_argument("--out", default="random-faults")
    parser.add_argument("--work", default="/var/lab-random", help="scratch; not below /tmp, which some draws cover")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--held", type=int, default=8, help="draws with the card's memory held")
    parser.add_argument("--minutes", type=float, default=6.5)
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--part", choices=PARTS, default="all")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--list", action="store_true", help="print the draws, run only the healthy programs")
    parser.add_argument("operators", nargs="*", help="these operators only")
    Lab(parser.parse_args()).go()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
