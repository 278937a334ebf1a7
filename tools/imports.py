"""Which releases import at all? Installs them with the oldest and the newest dependencies that metadata allows.

    nice python tools/imports.py [--out FILE] [--only torch,jax] [--pythons FOLDER] [--scratch FOLDER] [--again fails]

One line per case: the newest patch of each minor release of a framework, on the oldest and on the newest Python that
it has wheels for (of those installed below --pythons), with `uv pip install --resolution lowest` and `highest`. It is
then imported, and used once on the CPU, in a child process. What fails is tried again with one dependency at a time at
the other end of its range, which names the culprit. Cases that FILE already has are left out, so the tool can be ended
and started again at any time. Every environment is deleted at once.

A build without CUDA of the same release is installed where there is one (the Python part and its compiled NumPy and
protobuf parts are the same); `installed` says which distribution it was. PyTorch has none on the package index: its own
wheel is used, on one Python only. No GPU is needed, and nothing is said about one. CuPy has no
such build and is linked with the driver and with CUDA: empty libraries that answer 0 to every call stand in for those
(`stand_ins` says so), and only what the import does with NumPy and the other packages is seen. PyTorch's own wheel is
taken so too, without NVIDIA's; rows without `stand_ins` had them all.
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
from typing import NamedTuple

from packaging.version import Version

sys.path.insert(0, str(Path(__file__).parents[1]))  # as a script: the tools beside it

from gpuwhy.knowledge.releases import family, has_python, projects
from gpuwhy.knowledge.release import Release
from tools import empty_cuda

OUT = Path(__file__).parents[1] / "src/gpuwhy/knowledge/data/imports.jsonl"
USES = {
    "onnxruntime": "import onnxruntime as o, numpy as n; o.get_available_providers(); "
    "hasattr(o, 'OrtValue') and o.OrtValue.ortvalue_from_numpy(n.ones(2, 'f')).numpy()",
    "jax": "import jax, jax.numpy as n, jax.scipy.linalg; n.ones(2).sum()",
    "tensorflow": "import tensorflow as t; t.constant([1.0]); hasattr(t, 'keras') and t.keras.layers.Dense; "
    "(t.__version__ < '2' or t.constant([1.0]).numpy())",
    "torch": "import torch; torch.ones(2).numpy().sum(); torch.from_numpy(__import__('numpy').ones(2))",
    "cupy": "import cupy; cupy.ndarray",
}
BINARY = ("numpy", "scipy", "h5py", "grpcio", "protobuf", "pandas", "jaxlib", "ml-dtypes", "fastrlock", "tensorstore",
          "pyparsing", "pillow", "markupsafe", "opt-einsum", "libclang", "optree",
          "tensorflow-io-gcs-filesystem")  # fmt: skip
MORE = {"torch": ("numpy",), "onnxruntime": ()}
ENDS = {
    "numpy": ("<2", "<1.24", "<1.20"),
    "protobuf": ("<3.21",),
    "scipy": ("<1.13",),
    "setuptools": ("<81",),
    "keras": ("<3",),
    "ml-dtypes": ("<0.5",),
}
TWINS = {
    "tensorflow": "tensorflow-cpu",
    "tensorflow-gpu": "tensorflow",
    "jaxlib": "jax[cpu]",
    "onnxruntime-gpu": "onnxruntime",
}
SLOW = "no end after"
DRIVER = "libcuda.so.1: cannot open"  # of the machine, not of the release
LACKING = re.compile(r"undefined symbol: _*(?:cu|nv|nccl)")  # of a stand-in
SITE = "lib/python*/site-packages"
LINKED = {"cupy": ("cupy*/**/*.so",), "torch": ("torch/lib/*.so*", "torch/_C*.so")}
FREE = 7 << 30
TRIES = 6


class Case(NamedTuple):
    """One release with one end of its dependencies."""

    framework: str
    version: str
    installed: str
    python: str
    side: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What a case is known by."""
        return self.framework, self.version, self.side


def main(argv: list[str]) -> int:
    """Try every case that is not in the file yet."""
    parser = argparse.ArgumentParser(description="Install and import releases with their oldest and newest needs.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", default=",".join(USES))
    parser.add_argument("--pythons", type=Path, default=Path.home() / ".pyenv/versions")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/gpuwhy-imports"))
    parser.add_argument("--again", default="", help="an outcome whose cases are tried again")
    options = parser.parse_args(argv)
    known = kept(options.out, options.again, options.only.split(","))
    pythons = {".".join(p.name.split(".")[:2]): p / "bin/python" for p in options.pythons.iterdir()}
    every = [case for framework in options.only.split(",") for case in cases(framework, tuple(pythons))]
    for case in sorted(every, key=lambda case: case.side):  # what an installer takes today comes first
        if case.key not in known and has_room(case, options.scratch):
            row = Trial(case, pythons[case.python], options.scratch).row()
            known[case.key] = row
            save(options.out, known)
            print(*case, row["outcome"], row.get("cure", ""), row.get("error", ""), flush=True)
    return 0


