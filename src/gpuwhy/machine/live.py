"""The machine that we run on."""

import errno
import json
import os
import re
import sys
from typing import Any

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, Why
from gpuwhy.machine.files import Files, FileSystem
from gpuwhy.machine.machine import Disk, Lines, Machine, RegistryKey, Standing, Uname
from gpuwhy.machine.shapes import shape

_KERNEL = (
    r"(?i)NVRM|Xid|nvidia|nouveau|nvlink|NVSwitch|oom-kill|Out of memory|pcieport.*(AER|error)"
)
_ONLY_SET = frozenset(
    {"KUBERNETES_SERVICE_HOST", "WSL_INTEROP", "WSL_DISTRO_NAME", "SINGULARITY_NAME"}
    | {"APPTAINER_NAME"}
)
WINDOWS = os.name == "nt"
_LIMITS = {"probe": (40.0, 6 << 30), "framework": (120.0, 16 << 30)}
_OTHERS = (8.0, 0)
"""How long a child may run, and how much memory it may hold; those of `--probe` load libraries of
hundreds of megabytes and talk to a GPU, the others answer in milliseconds.
"""
_SAID = 48_000  # characters that are kept of what a probed framework printed
_SYSLOG_READ_ALL, _SYSLOG_SIZE, _KERNEL_BYTES = 3, 10, 4 << 20


def permitted(environ: dict[str, str]) -> dict[str, str]:
    """The variables of an environment that may be read at all."""
    steering, secret = shape("steering").match, shape("never_read").search
    names = (name for name in sorted(environ) if steering(name))
    kept = (name for name in names if name in _ONLY_SET or not secret(name))
    return {name: "set" if name in _ONLY_SET else environ[name] for name in kept}


