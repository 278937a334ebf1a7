"""Which neighbours import beside which releases of a framework? Installs each pair that metadata lets in, imports it.

    nice python tools/neighbours.py [--out FILE] [--only jax,torch] [--pythons FOLDER] [--scratch FOLDER] [--least GB]

A neighbour (flax, bitsandbytes, keras …) states which framework it needs, seldom with an upper end. For each host
release, newest first, every neighbour release that was not seen to work yet is installed beside it as an installer does
it today, and imported. Where metadata forbids the pair, the neighbours of FORCED are installed all the same, as
`--no-deps` and a later `pip install` do. One line per pair; those that FILE has are left out, so it can be ended and
started again.

`about` is the host where the error or the line that raised it names the host, or lies in it; other failures (a third
package, this Python) say nothing about the pair. `raised` is the distribution whose file was at work, `release` its
version. PyTorch comes without NVIDIA's wheels: empty libraries stand in for those (tools/empty_cuda.py). No GPU is
needed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import InvalidVersion, Version

sys.path.insert(0, str(Path(__file__).parents[1]))  # as a script: the tools beside it

from gpuwhy.knowledge.caps import caps
from gpuwhy.knowledge.releases import family
from tools import empty_cuda
from tools.imports import LINKED, SITE, SLOW, told
from tools.neighbour_table import FORCED, HOSTS, MODULES, NEIGHBOURS, Neighbour

OUT = Path(__file__).parents[1] / "src/gpuwhy/knowledge/data/neighbours.jsonl"
PREFERRED = ("3.11", "3.10", "3.12", "3.9", "3.8", "3.7", "3.13")
UNSATISFIABLE = re.compile(r"unsatisfiable|No solution found|can only|cannot be used")
HOST_WORDS = {
    "jax": r"\bjax",
    "torch": r"\btorch\b|\btriton\b|\bc10\b|_ZN[0-9K]*(?:c10|5torch|2at)",
    "tensorflow": r"tensorflow|\bkeras\b|tf_keras|_ZN\w*10tensorflow",
}
FRAME = re.compile(r'File "([^"]+)", line \d+, in [^\n]+\n\s+([^\n]+)')
SMALL = ("jax",)  # hosts that the disk holds all at once
NO_GPU = re.compile(r"active driver|no NVIDIA driver|no GPU", re.IGNORECASE)  # of this machine, not of the pair
LARGE = {"torch": ("torch", "triton"), "tensorflow": ("tensorflow",)}
Row = dict[str, Any]
Key = tuple[str, str, str, str]


class Done(NamedTuple):
    """How a command ended."""

    stderr_if_failed: str
    code: int


class Pair(NamedTuple):
    """A neighbour's release beside a host's."""

    host: str
    on: str
    package: str
    version: str

    @property
    def key(self) -> Key:
        """What it is known by."""
        return self.package, self.version, self.host, self.on


def main(argv: list[str]) -> int:
    """Try every pair that is not in the file yet."""
    parser = argparse.ArgumentParser(description="Install and import neighbours beside releases of their framework.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", default=",".join(HOSTS))
    parser.add_argument("--packages", default="", help="only these neighbours")
    parser.add_argument("--pythons", type=Path, default=Path.home() / ".pyenv/versions")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/gpuwhy-neighbours"))
    parser.add_argument("--least", type=int, default=9, help="GB that stay free on the disk")
    options = parser.parse_args(argv)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    rows: dict[Key, Row] = {Pair(*(r[f] for f in Pair._fields)).key: r for r in map(json.loads, lines)}
    pythons = {".".join(p.name.split(".")[:2]): p / "bin/python" for p in options.pythons.iterdir()}
    wanted = options.packages.split(",") if options.packages else None
    for host in options.only.split(","):
        mine = [one for one in NEIGHBOURS if one.host == host and (not wanted or one.package in wanted)]
        releases = {one: list(published(one)) for one in mine}
        every = [Host(host, on, pythons, options.scratch, options.least) for on in HOSTS[host]]
        for one in every[: 1 if host in SMALL else None]:
            one.walk(releases, rows, options.out)
        if host in SMALL:
            for neighbour, versions in releases.items():
                for version in versions:
                    halved(every, neighbour, version, rows, options.out)
    return 0


def halved(hosts: list[Host], one: Neighbour, version: str, rows: dict[Key, Row], out: Path) -> None:
    """Between the newest host, where it fails, and the oldest: the newest that it imports beside, by halves."""
    newer, older = 0, len(hosts)
    pair = Pair(hosts[0].host, hosts[0].on, one.package, version)
    if rows.get(pair.key, {}).get("outcome") != "fails":
        return
    while newer + 1 < older:
        middle = (newer + older) // 2
        pair = pair._replace(on=hosts[middle].on)
        row = rows.get(pair.key) or hosts[middle].kept(one, pair, rows, out)
        if row["outcome"] == "fails":
            newer = middle
        else:  # it works, or this host is older than what it states
            older = middle


def published(one: Neighbour) -> Iterator[str]:
    """The newest patch of each minor release, newest first; one in three where a package has patches only."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", one.package], capture_output=True, text=True, timeout=300
    ).stdout
    listed = re.search(r"Available versions: (.*)", said)
    seen: set[tuple[int, ...]] = set()
    for text in listed[1].split(", ") if listed else ():
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        series = (version.major, version.minor, version.micro // 3 if (version.major, version.minor) < (0, 3) else 0)
        if version >= Version(one.since) and not version.is_prerelease and series not in seen:
            seen.add(series)
            yield text


def clean() -> dict[str, str]:
    """This process's variables without those that lead to other packages."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH")}


def save(path: Path, rows: dict[Key, Row]) -> None:
    """The whole table, in order, by a file beside it that takes its place."""
    order = sorted(rows, key=lambda key: (key[2], key[0], Version(key[1]), Version(key[3])))
    beside = path.with_suffix(".new")
    beside.write_text("".join(json.dumps(rows[key]) + "\n" for key in order))
    beside.replace(path)


class Host:
    """One release of a framework, and the environments that are made with it."""

    def __init__(self, host: str, on: str, pythons: dict[str, Path], scratch: Path, least: int) -> None:
        self.host, self.on, self.scratch, self.least = host, on, scratch, least
        known = family({"jax": "jaxlib"}.get(host, host))
        mine = [r for r in (known.rows if known else ()) if r.version == on and r.platform == "linux-x86_64"]
        self.row = mine[0] if mine else None
        fits = [p for p in PREFERRED if p in pythons and self.row and p in self.row.pythons]
        self.version = fits[0] if fits else ""
        self.python = pythons.get(self.version)
        self.folder, self.libraries = scratch / "env", scratch / "stand-ins"

    def walk(self, releases: dict[Neighbour, list[str]], rows: dict[Key, Row], out: Path) -> None:
        """Every neighbour release that was not seen to import beside a newer host."""
        shutil.rmtree(self.libraries, ignore_errors=True)
        worked = {(r["package"], r["version"]) for r in rows.values() if r["outcome"] == "imports" and not r["forced"]}
        waiting = [(one, Pair(self.host, self.on, one.package, v)) for one, every in releases.items() for v in every]
        waiting = [(one, p) for one, p in waiting if (p.package, p.version) not in worked and p.key not in rows]
        if not waiting or self.python is None or self.alone():
            return
        for one, pair in waiting:
            self.kept(one, pair, rows, out)
        for name in LARGE.get(self.host, ()):
            self.run("uv", "cache", "clean", "-q", name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def kept(self, one: Neighbour, pair: Pair, rows: dict[Key, Row], out: Path) -> Row:
        """Try a pair and write it down."""
        self.room()
        rows[pair.key] = row = self.tried(one, pair)
        save(out, rows)
        print(*pair, row["outcome"], row.get("raised", ""), row.get("error", ""), flush=True)
        return row

    def alone(self) -> str:
        """'' where the host imports by itself; only then its neighbours are asked."""
        said = self.install([]) or self.use(f"import {self.host}").stderr_if_failed
        if said:
            print(self.host, self.on, "does not import alone:", said[-300:], flush=True)
        return said

    def room(self) -> None:
        """Wait for nobody: drop the cache where the disk is short."""
        if shutil.disk_usage(self.scratch).free < self.least << 30:
            shutil.rmtree(self.scratch / "cache", ignore_errors=True)

    def tried(self, one: Neighbour, pair: Pair) -> Row:
        """Installed as metadata wants it, or against it, and imported."""
        base = {**pair._asdict(), "python": self.version, "date": time.strftime("%Y-%m-%d"), "forced": False}
        wanted = [f"{pair.package}=={pair.version}", *one.more]
        said = self.install(wanted)
        if said and UNSATISFIABLE.search(said) and pair.package in FORCED:
            base["forced"] = True
            said = self.install(wanted, force=True)
        if said:
            forbidden = bool(UNSATISFIABLE.search(said))
            return {**base, "outcome": "forbidden" if forbidden else "not installed"}
        done = self.use(one.code)
        if not done.stderr_if_failed:
            return {**base, "outcome": "imports"}
        if done.stderr_if_failed.startswith(SLOW):  # of the machine, not of the pair
            return {**base, "outcome": "not installed"}
        return {**base, "outcome": "fails", **self.blame(pair, done.stderr_if_failed, done.code)}

    def blame(self, pair: Pair, stderr: str, code: int) -> Row:
        """The error, whose file was at work, and whether the host is what it speaks of."""
        error = told(stderr, code)
        there = self.there()
        modules = [m.lower().replace("_", "-") for m in re.findall(r"site-packages/(\w+)", stderr)]
        names = [MODULES.get(m, m) for m in modules]
        others = [n for n in names if n in there and n not in (self.host, "jaxlib")]
        raised = others[-1] if others else pair.package
        last = FRAME.findall(stderr)[-1:]
        spoken = "\n".join([error, *(code for _, code in last)])
        inside = any(f"/site-packages/{one}/" in file for file, _ in last for one in (self.host, "jaxlib"))
        named = inside or re.search(HOST_WORDS[self.host], spoken) is not None
        about = named and not NO_GPU.search(error)
        return {"error": error, "raised": raised, "release": there.get(raised, ""), "about": self.host if about else ""}

    def there(self) -> dict[str, str]:
        """What is installed, by name."""
        found = [p.name.removesuffix(".dist-info").split("-", 1) for p in self.folder.glob(f"{SITE}/*.dist-info")]
        return {name.lower().replace("_", "-").replace(".", "-"): version for name, version in found}

    def install(self, wanted: list[str], force: bool = False) -> str:
        """A new environment with the host and these; '' where that worked."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.scratch.mkdir(parents=True, exist_ok=True)
        names = [f"{self.host}=={self.on}", *([f"jaxlib=={self.on}"] if self.host == "jax" else [])]
        asked = self.row.requires if self.row and isinstance(self.row.requires, dict) else {}
        overrides = empty_cuda.left_out(asked) if self.host == "torch" else ""
        overrides += "".join(f"{name}\n" for name in names) if force else ""
        limits = [row.requirement for row in caps(self.host, self.on)]
        (self.scratch / "overrides.txt").write_text(overrides)
        (self.scratch / "limits.txt").write_text("\n".join(limits) + "\n")
        how = ["--override", str(self.scratch / "overrides.txt"), "-c", str(self.scratch / "limits.txt")]
        said = self.run("uv", "venv", "-q", "--python", str(self.python), str(self.folder))
        into = ("uv", "pip", "install", "-q", "--python", str(self.folder / "bin/python"), "--only-binary", ":all:")
        more = ["packaging", "typing-extensions", "setuptools<81"]  # what is nearly always there, and rarely asked for
        more += ["numpy"] if self.host == "torch" else []
        return said.stderr_if_failed or self.run(*into, *how, *names, *more, *wanted).stderr_if_failed

    def use(self, code: str) -> Done:
        """Run the import."""
        files = [path for one in LINKED.get(self.host, ()) for path in self.folder.glob(f"{SITE}/{one}")]
        if files and not self.libraries.exists():
            empty_cuda.make(files, self.libraries)
        return self.run(str(self.folder / "bin/python"), "-c", code)

    def run(self, *command: str, seconds: int = 400) -> Done:
        """How a command ended."""
        environment = {**clean(), "UV_CACHE_DIR": str(self.scratch / "cache"), "CUDA_VISIBLE_DEVICES": ""}
        environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no workers, which would outlive the import
        if self.libraries.exists():
            environment["LD_LIBRARY_PATH"] = str(self.libraries)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired:
            return Done(f"{SLOW} {seconds} s", 1)
        return Done(done.stderr or f"exit code {done.returncode}" if done.returncode else "", done.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
