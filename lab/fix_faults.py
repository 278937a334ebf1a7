"""`gpuwhy fix --apply` on a real GPU, without a network: broken copies of an environment, probed before and after.

    sh lab/carry.sh build/carry 3.12
    python3 -m lab.fix_faults --carry build/carry --venv /opt/torch/.venv --out "$OUT" [--only ID …] [--seconds 540]

What a repair has to install comes from wheels that are packed anew from the healthy environment's own files, by their
RECORD; pip takes them from that folder alone (`PIP_NO_INDEX`). The environment itself is never touched: each fault is
made in a copy by hard links, by replacing files, never by writing into them. Judged by programs that compute on the
GPU, not by gpuwhy. One JSON line for each fault in `OUT/fix.jsonl`, what was printed in `OUT/fix-ID.txt`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

TORCH = (
    "import torch; x = torch.randn(8, 3, 32, 32, device='cuda'); "
    "y = torch.nn.Conv2d(3, 8, 3).cuda()(x).sum() + (x.reshape(64, -1) @ x.reshape(64, -1).T).sum(); print(float(y))"
)
JAX = "import jax, jax.numpy as n; assert jax.devices()[0].platform == 'gpu'; print(float((n.ones((64, 64)) @ n.ones((64, 64))).sum()))"
CUPY = "import cupy; a = cupy.ones((64, 64)); print(float((a @ a).sum()))"
CPU = {TORCH: "import torch; print(torch.ones(3).sum())", JAX: "import jax; print(jax.numpy.ones(3).sum())",
       CUPY: "import cupy"}  # fmt: skip


class Fault(NamedTuple):
    """What is done to a copy, what a right diagnosis names, and the program that must run again."""

    id: str
    how: str  # cut, empty, text, remove: a file; uninstall: a distribution; twice: a second metadata folder
    what: str  # a glob below site-packages, or a distribution's name as an expression
    causes: tuple[str, ...]
    works: str


DAMAGED, LACKS = ("install.corrupted",), ("cuda.missing_library", "cudnn.missing", "install.inconsistent")
FAULTS = (
    Fault("cublaslt-cut", "cut", "nvidia/*/lib/libcublasLt.so.*", DAMAGED, TORCH),
    Fault("cudnn-part-empty", "empty", "nvidia/cudnn/lib/libcudnn_engines_precompiled.so.*", DAMAGED, TORCH),
    Fault("cudnn-graph-removed", "remove", "nvidia/cudnn/lib/libcudnn_graph.so.*", DAMAGED, TORCH),
    Fault("nccl-is-text", "text", "nvidia/nccl/lib/libnccl.so.*", DAMAGED, TORCH),
    Fault("no-cufft", "uninstall", r"nvidia-cufft(-cu\d+)?", LACKS, TORCH),
    Fault("no-nvjitlink", "uninstall", r"nvidia-nvjitlink(-cu\d+)?", LACKS, TORCH),
    Fault("cudnn-uninstalled", "uninstall", r"nvidia-cudnn-cu\d+", LACKS, TORCH),
    Fault("torch-version-empty", "empty", "torch/version.py", DAMAGED, TORCH),
    Fault("two-metadata-of-cudnn", "twice", r"nvidia-cudnn-cu\d+", DAMAGED, TORCH),
    Fault("jax-plugin-cut", "cut", "jax_plugins/xla_cuda*/xla_cuda_plugin.so", DAMAGED, JAX),
    Fault("jax-without-pjrt", "uninstall", r"jax-cuda\d+-pjrt", LACKS, JAX),
    Fault("cupy-extension-removed", "remove", "cupy_backends/cuda/libs/cublas*.so", DAMAGED, CUPY),
)


def call(*argv: str, seconds: float = 300, **more: str) -> subprocess.CompletedProcess[str]:
    """Run to the end; both outputs as text, and code 124 where that takes too long."""
    kept = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")}
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=seconds, env={**kept, **more}
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", "took too long")


def site(env: Path) -> Path:
    """Its site-packages."""
    return next((env / "lib").glob("python*")) / "site-packages"


def copy(source: Path, target: Path) -> Path:
    """By hard links where both lie on one file system; else by copying."""
    shutil.rmtree(target, ignore_errors=True)
    if call("cp", "-al", str(source), str(target)).returncode:
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True, timeout=600)
    return target


# ---------------------------------------------------------------- wheels from what is installed


def distributions(env: Path) -> dict[str, Path]:
    """The metadata folders, by name."""
    found = (path for path in site(env).glob("*.dist-info") if (path / "RECORD").exists())
    return {re.sub(r"[-_.]+", "-", path.name.rsplit("-", 2)[0]).lower(): path for path in found}


def packed(metadata: Path, folder: Path) -> Path:
    """A wheel with the files of one distribution, not compressed."""
    name, version = metadata.name.removesuffix(".dist-info").rsplit("-", 1)
    tags = re.findall(r"(?m)^Tag: (\S+)", (metadata / "WHEEL").read_text())
    python, abi, platforms = tags[0].split("-")
    wheel = folder / f"{name}-{version}-{python}-{abi}-{'.'.join(t.split('-')[2] for t in tags) or platforms}.whl"
    if wheel.exists():
        return wheel
    with (metadata / "RECORD").open(newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    own = [row for row in rows if not row[0].startswith(("..", "/")) and "__pycache__" not in row[0]]
    skip = ("INSTALLER", "REQUESTED", "direct_url.json")
    own = [row for row in own if not row[0].endswith(skip) and (metadata.parent / row[0]).is_file()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED, allowZip64=True) as out:
        for row in own:
            if row[0] != f"{metadata.name}/RECORD":
                out.write(metadata.parent / row[0], row[0])
        out.writestr(f"{metadata.name}/RECORD", "".join(f"{','.join(_quoted(row))}\n" for row in own))
    return wheel


def _quoted(row: list[str]) -> list[str]:
    return [f'"{one}"' if "," in one else one for one in row]


# ---------------------------------------------------------------- faults


def broken(env: Path, fault: Fault) -> str:
    """Make the fault; the distribution that has to be installed again, or "" where there is nothing to break."""
    if fault.how in ("uninstall", "twice"):
        name = next((n for n in distributions(env) if re.fullmatch(fault.what, n)), "")
        if name:
            (_uninstalled if fault.how == "uninstall" else _twice)(env, distributions(env)[name])
        return name
    path = next((p for p in sorted(site(env).glob(fault.what)) if p.is_file()), None)
    if path is None:
        return ""
    size = path.stat().st_size
    with path.open("rb") as file:
        data = file.read(min(size // 2, 30 << 20)) if fault.how == "cut" else b""
    path.unlink()
    if fault.how != "remove":
        path.write_bytes(b"no library\n" * 20 if fault.how == "text" else data)
    return owner(env, str(path.relative_to(site(env))))


def owner(env: Path, path: str) -> str:
    """The distribution whose RECORD has a file."""
    return next((n for n, m in distributions(env).items() if f"\n{path}," in "\n" + (m / "RECORD").read_text()), "")


def _uninstalled(env: Path, metadata: Path) -> None:
    with (metadata / "RECORD").open(newline="") as file:
        paths = [metadata.parent / row[0] for row in csv.reader(file) if row and not row[0].startswith("..")]
    for path in paths:
        path.unlink(missing_ok=True)
    shutil.rmtree(metadata, ignore_errors=True)


def _twice(env: Path, metadata: Path) -> None:
    name, _ = metadata.name.removesuffix(".dist-info").rsplit("-", 1)
    second = metadata.with_name(f"{name}-0.0.1.dist-info")
    second.mkdir()
    (second / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.0.1\n")
    (second / "INSTALLER").write_text("pip\n")


# ---------------------------------------------------------------- the lab


class Lab(NamedTuple):
    """Where everything is."""

    healthy: Path
    work: Path
    carry: Path
    out: Path
    program: Callable[[str], str]

    def gpuwhy(self, *argv: str, **more: str) -> tuple[int, dict[str, Any], str]:
        """Exit code, JSON and what was said besides."""
        start = f"import sys; sys.path.append({str(self.carry)!r}); from gpuwhy.__main__ import main; main()"
        done = call(
            sys.executable, "-I", "-c", start, *argv, seconds=400, **more
        )  # PYTHONPATH would be a fault of its own
        try:
            return done.returncode, json.loads(done.stdout), done.stderr
        except json.JSONDecodeError:
            return done.returncode, {}, done.stdout + done.stderr

    def runs(self, env: Path, code: str) -> str:
        """ "" where the program runs in an environment; else its last words."""
        done = call(str(env / "bin/python"), "-c", self.program(code))
        return "" if done.returncode == 0 else f"rc {done.returncode} {done.stderr.strip()[-200:]}"


def score(lab: Lab, fault: Fault) -> dict[str, Any]:
    """Break, repair in place with a probe before and after, judge."""
    start = time.monotonic()
    env = copy(lab.healthy, lab.work / f"env-{fault.id}")
    try:
        needed = broken(env, fault)
        if not needed:
            return {"id": fault.id, "ends": "nothing to break here"}
        wheels = lab.work / "wheels"
        wheels.mkdir(exist_ok=True)
        for name in (needed, *_asked_for(lab.healthy, fault)):
            packed(distributions(lab.healthy)[name], wheels)
        told = _repaired(lab, fault, env, wheels)
        return {"id": fault.id, "package": needed, **told, "seconds": round(time.monotonic() - start, 1)}
    finally:
        shutil.rmtree(env, ignore_errors=True)


def _asked_for(env: Path, fault: Fault) -> list[str]:
    """What a repair names besides: the framework whose requirement brings a lost wheel back."""
    of = {TORCH: r"torch", JAX: r"jax|jaxlib|jax-cuda\d+-(plugin|pjrt)"}.get(fault.works, "")
    return [name for name in distributions(env) if fault.how == "uninstall" and re.fullmatch(of, name)]


def _repaired(lab: Lab, fault: Fault, env: Path, wheels: Path) -> dict[str, Any]:
    before = lab.runs(env, fault.works)
    python = str(env / "bin/python")
    if call(python, "-m", "pip", "--version").returncode:
        call(python, "-m", "ensurepip")
    local = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    apply = ("--apply", "--yes", "--in-place", "--probe", "--installer", "pip")
    _, found, _ = lab.gpuwhy("fix", "--probe", "--json", "--python", str(env))
    steps = found.get("steps", [])
    perhaps = [c for s in steps if not s["sure"] for c in s["causes"] if c in fault.causes][:1]
    only = [] if any(s["sure"] and s["by"] == "gpuwhy" for s in steps) else perhaps
    code, told, said = lab.gpuwhy("fix", *only, *apply, "--json", "--python", str(env), **local)
    after = lab.runs(env, fault.works)
    (lab.out / f"fix-{fault.id}.txt").write_text(json.dumps({"found": found, "told": told}, indent=1) + "\n" + said)
    causes = list(dict.fromkeys(c for step in found.get("steps", []) for c in step["causes"]))
    applied = told.get("applied") or {}
    ends = "verified" if code == 0 and not after else "false" if code == 0 else "failed"
    return {"ends": ends if causes else "silent", "causes": causes, "right": bool(set(causes) & set(fault.causes)),
            "before": before, "after": after, "rc": code, "failed": applied.get("failed", ""),
            "bad": [c for c in applied.get("compared", ()) if c["verdict"] in ("worse", "left")]}  # fmt: skip


def main() -> None:
    """Score the faults, as many as fit into the time."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--carry", type=Path, required=True)
    asked.add_argument("--venv", type=Path, required=True)
    asked.add_argument("--out", type=Path, required=True)
    asked.add_argument("--work", type=Path, default=Path("/tmp/gpuwhy-fix"))
    asked.add_argument("--only", nargs="*", default=[])
    asked.add_argument("--seconds", type=float, default=540)
    asked.add_argument("--cpu", action="store_true", help="try the lab itself where there is no GPU")
    options = asked.parse_args()
    end = time.monotonic() + options.seconds
    options.work.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    healthy = copy(options.venv.resolve(), options.work / "healthy")
    program = (lambda code: CPU[code]) if options.cpu else (lambda code: code)
    lab = Lab(healthy, options.work, options.carry.resolve(), options.out, program)
    for fault in FAULTS:
        if (options.only and fault.id not in options.only) or time.monotonic() > end - 60:
            continue
        try:
            row = score(lab, fault)
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            row = {"id": fault.id, "ends": "lab", "said": str(error)[-300:]}
        with (options.out / "fix.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['ends']:10} {fault.id:24} {row.get('causes')} {row.get('after', '')}", flush=True)
    shutil.rmtree(options.work, ignore_errors=True)


if __name__ == "__main__":
    main()