class LiveMachine(Machine):
    """Answers from the running system; calls into libraries happen in child processes."""

    def __init__(self, environ: dict[str, str] | None = None) -> None:
        self._variables = dict(os.environ) if environ is None else environ
        if WINDOWS:
            self._variables = {name.upper(): value for name, value in self._variables.items()}
        home = self._variables.get("USERPROFILE" if WINDOWS else "HOME") or os.path.expanduser("~")
        self.home = home.replace("\\", "/").rstrip("/")
        self._files = Files(FileSystem())

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """A method of this class, or one of the file questions."""
        answer = getattr(self, f"_{question}", None)
        if answer is None:
            return self._files.ask(question, args)
        fact: Fact[Any] = answer(*args)
        return fact

    def _environ(self) -> Fact[dict[str, str]]:
        source = Source("env", "environment", "the variables that steer the GPU stack")
        return Known(permitted(self._variables), source)

    def _offline(self) -> Fact[Any]:
        return Absent(Source("call", "uname", "a running machine"))

    _set_at_start = _offline

    def _uname(self) -> Fact[Uname]:
        if not hasattr(os, "uname"):
            from gpuwhy.machine import windows

            return windows.uname(self._variables)
        u = os.uname()
        return Known(Uname(u.sysname.lower(), u.release, u.machine), Source("call", "uname"))

    def _limit(self, name: str) -> Fact[int]:
        if WINDOWS:
            return Unknown(f"{name}: Windows has no such limit")
        import resource

        soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        value = -1 if soft == resource.RLIM_INFINITY else soft
        return Known(value, Source("call", f"getrlimit(RLIMIT_{name})"))

    def _disk(self, path: str) -> Fact[Disk]:
        def look(path: str) -> Disk:
            space = os.statvfs(path)
            return Disk(space.f_frsize * space.f_blocks, space.f_frsize * space.f_bavail)

        return self._files.answer(path, look, "folder")

    def _standing(self, path: str) -> Fact[Standing]:
        if WINDOWS:
            return Unknown(f"{path}: not looked at on Windows")
        nearest = path
        try:
            while not os.path.isdir(nearest):
                nearest = os.path.dirname(nearest.rstrip("/")) or "/"
            space, exists = os.statvfs(nearest), os.path.exists(path)
        except (OSError, ValueError) as error:
            return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")
        may = nearest == path or not exists or os.access(path, os.W_OK)
        found = Standing(
            exists=exists,
            nearest=nearest,
            writable=may and os.access(nearest, os.W_OK | os.X_OK),
            read_only=bool(space.f_flag & os.ST_RDONLY),
            programs=not space.f_flag & os.ST_NOEXEC,
            total=space.f_frsize * space.f_blocks,
            free=space.f_frsize * space.f_bavail,
            inodes=space.f_favail if space.f_files else -1,
        )
        return Known(found, Source("call", "statvfs", path))

    def _registry(self, key: str) -> Fact[RegistryKey]:
        from gpuwhy.machine import windows

        return windows.registry(key)

    def _kernel_log(self) -> Fact[tuple[str, ...]]:
        """By syslog(2), where this user may read it."""
        import ctypes

        klogctl = None if WINDOWS else getattr(ctypes.CDLL(None, use_errno=True), "klogctl", None)
        if klogctl is None:
            return Unknown("kernel log: this system has none of this kind")
        size = max(1 << 16, min(klogctl(_SYSLOG_SIZE, None, 0), _KERNEL_BYTES))
        buffer = ctypes.create_string_buffer(size)
        count, number = klogctl(_SYSLOG_READ_ALL, buffer, size), ctypes.get_errno()
        if count < 0:
            kind: Why = "denied" if number in (errno.EACCES, errno.EPERM) else ""
            return Unknown(
                f"kernel log: {os.strerror(number)}", "sudo dmesg | gpuwhy explain", kind
            )
        lines = buffer.raw[:count].decode("utf-8", "replace").splitlines()
        found = [re.sub(r"^<\d+>", "", line) for line in lines if re.search(_KERNEL, line)]
        return Known(tuple(found[-400:]), Source("call", "syslog"))

    def _module_info(self, path: str) -> Fact[str]:
        """The file itself; where it is compressed, by the system's modinfo: the one tool we run."""
        found = self._files.ask("module_info", (path,))
        if isinstance(found, Known) or not path.endswith((".xz", ".zst")):
            return found
        from gpuwhy.machine.process import Limits, collect, system_program

        source = Source("command", f"modinfo -F version {path}")
        try:
            argv = [system_program("modinfo"), "-F", "version", path]
            end = collect(argv, Limits(5.0), self._variables)
        except OSError as error:
            return Unknown(f"modinfo: {error.strerror}", "modinfo -F version nvidia")
        said = end.out.strip()
        if end.code == 0 and said:
            return Known(said[:80], source)
        return Unknown(f"modinfo: {end.words}", "modinfo -F version nvidia")

    def _call(self, child: str, *args: str) -> Fact[Lines]:
        from gpuwhy.machine.process import child_command

        given = (*args, binding()) if child == "nvml" else args
        return self._lines_of(child, child_command(child, *given), child, args)

    def _python(self, path: str, child: str, *args: str) -> Fact[Lines]:
        """Without -I or -E, so that it is as its user starts it; -B: it leaves no files."""
        from gpuwhy.machine.process import CHILDREN

        return self._lines_of(child, [path, "-B", f"{CHILDREN}/{child}.py", *args], path, args)

    def _lines_of(
        self, child: str, argv: list[str], name: str, args: tuple[str, ...]
    ) -> Fact[Lines]:
        from gpuwhy.machine.process import Limits, collect

        limits = Limits(*_LIMITS.get(child, _OTHERS), keeps_errors=child in _LIMITS)
        try:
            end = collect(argv, limits, self._variables)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            return Unknown(f"{name}: cannot be started: {why}")
        said = [read_line(line) for line in end.out.splitlines() if line.startswith("{")]
        if limits.keeps_errors and end.err.strip():
            said.append({"said": shortened(end.err, _SAID)})
        source = Source("call", name, " ".join(args))
        if end.code == 0:
            return Known(tuple(said), source)
        last = (end.err.strip().splitlines() or [""])[-1]
        if said:
            return Known((*said, end.line(name, last)), source)
        return Unknown(": ".join(filter(None, (name, end.words, last))), kind="ended")

    def _sandbox(self, python: str, order: str) -> Fact[Lines]:
        from gpuwhy.machine.sandbox import tried

        return tried(python, order, self._variables)


def read_line(line: str) -> dict[str, Any]:
    """A line that a child printed."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {"garbled": line[:200]}
    return value if isinstance(value, dict) else {}


def shortened(text: str, most: int) -> str:
    """The head and the tail of a long text, cut at lines: the first error, and the last."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-most // 2 :]
    return head[: head.rfind("\n") + 1] + "[…]\n" + tail[tail.find("\n") + 1 :]


def binding() -> str:
    """The folder of NVML's Python binding, which only children import; "" where there is none."""
    for folder in sys.path:
        for name in ("pynvml.py", "pynvml/__init__.py"):
            if folder and os.path.isfile(os.path.join(folder, name)):
                return folder
    return ""
