"""The machine we run on."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from gpuwhy.border.child import OUT_OF_TIME
from gpuwhy.border.programs import system_program
from gpuwhy.border.shared import machine_name
from gpuwhy.host import windows
from gpuwhy.host.activated import PYTHON, exported, tried
from gpuwhy.host.alias import Alias, accounts, logins
from gpuwhy.host.base import Host, Offline, Output, RegistryKey, SetAtStart, Standing, Uname
from gpuwhy.host.ends import ended
from gpuwhy.host.files import Files
from gpuwhy.host.process import Limits, collect, limits_of, middle_cut
from gpuwhy.model.fact import NOT_TRIED, Absent, Fact, Known, Source, Unknown

STEERING = re.compile(
    r"(CUDA|CUDNN|CUBLAS|CUBLASLT|NVIDIA|NVCC|NCCL|XLA|TF|PYTORCH|TORCH|TORCHINDUCTOR|TORCHDYNAMO|KERAS|JAX|CUPY|ORT|TRITON|NUMBA|PADDLE|MXNET|TENSORRT|TRT|BNB|HSA|ROCR)(_|$)"
    r"|(LD_LIBRARY_PATH|LD_PRELOAD|LD_AUDIT|LD_DEBUG|LD_BIND_NOW|PATH|PYTHONPATH|PYTHONHOME|PYTHONNOUSERSITE|PYTHONUSERBASE|PYTHONSAFEPATH|PYTHONPLATLIBDIR|VIRTUAL_ENV"
    r"|CONDA_PREFIX|CONDA_DEFAULT_ENV|UV_PROJECT_ENVIRONMENT|PYENV_VERSION|KUBERNETES_SERVICE_HOST|container|SINGULARITY_NAME"
    r"|APPTAINER_NAME|WSL_DISTRO_NAME|WSL_INTEROP|SLURM_JOB_GPUS|SLURM_STEP_GPUS|GPU_DEVICE_ORDINAL|HIP_VISIBLE_DEVICES"
    r"|TMPDIR|TEMP|TMP|XDG_CACHE_HOME|MPLCONFIGDIR|HF_HOME|MASTER_PORT|SYSTEMROOT|PROGRAMFILES|PROGRAMDATA|LOCALAPPDATA|NVTOOLSEXT_PATH"
    r"|OMP_NUM_THREADS|PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION|MPLBACKEND|LOCAL_RANK|RANK|WORLD_SIZE|CC|CXX)$"
)
"""Variables that may be read at all; everything else in the environment stays unseen."""

_SECRET = re.compile(
    r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH|^TF_(VAR|CLI|DATA_DIR|LOG|PLUGIN|WORKSPACE|CONFIG|INPUT|REGISTRY|TOKEN)"
    r"|COORDINATOR_ADDRESS|COMM_ID|SOCKET_IFNAME|_PAT$|BEARER|COOKIE|SESSION_ID|_(ORG|TEAM|USER|USERNAME|EMAIL|ACCOUNT|LICENSE)$"
    r"|ENDPOINTS?$|_(ADDR|ADDRESS|HOST|HOSTS|MASTER|URL|URI|PROXY|SERVER|SERVERS|REDIS_\w+|IFNAME|WEBHOOK)$|TRAINER_ENDPOINTS",
    re.IGNORECASE,
)
"""Names never read, although they look like ours: secrets, Terraform's variables, addresses of other machines."""

_KERNEL = re.compile(
    r"NVRM|Xid|nvidia|nouveau|nvlink|NVSwitch|oom-kill|Out of memory|pcieport.*(AER|error)", re.IGNORECASE
)
_ONLY_SET = frozenset(
    {"KUBERNETES_SERVICE_HOST", "WSL_INTEROP", "WSL_DISTRO_NAME", "SINGULARITY_NAME", "APPTAINER_NAME"}
)

_HOST_NAME = re.compile(r"(\bhostname: |\bon this host \()[^\s()]+")
"""Where TensorFlow prints the machine's name."""

_STARTING_OTHERS = ("starts", "imports")
"""Children of our own Python that start the environment's."""
_SYSTEM_PROGRAMS = ("/sbin/modinfo",)

