"""`python -m tools.variables.flags LAB`: XLA's flags with type and default, told by each release of jaxlib itself.

Every release is installed (uv) into a folder of its own below LAB, asked with a flag of a wrong value, which ends it
with the table, and removed. LAB/python is an environment with numpy 1.26, scipy, ml_dtypes and opt_einsum that they
share, LAB/python-new one with the newest of them. TensorFlow environments LAB/env-tf* are asked too. The answers are
kept in LAB/flags.json, so that a second run asks only the rest.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from tools.variables.__main__ import DATA
from tools.variables.rows import encoded

RELEASES = (
    "0.4.20",
    "0.4.26",
    "0.4.30",
    "0.4.34",
    "0.4.38",
    "0.5.3",
    "0.6.2",
    "0.7.2",
    "0.8.2",
    "0.9.2",
    "0.10.2",
    "0.11.2",
    "0.12.0.1",
)
_FLAG = re.compile(r"^\s*--(\w+)=(.*?)\s*\t(bool|int32|int64|string|float|double|uint64|\w+)\t", re.MULTILINE)
WRONG = "--xla_backend_optimization_level=x"
"""A value that no release takes: each then ends with its usage text."""
_JAX = "import jax; print(jax.jit(lambda x: x + 1)(1.0))"
_TF_VARIABLES = {"tensorflow": {"XLA_FLAGS": WRONG}, "tf_xla": {"TF_XLA_FLAGS": "--tf_xla_auto_jit=x"}}
_TF = "import tensorflow as tf; print(tf.function(lambda x: x * 2, jit_compile=True)(1.0))"


def main() -> int:
    """Ask every release that has not answered yet, and write the table."""
    lab = Path(sys.argv[1]).absolute()
    kept = lab / "flags.json"
    told: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    for release in RELEASES:
        if release not in told.setdefault("jaxlib", {}):
            told["jaxlib"][release] = _of_jaxlib(lab, release)
            kept.write_text(json.dumps(told))
    for python in sorted(lab.glob("env-tf*/bin/python")):
        release = _asked(python, {}, "from importlib.metadata import version as v; print(v('tensorflow-cpu'))").strip()
        for family, variables in _TF_VARIABLES.items():
            if release not in told.setdefault(family, {}):
                told[family][release] = _table(_asked(python, variables, _TF))
                kept.write_text(json.dumps(told))
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"families": {}, "variables": {}}
    data["flags"] = {family: _rows(answers) for family, answers in sorted(told.items())}
    DATA.write_text(encoded(data), encoding="utf-8")
    return 0


def _of_jaxlib(lab: Path, release: str) -> dict[str, list[str]]:
    shared = "python" if Version(release) < Version("0.8") else "python-new"
    python, folder = lab / shared / "bin" / "python", lab / "jaxlib"
    shutil.rmtree(folder, ignore_errors=True)
    command = [
        "uv",
        "pip",
        "install",
        "-q",
        "--no-cache",
        "--no-deps",
        "--python",
        str(python),
        "--target",
        str(folder),
        f"jaxlib=={release}",
        f"jax=={release}",
    ]
    subprocess.run(command, check=True, timeout=600)
    try:
        return _table(_asked(python, {"XLA_FLAGS": WRONG, "PYTHONPATH": str(folder)}, _JAX))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _asked(python: Path, variables: dict[str, str], program: str) -> str:
    base = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LD_PRELOAD": str(_preloaded())}
    done = subprocess.run(
        [str(python), "-c", program], env={**base, **variables}, capture_output=True, timeout=300, check=False
    )  # fmt: skip
    return (done.stdout + done.stderr).decode("utf-8", "replace")


@cache
def _preloaded() -> Path:
    """usage.c, compiled."""
    made = Path(tempfile.mkdtemp()) / "usage.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(Path(__file__).with_name("usage.c"))], check=True
    )
    return made


def _table(text: str) -> dict[str, list[str]]:
    found = {name: [kind, default.strip('"')] for name, default, kind in _FLAG.findall(text)}
    print(f"{len(found)} flags; {'' if found else text[-300:]}", file=sys.stderr)
    return found


def _rows(answers: dict[str, dict[str, list[str]]]) -> dict[str, Any]:
    """Flag → [releases as 0 and 1, type, default], the newest release that has it telling the last two."""
    releases = sorted((r for r, flags in answers.items() if flags), key=Version)
    names = sorted({name for r in releases for name in answers[r]})
    rows = {}
    for name in names:
        newest = next(r for r in reversed(releases) if name in answers[r])
        rows[name] = ["".join("01"[name in answers[r]] for r in releases), *answers[newest][name]]
    return {"releases": releases, "flags": rows}


if __name__ == "__main__":
    sys.exit(main())