def has_room(case: Case, scratch: Path) -> bool:
    """Whether the disk takes a case; PyTorch's own wheel of today unpacks to 2 GB."""
    scratch.mkdir(parents=True, exist_ok=True)
    return case.framework != "torch" or shutil.disk_usage(scratch).free > FREE


def kept(path: Path, again: str, only: list[str]) -> dict[tuple[str, str, str], dict[str, object]]:
    """The rows of earlier runs, without those to try again."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    left = [r for r in rows if r["outcome"] != again or r["framework"] not in only]
    return {(r["framework"], r["version"], r["side"]): r for r in left}


def save(path: Path, rows: dict[tuple[str, str, str], dict[str, object]]) -> None:
    """The whole table, in order, by a file beside it that takes its place."""
    order = sorted(rows, key=lambda key: (key[0], Version(key[1]), key[2]))
    beside = path.with_suffix(".new")
    beside.write_text("".join(json.dumps(rows[key]) + "\n" for key in order))
    beside.replace(path)


def cases(framework: str, pythons: tuple[str, ...]) -> Iterator[Case]:
    """Newest releases first; of each, the oldest Python with the oldest needs, the newest with the newest."""
    for row in newest_patches(framework):
        fitting = sorted((p for p in pythons if has_python(row, p) and Version(p) >= Version("3.6")), key=Version)
        if not fitting:
            continue
        installed = without_cuda(row) if framework != "cupy" else row.name
        low = fitting[-1] if framework == "torch" else fitting[0]
        yield Case(framework, row.version, installed, fitting[-1], "newest")
        yield Case(framework, row.version, installed, low, "oldest")


def newest_patches(framework: str) -> list[Release]:
    """One Linux wheel per minor release; of JAX 0.4, which has 38 patches, one in three."""
    names = {
        "jax": ["jaxlib"],
        "cupy": [n for n in projects() if n.startswith("cupy-cuda")],
        "tensorflow": ["tensorflow", "tensorflow-gpu"],
        "onnxruntime": ["onnxruntime", "onnxruntime-gpu"],
    }
    best: dict[str, Release] = {}
    for name in names.get(framework, [framework]):
        known = family(name)
        for row in known.rows if known else ():
            version = Version(row.version)
            if row.platform != "linux-x86_64" or row.yanked or row.gone or version.is_prerelease:
                continue
            series = f"{version.major}.{version.minor}"
            series += f".{version.micro // 3}" if framework == "jax" and series == "0.4" else ""
            if series not in best or Version(best[series].version) <= version:
                best[series] = row
    return sorted(best.values(), key=lambda row: Version(row.version), reverse=True)


def without_cuda(row: Release) -> str:
    """The distribution of the same release without CUDA; the release itself where there is none."""
    twin = TWINS.get(row.name, row.name)
    known = family(twin)
    exists = known and any(r.version == row.version and r.platform == row.platform for r in known.rows)
    return twin if exists or row.name == "jaxlib" else row.name


class Trial:
    """One environment: installed, imported, deleted."""

    def __init__(self, case: Case, python: Path, scratch: Path) -> None:
        self.case, self.python, self.scratch = case, python, scratch
        self.folder = scratch / "env"
        self.libraries = self.folder / "stand-ins"
        self.passed: list[str] = []  # the packages that the last traceback went through, the last one first

    def row(self) -> dict[str, object]:
        """What came of it."""
        started = time.monotonic()
        try:
            self.room()
            out = self.tried()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return {
            **self.case._asdict(),
            "date": time.strftime("%Y-%m-%d"),
            **out,
            "seconds": round(time.monotonic() - started),
        }

    def room(self) -> None:
        """Empty our own cache when the disk is short or the cache large."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        cache = self.scratch / "cache"
        size = (
            sum(f.stat().st_size for f in cache.rglob("*") if f.is_file() and not f.is_symlink())
            if cache.exists()
            else 0
        )
        if shutil.disk_usage(self.scratch).free < FREE or size > (2 << 30):
            shutil.rmtree(cache, ignore_errors=True)

    def tried(self) -> dict[str, object]:
        """Install and import."""
        said = self.run("uv", "venv", "-q", "--python", str(self.python), str(self.folder))
        more = MORE.get(self.case.framework, ())
        said = said or self.install(f"{self.case.installed}=={self.case.version}", *more)
        if said:
            return {"outcome": "not installed", "error": said}
        stands = {"stand_ins": True} if self.case.framework in LINKED and self.stand_in() else {}
        failed = self.use()
        beside = self.beside()
        if not failed:
            return {"outcome": "imports", "beside": beside, **stands}
        if failed.startswith(SLOW) or DRIVER in failed or LACKING.search(failed):  # not of the release
            return {"outcome": "not installed", "error": failed}
        return {"outcome": "fails", "error": failed, "beside": beside, **stands, **self.cure(failed, beside)}

    def stand_in(self) -> bool:
        """Empty libraries for every one of CUDA that the wheel's own are linked with."""
        files = [path for one in LINKED[self.case.framework] for path in self.folder.glob(f"{SITE}/{one}")]
        return empty_cuda.make(files, self.libraries)

    def install(self, *wanted: str, deps: bool = True) -> str:
        """Wheels alone, if the release can be had so; else sources of small packages too."""
        ends = "lowest" if self.case.side == "oldest" else "highest"
        how = ["--resolution", ends, *self.without_nvidia()] if deps else ["--no-deps", "-U"]
        some = [word for name in BINARY for word in ("--only-binary", name)]
        for binary in (["--only-binary", ":all:"], some):
            into = ("uv", "pip", "install", "-q", "--python", str(self.folder / "bin/python"))
            said = self.run(*into, *how, *binary, *wanted)
            if not said:
                return ""
        return said

    def without_nvidia(self) -> list[str]:
        """PyTorch's own wheel without the gigabytes that it asks for."""
        rows = [row for row in newest_patches("torch") if row.version == self.case.version]
        asked = rows[0].requires if rows and self.case.framework == "torch" else None
        if not isinstance(asked, dict):
            return []
        overrides = self.scratch / "overrides.txt"
        overrides.write_text(empty_cuda.left_out(asked))
        return ["--override", str(overrides)]

    def use(self) -> str:
        """Import it and use it once; '' where that ends well."""
        return self.run(str(self.folder / "bin/python"), "-c", USES[self.case.framework])

    def beside(self) -> dict[str, str]:
        """What is installed, without NVIDIA's wheels."""
        names = [p.name.removesuffix(".dist-info") for p in self.folder.glob("lib/python*/site-packages/*.dist-info")]
        found = dict(name.split("-", 1) for name in names)
        return {k.lower().replace("_", "-"): v for k, v in sorted(found.items()) if not k.startswith("nvidia")}

    def cure(self, error: str, beside: dict[str, str]) -> dict[str, str]:
        """The dependencies that must not stand at this end of their range, or that are not there at all.

        A move that changes the error is kept, and the next one is looked for.
        """
        there = {"setuptools": "", **beside} if "pkg_resources" in error else beside
        culprits: list[str] = []
        cures: list[str] = []
        tried: list[str] = []
        while len(tried) < TRIES and (suspects := self.suspects(error, there, tried)):
            tried.append(suspects[0])
            said, cure = self.moved(suspects[0], there[suspects[0]], error)
            if not cure:
                continue
            culprits.append(f"{suspects[0]} {there[suspects[0]]}" if there[suspects[0]] else f"no {suspects[0]}")
            cures.append(cure)
            if not said:
                return {"culprit": ", ".join(culprits), "cure": " ".join(cures)}
            error = said
        return {}

    def suspects(self, error: str, there: dict[str, str], tried: list[str]) -> list[str]:
        """What the last traceback went through first, then what its error names."""
        passed = self.passed
        order = sorted(there, key=lambda n: (n not in passed, n.replace("-", "_") not in error.lower(), n not in ENDS))
        return [n for n in order if n not in (self.case.installed, "jaxlib", "torch", *tried)]

    def moved(self, name: str, was: str, error: str) -> tuple[str, str]:
        """The next error and the move that led there; no move where none changes anything."""
        newest = self.case.side == "newest" or not was
        for other in [f"{name}{end}" for end in ENDS.get(name, ())] if newest else [name]:
            if self.install(other, deps=False) or self.beside().get(name, "") == was:
                continue
            said = self.use()
            if said != error:
                return said, other if newest else f"{name} {self.beside().get(name, '')}"
        if was:
            self.install(f"{name}=={was}", deps=False)
        return error, ""

    def run(self, *command: str, seconds: int = 600) -> str:
        """'' where it ended well, else the last line that says why."""
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH")}
        environment = {**clean, "UV_CACHE_DIR": str(self.scratch / "cache"), "CUDA_VISIBLE_DEVICES": ""}
        if self.libraries.exists():
            environment["LD_LIBRARY_PATH"] = str(self.libraries)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired:
            return f"{SLOW} {seconds} s"
        self.passed = [m.lower().replace("_", "-") for m in re.findall(r"site-packages/(\w+)", done.stderr)][::-1]
        if done.returncode and DRIVER in done.stderr:
            return DRIVER
        if done.returncode == 0 and not re.search(r"_ARRAY_API not found|Failed to initialize NumPy", done.stderr):
            return ""
        return told(done.stderr, done.returncode)


def told(stderr: str, code: int) -> str:
    """The line of an error that names it; a signal where there is none."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Warning)\b|error:", line)]
    line = re.sub(r"/[^\s'\"()]*(?=/lib/python)", "PYTHON", (named or lines or [""])[-1])  # no path of this machine
    return f"signal {-code}: {line}"[:300] if code < 0 else line[:300]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
