"""The machine we run on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from gpuwhy.host.alias import Alias
from gpuwhy.host.base import Host, Output, Uname
from gpuwhy.host.files import Files
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown

STEERING = re.compile(
    r"(CUDA|CUDNN|NVIDIA|NVCC|NCCL|XLA|TF|PYTORCH|TORCH|JAX|CUPY|ORT|TRITON|NUMBA|PADDLE|MXNET|TENSORRT|TRT|HSA|ROCR)(_|$)"
    r"|(LD_LIBRARY_PATH|LD_PRELOAD|LD_AUDIT|LD_DEBUG|LD_BIND_NOW|PATH|PYTHONPATH|PYTHONHOME|PYTHONNOUSERSITE|VIRTUAL_ENV"
    r"|CONDA_PREFIX|CONDA_DEFAULT_ENV|UV_PROJECT_ENVIRONMENT|KUBERNETES_SERVICE_HOST|container|SINGULARITY_NAME"
    r"|APPTAINER_NAME|WSL_DISTRO_NAME|WSL_INTEROP|SLURM_JOB_GPUS|SLURM_STEP_GPUS|GPU_DEVICE_ORDINAL|HIP_VISIBLE_DEVICES"
    r"|OMP_NUM_THREADS|PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION|MPLBACKEND|LOCAL_RANK|RANK|WORLD_SIZE)$"
)
"""Variables that may be read at all; everything else in the environment stays unseen."""

_SECRET = re.compile(
    r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH|^TF_(VAR|CLI|DATA_DIR|LOG|PLUGIN|WORKSPACE|CONFIG|INPUT|REGISTRY|TOKEN)"
    r"|COORDINATOR_ADDRESS|COMM_ID|SOCKET_IFNAME",
    re.IGNORECASE,
)
"""Names never read, although they look like ours: secrets, Terraform's variables, addresses of other machines."""

_KERNEL = re.compile(
    r"NVRM|Xid|nvidia|nouveau|nvlink|NVSwitch|oom-kill|Out of memory|pcieport.*(AER|error)", re.IGNORECASE
)
_ONLY_SET = frozenset(
    {"KUBERNETES_SERVICE_HOST", "WSL_INTEROP", "WSL_DISTRO_NAME", "SINGULARITY_NAME", "APPTAINER_NAME"}
)

CALL_SECONDS = 8.0
RUN_SECONDS = 5.0