WINDOWS = os.name == "nt"
RUN_SECONDS = 5.0
SAID_BYTES = 48_000
"""How much of what a probed framework printed is kept: the head names the first error, the tail the last."""


def permitted(environ: dict[str, str]) -> dict[str, str]:
    """The variables of an environment that may be read at all."""
    return {
        name: value
        for name, value in sorted(environ.items())
        if STEERING.match(name) and (name in _ONLY_SET or not _SECRET.search(name))
    }


def steering(environ: dict[str, str], alias: Alias) -> dict[str, str]:
    """The variables of an environment that may be read, aliased."""
    given = permitted(environ).items()
    return {
        name: "set" if name in _ONLY_SET else alias.hide(alias.redactor.named(name, value)) for name, value in given
    }


class LiveHost(Host):
    """Answers from the running system; calls into libraries and commands happen in child processes.

    Whatever would run something of the environment under diagnosis is answered NOT_TRIED, unless `runs` allows it.
    """

    def __init__(self, environ: dict[str, str] | None = None, alias: Alias | None = None, runs: bool = False) -> None:
        self._runs = runs  # whether programs of the environment under diagnosis may be started
        self._environ = dict(os.environ) if environ is None else environ
        if WINDOWS:
            self._environ = {name.upper(): value for name, value in self._environ.items()}
        names = logins(self._environ)
        home = self._environ.get("USERPROFILE" if WINDOWS else "HOME") or os.path.expanduser("~")
        self.alias = alias or Alias(home, next(iter(names), ""), machine_name(), (*names, *accounts()))
        self._files = Files(self.alias, self._place)
        self._python_of_ours = sys.executable or "python3"

    def _place(self, path: str) -> str:
        """A path on this machine; one without a drive is another system's, whatever the current drive holds."""
        if WINDOWS and path.startswith("/"):
            raise FileNotFoundError(errno.ENOENT, "no such path on Windows", path)
        return self.alias.path(path)

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Dispatch to the file questions or to a method of this class."""
        if not self._runs and _is_foreign(op, args):
            return NOT_TRIED
        answer = self._environ_answer if op == "environ" else getattr(self, f"_{op}", None) or getattr(self._files, op)
        fact: Fact[Any] = answer(*args)
        return fact

    def hide(self, text: str) -> str:
        """See Host.hide."""
        return self.alias.hide(_slashes(text))

    def path(self, aliased: str) -> str:
        """See Host.path."""
        return self.alias.path(aliased)

    def _real(self, path: str) -> Fact[str]:
        try:
            found = os.path.realpath(self._place(path), strict=True)
        except (FileNotFoundError, NotADirectoryError):
            return Absent(Source("file", path))
        except (OSError, ValueError) as error:
            return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")
        return Known(self.alias.hide(_slashes(found)), Source("file", path))

    def _environ_answer(self) -> Fact[dict[str, str]]:
        kept = steering(self._environ, self.alias)
        return Known(kept, Source("env", "environment", "the variables that steer the GPU stack"))

    def _activated(self, *files: str) -> Fact[dict[str, str]]:
        found = None if WINDOWS else exported([self.alias.path(file) for file in files], self._environ)
        if found is None:
            return Unknown("the environment's activation could not be run")
        python = self.alias.hide(found.pop(PYTHON, ""))
        self._environ = {**self._environ, **found}
        said = {**steering(found, self.alias), PYTHON: python}
        return Known(said, Source("file", files[0], "run in a shell of its own"))

    def _sourced(self, *files: str) -> Fact[tuple[str, ...]]:
        found = None if WINDOWS else tried([self.alias.path(file) for file in files], self._environ)
        if found is None:
            return Unknown("the environment's activation could not be run")
        return Known(tuple(map(self.alias.hide, found)), Source("file", files[0], "run in a shell of its own"))

    def _started(self) -> Fact[tuple[SetAtStart, ...]]:
        return Absent(Source("call", "uname", "a running machine"))

    def _offline(self) -> Fact[Offline]:
        return Absent(Source("call", "uname", "a running machine"))

    def _uname(self) -> Fact[Uname]:
        if not hasattr(os, "uname"):
            return windows.uname(self._environ)
        u = os.uname()
        return Known(Uname(u.sysname.lower(), u.release, u.machine), Source("call", "uname"))

    def _limit(self, name: str) -> Fact[int]:
        if WINDOWS:
            return Unknown(f"{name}: Windows has no such limit")
        import resource

        soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        return Known(-1 if soft == resource.RLIM_INFINITY else soft, Source("call", f"getrlimit(RLIMIT_{name})"))

    def _standing(self, path: str) -> Fact[Standing]:
        if WINDOWS:
            return Unknown(f"{path}: not looked at on Windows")
        try:
            return Known(self._stands(path), Source("call", "statvfs", path))
        except (OSError, ValueError) as error:
            return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")

    def _stands(self, path: str) -> Standing:
        asked = self.alias.path(path)
        nearest = asked
        while not os.path.isdir(nearest):
            nearest = os.path.dirname(nearest.rstrip("/")) or "/"
        space = os.statvfs(nearest)
        return Standing(
            exists=os.path.exists(asked),
            nearest=self.alias.hide(nearest),
            writable=os.access(nearest, os.W_OK | os.X_OK)
            and (nearest == asked or os.access(asked, os.W_OK) or not os.path.exists(asked)),
            read_only=bool(space.f_flag & os.ST_RDONLY),
            programs=not space.f_flag & os.ST_NOEXEC,
            total=space.f_frsize * space.f_blocks,
            free=space.f_frsize * space.f_bavail,
            inodes=space.f_favail if space.f_files else -1,
        )

    def _registry(self, key: str) -> Fact[RegistryKey]:
        return windows.registry(key, self.alias.hide)

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
        limits = limits_of(child)
        try:
            end = collect(argv, limits, _apart(child, self._environ))
        except (OSError, ValueError) as error:
            return Unknown(f"{name}: cannot be started: {getattr(error, 'strerror', None) or error}")
        said = [self._shown(line) for line in end.out.splitlines() if line.startswith("{")]
        if limits.keeps_errors and end.err.strip():
            said.append({"said": _HOST_NAME.sub(r"\1host", self.alias.hide(middle_cut(end.err, SAID_BYTES)))})
        if end.code == 0:
            return Known(tuple(said), source)
        last = self.alias.hide((end.err.strip().splitlines() or [""])[-1])
        if said:
            return Known((*said, ended(name, end, last)), source)
        return Unknown(": ".join(filter(None, (name, end.words, last))), kind="ended")

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
            command = [system_program(argv[0]), *(self.alias.path(a) for a in argv[1:])]
            end = collect(command, Limits(RUN_SECONDS), self._environ)
        except FileNotFoundError:
            return Absent(source)
        except OSError as error:
            return Unknown(f"{argv[0]}: {error.strerror}")
        if end.code is None:
            late = f"no answer within {RUN_SECONDS:g} s" if end.why == OUT_OF_TIME else end.why
            return Unknown(f"{' '.join(argv)}: {late}")
        return Known(Output(end.code, self.alias.hide(end.out), self.alias.hide(end.err)), source)


def _is_foreign(op: str, args: tuple[Any, ...]) -> bool:
    """Whether a question can only be answered by running something that is neither ours nor the system's."""
    if op in ("call", "run"):
        return args[0] in _STARTING_OTHERS if op == "call" else args[0] not in _SYSTEM_PROGRAMS
    return op in ("python", "activated", "sourced")


def _slashes(path: str) -> str:
    """A path of this machine as answers write it: Windows' with forward slashes, without the prefix for long ones."""
    return path.replace("\\", "/").removeprefix("//?/") if WINDOWS else path


def _apart(child: str, environ: dict[str, str]) -> dict[str, str]:
    """For children that start another program: what steers the loader goes under other names, and our own starts."""
    if child not in ("loaded", "starts", "imports"):
        return environ
    return {f"ASKED_{name}" if name.startswith("LD_") else name: value for name, value in environ.items()}


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
