"""uv or pip, as a child with limits; only wheels, so that nothing is built or run."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from gpuwhy.advise.remedy import Action, Install, Remove
from gpuwhy.advise.shell import quoted
from gpuwhy.fix.copying import RefusedError
from gpuwhy.machine.process import Limits, child_command, collect

Say = Callable[[str], None]
WHEELS = ("--only-binary", ":all:")
ELSEWHERE = frozenset(
    {
        *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"),
        *("PIP_DRY_RUN", "PIP_PYTHON", "PIP_NO_BINARY", "PIP_REQUIREMENT", "PIP_EDITABLE"),
        *("UV_SYSTEM_PYTHON", "UV_BREAK_SYSTEM_PACKAGES", "UV_PYTHON", "UV_NO_BINARY"),
        *("UV_NO_BINARY_PACKAGE", "UV_TORCH_BACKEND", "UV_TARGET", "UV_PREFIX"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH"),
    }
)
"""Variables that would lead an installer to another place, or let it build."""
_ERROR = ("ERROR:", "error:", "  ×", "× ")


class FailedError(Exception):
    """The installer did not do what it was asked; the text says why."""


class Installer:
    """Installs into an environment and removes from it."""

    def __init__(
        self, python: str, environ: Mapping[str, str], seconds: float, say: Say, tool: str = ""
    ) -> None:
        self._python, self._seconds, self._say = python, seconds, say
        given = {name: value for name, value in environ.items() if name not in ELSEWHERE}
        self._environ = {**given, "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self._uv = "" if tool == "pip" else shutil.which("uv", path=environ.get("PATH")) or ""
        # the flags that write a release's files once more, past every cache
        pip = ["--force-reinstall", "--no-cache-dir"]
        self._afresh = ["--reinstall", "--no-cache"] if self._uv else pip
        if tool == "uv" and not self._uv:
            raise RefusedError("--installer uv: it is not on PATH")

    def carry_out(self, actions: Sequence[Action]) -> None:
        """Every action that changes packages, in order; raises FailedError."""
        for action in actions:
            if isinstance(action, Remove):
                self.remove(action.packages)
            elif isinstance(action, Install):
                flags = ["--upgrade"] * action.upgrade + ["--no-deps"] * action.no_deps
                flags += ["--index-url", action.index] if action.index else []
                flags += self._afresh if action.reinstall else []
                self._run("install", [*WHEELS, *flags, "--", *action.packages])

    def exactly(self, releases: Mapping[str, str]) -> None:
        """These releases again, and nothing that they require."""
        if releases:
            wanted = [f"{name}=={version}" for name, version in releases.items()]
            self._run("install", [*WHEELS, "--no-deps", *self._afresh, "--", *wanted])

    def remove(self, packages: Sequence[str]) -> None:
        """Remove packages; raises FailedError."""
        if packages:
            yes = [] if self._uv else ["-y"]
            self._run("uninstall", [*yes, *packages])

    def undo_command(self, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
        """What a person types to have the releases of before again."""
        start = "uv pip" if self._uv else f"{quoted(self._python)} -m pip"
        at = ["--python", quoted(self._python)] if self._uv else []
        yes = [] if self._uv else ["-y"]
        added = [name for name in now if name not in before]
        other = [f"{name}=={old}" for name, old in before.items() if now.get(name) != old]
        lines = [[start, "uninstall", *at, *yes, *added]] if added else []
        lines += [[start, "install", *at, "--no-deps", *map(quoted, other)]] if other else []
        return [" ".join(words) for words in lines]

    def _run(self, verb: str, words: Sequence[str]) -> None:
        argv = [*self._tool(), verb, *words]
        if self._uv:
            argv = [*self._tool(), verb, "--python", self._python, *words]
        self._say(f"$ {'uv ' if self._uv else ''}pip {verb} {' '.join(words)}")
        end = collect(
            child_command("become", *argv), Limits(self._seconds, keeps_errors=True), self._environ
        )
        if end.code != 0:
            name = "uv" if self._uv else "pip"
            raise FailedError(f"{name} {verb} {end.words}: {_reason(end.err + end.out)}")

    def _tool(self) -> list[str]:
        """uv, the environment's own pip, or the pip beside gpuwhy."""
        if self._uv:
            return [self._uv, "pip"]
        lib = f"{os.path.dirname(os.path.dirname(self._python))}/lib"
        names = os.listdir(lib) if os.path.isdir(lib) else []
        if any(os.path.isfile(f"{lib}/{n}/site-packages/pip/__main__.py") for n in names):
            return [self._python, "-m", "pip"]
        if importlib.util.find_spec("pip"):
            return [sys.executable, "-m", "pip", "--python", self._python]
        raise FailedError("the environment has no pip, and uv is not installed: install uv")


def _reason(said: str) -> str:
    """The installer's own last words of an error, else its last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(tuple(one.strip() for one in _ERROR))]
    return (errors or lines or ["it said nothing"])[-1][:300]
