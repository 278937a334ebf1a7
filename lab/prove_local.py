"""`gpuwhy prove` without a GPU: real frameworks in broken environments, the truth known by construction.

    python -m lab.prove_local --environment FOLDER --out OUT [--jobs 2] [NAME…]

FOLDER is a virtual environment with jax, numpy, scipy and onnxruntime (`uv pip install jax scipy onnxruntime`); it is copied
by hard links for faults of packages, and never touched. `tests/proving/test_real.py` judges the same table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lab.prove_cases import BAD_MODULE, LIMIT, LOGIN, SETTING, SHADOW, Case
from lab.prove_faults import _verdict, summary

NUMPY = "import numpy as np\nprint('ok', np.linalg.svd(np.ones((40, 40)))[1][0])\n"
SCIPY = "import scipy.linalg, numpy as np\nprint('ok', scipy.linalg.det(np.eye(4)))\n"
ORT = "import onnxruntime as o\nprint('ok', o.get_available_providers())\n"
JAX = "import jax.numpy as jnp\nprint('ok', float((jnp.ones((8, 8)) @ jnp.ones((8, 8))).sum()))\n"
PROGRAMS = {
    "numpy": NUMPY, "scipy": SCIPY, "ort": ORT, "jax": JAX,
    "warns": "import warnings\nwarnings.warn('old', DeprecationWarning)\n" + NUMPY,
    "helped": "import helper_of_mine\n" + NUMPY,
    "saves": "import numpy as np, tempfile, os\nwith tempfile.TemporaryDirectory(dir='.') as d: np.save(os.path.join(d, 'x'), np.ones(200000))\nprint('ok')\n",
    "temporary": "import numpy as np, os\nf = os.environ.get('TMPDIR', '/tmp') + '/x%d.npy' % os.getpid()\nnp.save(f, np.ones(3)); os.unlink(f); print('ok')\n",
    "opens": "x = [open('/dev/null') for _ in range(60)]\n" + ORT,
    "burns": NUMPY + "import time\nwhile time.process_time() < 3: pass\n",
    "prints": NUMPY + "print('größer')\n",
    "threads": "import threading, time\nt = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(4)]\n[x.start() for x in t]\n" + NUMPY,
    "version": "from importlib.metadata import version\nprint(version('jax'))\n",
    "key": "import numpy\nprint({}['missing'])\n",
    "shape": "import numpy as np\nprint(np.ones((3, 4)) @ np.ones((5, 6)))\n",
    "float": "import numpy as np\nprint(np.float(3))\n",
    "flaky": "import random, numpy\nif random.random() < 0.7: raise RuntimeError('bad day')\n",
    "asks": "import numpy\nprint(input('go on? '))\n",
    "daemon": "import os, time, numpy\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(300)\n    os._exit(0)\nraise RuntimeError('left something behind')\n",
    "hangs": "import os, time, numpy\nif os.environ.get('WAIT_FOR_PEER'): time.sleep(600)\nprint('ok')\n",
    "fills": "import os, numpy\nx = open(os.path.join(os.environ.get('SCRATCH_DIR', '/tmp'), 'big%d' % os.getpid()), 'wb')\ntry:\n    for _ in range(40): x.write(bytes(1 << 20)); x.flush()\nfinally: os.unlink(x.name)\nprint('ok')\n",
}  # fmt: skip
INCONSISTENT = ("install.inconsistent", "framework.extension_abi", "other.not_gpu")
CORRUPTED = ("install.corrupted", "install.inconsistent", "cuda.missing_library")
GONE = ("install.inconsistent", "install.corrupted", "other.not_gpu")
INSTALLERS = ("UV_", "PIP_", "SSL_", "REQUESTS_", "CURL_", "HTTP", "http", "NO_PROXY", "no_proxy")
"""What an installer needs to reach its index."""
S = "$E/lib/python3*/site-packages"


def bad(path: str, text: str = "raise RuntimeError(1)") -> str:
    """Shell that writes a file anew: never through a hard link."""
    return f"F=$(ls {path} | head -1) && rm $F && echo '{text}' > $F"


def cut(path: str) -> str:
    """Shell that leaves the first half of a file."""
    return f"F=$(ls {path} | head -1) && head -c $(( $(stat -c %s $F) / 2 )) $F > $F.new && rm $F && mv $F.new $F"


CASES: dict[str, Case] = {
    # ------------------------------------------------------------ variables
    "flag": Case("jax", ("unset XLA_FLAGS",), SETTING, {"XLA_FLAGS": "--xla_nonsense=1"}),
    "one-flag-of-three": Case("jax", ("drop XLA_FLAGS --xla_no_such",), SETTING, {"XLA_FLAGS": "--xla_cpu_enable_fast_math=false --xla_no_such_flag=1 --xla_dump_max_hlo_modules=1"}),
    "flag-value": Case("jax", ("unset XLA_FLAGS",), SETTING, {"XLA_FLAGS": "--xla_force_host_platform_device_count=many"}),
    "platform-cuda": Case("jax", ("unset JAX_PLATFORMS",), (*SETTING, "framework.cpu_only", "driver.missing"), {"JAX_PLATFORMS": "cuda"}),
    "platform-typo": Case("jax", ("unset JAX_PLATFORMS",), SETTING, {"JAX_PLATFORMS": "cpuu"}),
    "x64": Case("jax", ("unset JAX_ENABLE_X64",), SETTING, {"JAX_ENABLE_X64": "maybe"}),
    "precision": Case("jax", ("unset JAX_DEFAULT_MATMUL_PRECISION",), SETTING, {"JAX_DEFAULT_MATMUL_PRECISION": "exact"}),
    "cpu-devices": Case("jax", ("unset JAX_NUM_CPU_DEVICES",), SETTING, {"JAX_NUM_CPU_DEVICES": "many"}),
    "nans": Case("jax", ("unset JAX_DEBUG_NANS",), SETTING, {"JAX_DEBUG_NANS": "perhaps"}),
    "malloc": Case("numpy", ("unset PYTHONMALLOC",), SETTING, {"PYTHONMALLOC": "bad"}),
    "hash-seed": Case("numpy", ("unset PYTHONHASHSEED",), SETTING, {"PYTHONHASHSEED": "abc"}),
    "warnings": Case("warns", ("unset PYTHONWARNINGS",), SETTING, {"PYTHONWARNINGS": "error"}),
    "one-warning-of-two": Case("warns", ("drop PYTHONWARNINGS error",), SETTING, {"PYTHONWARNINGS": "ignore::UserWarning,error::DeprecationWarning"}),
    "encoding": Case("prints", ("unset PYTHONIOENCODING",), SETTING, {"PYTHONIOENCODING": "ascii"}),
    "home": Case("numpy", ("unset PYTHONHOME",), ("env.path", *SETTING), {"PYTHONHOME": "/nowhere"}),
    "platlib": Case("numpy", ("unset PYTHONPLATLIBDIR",), ("env.path", *SETTING), {"PYTHONPLATLIBDIR": "nolib"}),
    "safe-path": Case("helped", ("unset PYTHONSAFEPATH",), (*SETTING, *SHADOW, "env.path"), {"PYTHONSAFEPATH": "1"}, files={"helper_of_mine.py": "X = 1\n"}),
    "two-variables": Case("jax", ("unset XLA_FLAGS", "unset JAX_ENABLE_X64"), SETTING, {"XLA_FLAGS": "--xla_nonsense=1", "JAX_ENABLE_X64": "maybe"}),
    "three-variables": Case("jax", ("unset XLA_FLAGS", "unset JAX_ENABLE_X64", "unset PYTHONHASHSEED"), SETTING, {"XLA_FLAGS": "--xla_nonsense=1", "JAX_ENABLE_X64": "maybe", "PYTHONHASHSEED": "abc"}),
    # ------------------------------------------------------------ modules that stand in for others
    "numpy-beside": Case("numpy", ("hide numpy.py",), SHADOW, files={"numpy.py": BAD_MODULE}),
    "random-beside": Case("saves", ("hide random.py",), SHADOW, files={"random.py": "def seed(): pass\n"}),
    "types-beside": Case("scipy", ("hide types.py",), SHADOW, files={"types.py": "x = 1\n"}),
    "typing-beside": Case("ort", ("hide typing.py",), SHADOW, files={"typing.py": "x = 1\n"}),
    "scipy-folder-beside": Case("scipy", ("hide scipy",), SHADOW, files={"scipy/__init__.py": ""}),
    "two-beside": Case("scipy", ("hide scipy.py", "hide types.py"), SHADOW, files={"scipy.py": "", "types.py": "x = 1\n"}),
    "python-path": Case("numpy", ("unset PYTHONPATH",), SHADOW, {"PYTHONPATH": "$D/b"}, files={"b/numpy/__init__.py": BAD_MODULE}),
    "python-path-one-of-three": Case("scipy", ("drop PYTHONPATH $D/b",), SHADOW, {"PYTHONPATH": "$D/a:$D/b:$D/c"}, files={"b/scipy/__init__.py": BAD_MODULE, "a/mine.py": "", "c/mine.py": ""}),
    "python-path-needed-and-bad": Case("helped", ("drop PYTHONPATH $D/b",), SHADOW, {"PYTHONPATH": "$D/a:$D/b"}, files={"b/numpy/__init__.py": BAD_MODULE, "a/helper_of_mine.py": ""}),
    "module-of-the-working-folder": Case("-c", ("hide numpy.py",), SHADOW, files={"numpy.py": BAD_MODULE}),
    # ------------------------------------------------------------ libraries
    "preloaded": Case("threads", ("unset LD_PRELOAD",), ("env.path", "cuda.mixed_libraries", *SETTING, "env.limit"), {"LD_PRELOAD": "$D/shim.so"},
                      files={"shim.c": "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n__attribute__((constructor)) static void f(void) { char b[4096] = {0}; FILE* c = fopen(\"/proc/self/cmdline\", \"r\"); size_t n = fread(b, 1, 4095, c); for (size_t i = 0; i < n; ++i) if (!b[i]) b[i] = 32; if (strstr(b, \"main.py\") && !strstr(b, \"gpuwhy\")) { fprintf(stderr, \"shim: no\\n\"); abort(); } }\n"}, setup="gcc -shared -fPIC -o shim.so shim.c"),
    "library-path-text": Case("ort", ("drop LD_LIBRARY_PATH $D",), ("env.path", "cuda.mixed_libraries", "install.corrupted", "framework.extension_abi"),
                              {"LD_LIBRARY_PATH": "/usr/lib:$D:/opt/lib"}, setup="echo text > libstdc++.so.6"),
    "library-path-empty": Case("scipy", ("unset LD_LIBRARY_PATH",), ("env.path", "cuda.mixed_libraries", "install.corrupted", "framework.extension_abi"),
                               {"LD_LIBRARY_PATH": "$D"}, setup=": > libstdc++.so.6; : > libgcc_s.so.1"),
    # ------------------------------------------------------------ limits and places
    "address-space": Case("numpy", ("limit as",), LIMIT, limit="ulimit -S -v 120000"),
    "address-space-jax": Case("jax", ("limit as",), LIMIT, limit="ulimit -S -v 900000"),
    "open-files": Case("opens", ("limit nofile",), LIMIT, limit="ulimit -S -n 40"),
    "file-size": Case("saves", ("limit fsize",), LIMIT, limit="ulimit -S -f 500"),
    "cpu-time": Case("burns", ("limit cpu",), LIMIT, limit="ulimit -S -t 1"),
    "temporary-folder": Case("temporary", ("unset TMPDIR|set TMPDIR",), ("env.limit", *SETTING, "env.path"), {"TMPDIR": "/proc/nowhere"}),
    "full-disk": Case("fills", ("unset SCRATCH_DIR",), (*SETTING, "env.limit"), {"SCRATCH_DIR": "$D/small"}, setup="mkdir small && mount -t tmpfs -o size=8m none small"),
    # ------------------------------------------------------------ packages, in a copy of the environment
    "missing-package": Case("jax", ("package ml-dtypes",), GONE, setup=f"rm -r {S}/ml_dtypes {S}/ml_dtypes-*", options=("copy",)),
    "missing-numpy": Case("ort", ("package numpy",), GONE, setup=f"rm -r {S}/numpy {S}/numpy-*", options=("copy",)),
    "damaged-module": Case("numpy", ("package numpy",), CORRUPTED, setup=bad(f"{S}/numpy/linalg/_linalg.py"), options=("copy",)),
    "cut-library": Case("scipy", ("package scipy",), CORRUPTED, setup=cut(f"{S}/scipy/linalg/_fblas*.so"), options=("copy",)),
    "library-gone": Case("numpy", ("package numpy",), CORRUPTED, setup=f"rm {S}/numpy.libs/*openblas*", options=("copy",)),
    "metadata-gone": Case("version", ("package jax",), (*CORRUPTED, *GONE), setup=f"rm -r {S}/jax-*.dist-info", options=("copy",)),
    "old-jaxlib": Case("jax", ("package jaxlib",), INCONSISTENT, setup="uv pip install -q --no-deps --python $E/bin/python jaxlib==0.6.0", options=("copy",)),
    "old-numpy": Case("jax", ("package numpy",), INCONSISTENT, setup="uv pip install -q --no-deps --python $E/bin/python numpy==1.25.2", options=("copy",)),
    "old-ml-dtypes": Case("jax", ("package ml-dtypes",), INCONSISTENT, setup="uv pip install -q --no-deps --python $E/bin/python ml-dtypes==0.3.2", options=("copy",)),
    "foreign-file": Case("numpy", ("package numpy",), (*CORRUPTED, *SHADOW), setup=bad(f"{S}/numpy/lib/__init__.py", "import no_such_module"), options=("copy",)),
    # ------------------------------------------------------------ nothing to change, flaky, hanging, asking, leaving things
    "key-error": Case("key", (), ()),
    "shape-error": Case("shape", (), ()),
    "flaky": Case("flaky", (), ()),
    "healthy": Case("numpy", (), (), expect="not_failing"),
    "asks": Case("asks", (), ()),
    "daemon": Case("daemon", (), ()),
    "hangs": Case("hangs", ("unset WAIT_FOR_PEER",), SETTING, {"WAIT_FOR_PEER": "1"}, options=("--timeout", "15")),
}  # fmt: skip


class Local:
    """gpuwhy as it is installed for this Python, an environment to break, and a folder to work in."""

    def __init__(self, environment: Path, work: Path) -> None:
        self.environment, self.work = environment.resolve(), work
        work.mkdir(parents=True, exist_ok=True)

    def expand(self, text: str, name: str) -> str:
        """$D and $E in a value."""
        return text.replace("$D", str(self.work / name / "d")).replace("$E", str(self.work / name / "e"))

    def judge(self, name: str, case: Case, seconds: int = 400) -> dict[str, Any]:
        """Make one fault, prove it, compare."""
        folder = self.work / name / "d"
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        python = self._python(name, case)
        command = self._command(case, folder, python)
        started = time.monotonic()
        words = [option for option in case.options if option != "copy"]
        prove = [sys.executable, "-I", "-m", "gpuwhy", "prove", "--json", "--quiet", "--budget", str(seconds), *words]
        prove += [] if "copy" in case.options else ["--no-packages"]
        inner = f'{self.expand(case.setup, name) or ":"} || exit 99\n{case.limit or ":"}\nexec "$@"'
        argv = ["unshare", "--mount", "bash", "-c", inner, "bash", *prove, "--", *command]
        done = subprocess.run(
            argv, capture_output=True, text=True, cwd=folder, env=self._environ(case, name), stdin=subprocess.DEVNULL
        )
        row = {"name": name, "want": case.want, "causes": case.causes, "wall": round(time.monotonic() - started, 1)}
        row |= self._told(case, name, done)
        shutil.rmtree(folder.parent, ignore_errors=True)
        return row

    def _python(self, name: str, case: Case) -> str:
        if "copy" not in case.options:
            return f"{self.environment}/bin/python"
        made = self.work / name / "e"
        subprocess.run(["cp", "-al", str(self.environment), str(made)], check=True)
        return f"{made}/bin/python"

    def _command(self, case: Case, folder: Path, python: str) -> list[str]:
        for file, text in case.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        if case.program == "-c":
            return [python, "-c", NUMPY]
        (folder / "main.py").write_text(PROGRAMS[case.program])
        return [python, str(folder / "main.py")]

    def _environ(self, case: Case, name: str) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME") or key.startswith(INSTALLERS)}
        given = {**LOGIN, "CUDA_HOME": "/usr/local/cuda", **case.environ}
        return {**own, **{key: self.expand(value, name) for key, value in given.items()}}

    def _told(self, case: Case, name: str, done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
        try:
            told = json.loads(done.stdout)
        except ValueError:
            return {"verdict": "no answer", "said": (done.stdout + done.stderr)[-1500:]}
        first = told["causes"][0]["id"] if told["causes"] else ""
        once = sorted(one["seconds"] for one in told["experiments"])
        return {
            "verdict": _verdict(case, told, first, lambda text: self.expand(text, name)), "status": told["status"],
            "headline": told["headline"], "cause": first, "runs": told["runs"], "seconds": told["seconds"],
            "once": once[len(once) // 2] if once else 0, "change": told["change"], "left": told["left"], "notes": told["notes"],
            "ending": told["ending"]["message"][:200],
            "experiments": [[one["change"][:150], one["outcomes"], one["note"]] for one in told["experiments"]],
        }  # fmt: skip


def main() -> int:
    """All of them, or those named."""
    parser = argparse.ArgumentParser(prog="python -m lab.prove_local")
    parser.add_argument("--environment", required=True)
    parser.add_argument("--out", default="prove-local.jsonl")
    parser.add_argument("--work", default="/tmp/prove-local")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    local = Local(Path(options.environment), Path(options.work))
    names = [name for name in CASES if name in options.names or not options.names]
    with open(options.out, "a") as file, ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for row in pool.map(lambda name: local.judge(name, CASES[name]), names):
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
    print(summary(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