class LiveHost(Host):
    """Answers from the running system; calls into libraries and commands happen in child processes."""

    def __init__(self, environ: dict[str, str] | None = None, alias: Alias | None = None) -> None:
        self._environ = dict(os.environ) if environ is None else environ
        user = self._environ.get("USER") or self._environ.get("LOGNAME") or ""
        self.alias = alias or Alias(self._environ.get("HOME") or os.path.expanduser("~"), user)
        self._files = Files(self.alias, self.alias.path)
        self._python_of_ours = sys.executable or "python3"

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Dispatch to the file questions or to a method of this class."""
        answer = self._environ_answer if op == "environ" else getattr(self, f"_{op}", None) or getattr(self._files, op)
        fact: Fact[Any] = answer(*args)
        return fact

    def hide(self, text: str) -> str:
        """See Host.hide."""
        return self.alias.hide(text)

    def _real(self, path: str) -> Fact[str]:
        try:
            found = os.path.realpath(self.alias.path(path), strict=True)
        except (FileNotFoundError, NotADirectoryError):
            return Absent(Source("file", path))
        except (OSError, ValueError) as error:
            return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")
        return Known(self.alias.hide(found), Source("file", path))

    def _environ_answer(self) -> Fact[dict[str, str]]:
        kept = {}
        for name, value in sorted(self._environ.items()):
            if STEERING.match(name) and not _SECRET.search(name):
                kept[name] = "set" if name in _ONLY_SET else self.alias.hide(value)
        return Known(kept, Source("env", "environment", "the variables that steer the GPU stack"))

    def _uname(self) -> Fact[Uname]:
        u = os.uname()
        return Known(Uname(u.sysname.lower(), u.release, u.machine), Source("call", "uname"))

    def _limit(self, name: str) -> Fact[int]:
        import resource

        soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        return Known(-1 if soft == resource.RLIM_INFINITY else soft, Source("call", f"getrlimit(RLIMIT_{name})"))

    def _now(self) -> Fact[float]:
        return Known(round(time.time(), 1), Source("call", "clock"))

    def _kernel_log(self) -> Fact[tuple[str, ...]]:
        said = self._run("dmesg")
        if not isinstance(said, Known):
            return said
        if said.value.code != 0:
            why = said.value.err.strip().splitlines()[-1:] or ["no reason given"]
            return Unknown(f"kernel log: {why[0]}", "sudo dmesg | gpuwhy explain")
        lines = [self.alias.hide(line) for line in said.value.out.splitlines() if _KERNEL.search(line)]
        return Known(tuple(lines[-400:]), Source("command", "dmesg"))

    def _call(self, child: str, *args: str) -> Fact[tuple[dict[str, Any], ...]]:
        return self._child([self._python_of_ours, "-I", "-S"], child, args, child)

    def _python(self, path: str, child: str, *args: str) -> Fact[tuple[dict[str, Any], ...]]:
        """Without -I or -E, so that the child sees what the user's own run would see; -B: it leaves no files."""
        return self._child([self.alias.path(path), "-B"], child, args, path)

    def _child(
        self, python: list[str], child: str, args: tuple[str, ...], name: str
    ) -> Fact[tuple[dict[str, Any], ...]]:
        script = Path(__file__).with_name("children") / f"{child}.py"
        source = Source("call", name, " ".join(args))
        argv = [*python, str(script), *(self.alias.path(a) for a in args), *_libraries(child)]
        try:
            code, out, err = _collect(argv, CALL_SECONDS, self._environ)
        except (OSError, ValueError) as error:
            return Unknown(f"{name}: cannot be started: {getattr(error, 'strerror', None) or error}")
        said = [self._shown(line) for line in out.splitlines() if line.startswith("{")]
        if code == 0:
            return Known(tuple(said), source)
        end = (
            "ran out of time" if code is None else f"died by signal {-code}" if code < 0 else f"ended with code {code}"
        )
        tail = f": {self.alias.hide(err.strip().splitlines()[-1])}" if err.strip() else ""
        if said:
            return Known((*said, {"ended": f"{name} {end}{tail}"}), source)
        return Unknown(f"{name}: {end}{tail}")

    def _shown(self, line: str) -> dict[str, Any]:
        try:
            value = self._hidden(json.loads(line))
        except (ValueError, RecursionError):
            return {"garbled": self.alias.hide(line[:200])}
        return value if isinstance(value, dict) else {}

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.alias.hide(value)
        if isinstance(value, dict):
            return {self.alias.hide(k): self._hidden(v) for k, v in value.items()}
        return [self._hidden(v) for v in value] if isinstance(value, list) else value

    def _run(self, *argv: str) -> Fact[Output]:
        source = Source("command", " ".join(argv))
        try:
            code, out, err = _collect([self.alias.path(a) for a in argv], RUN_SECONDS, self._environ)
        except FileNotFoundError:
            return Absent(source)
        except OSError as error:
            return Unknown(f"{argv[0]}: {error.strerror}")
        if code is None:
            return Unknown(f"{' '.join(argv)}: no answer within {RUN_SECONDS:g} s")
        return Known(Output(code, self.alias.hide(out), self.alias.hide(err)), source)


def _libraries(child: str) -> tuple[str, ...]:
    """The folder of the one library a child needs from our own environment, found without importing it."""
    if child != "nvml":
        return ()
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec("pynvml")
    if found is None or not found.origin:
        return ()
    folder = Path(found.origin).parent
    return (str(folder.parent if found.submodule_search_locations else folder),)


def _collect(argv: list[str], seconds: float, environ: dict[str, str]) -> tuple[int | None, str, str]:
    """Run a command; return its code (None when it had to be killed) and what it printed until then."""
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        start_new_session=True,
    ) as child:
        try:
            out, err = child.communicate(timeout=seconds)
            code: int | None = child.returncode
        except subprocess.TimeoutExpired as late:
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)  # its own children too
            code, out, err = None, late.stdout or b"", late.stderr or b""
            try:
                out, err = child.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:  # stuck in the kernel: leave it, keep what came
                child.stdout = child.stderr = None
                child.returncode = -9
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
