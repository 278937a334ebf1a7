"""The bench: the user's program, run with some tweaks in place, each time from the same start."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from gpuwhy.prove.proof import Tweak
from gpuwhy.prove.setting import Setting, applied
from gpuwhy.proving.plan import Plan
from gpuwhy.proving import stage
from gpuwhy.proving.trial import Orders, Ran, run_once

Copies = Callable[[Sequence[Tweak]], str]
"""From package tweaks to the Python of a copied environment that has them."""


class Bench:
    """Runs trials; `folder` is ours, for what all of them share."""

    def __init__(self, plan: Plan, input_file: str = "", copies: Copies | None = None) -> None:
        self._plan, self._input = plan, input_file
        self.copies = copies
        self.executable = stage.found_program(plan.argv, plan.environ)

    def run(self, tweaks: Sequence[Tweak], seconds: float, quiet: float, sampled: bool) -> Ran:
        """One trial; whatever was made for it is gone afterwards."""
        setting = applied(self._plan.environ, tweaks)
        if not self.executable:
            return Ran(127, 0, 0.0, "", cannot=f"{self._plan.argv[0]}: no such program")
        wants = setting.hidden or setting.elsewhere or any(stage.FRESH in one for one in setting.environ.values())
        place = stage.fresh_folder(self._plan.environ.get("TMPDIR", "/tmp")) if wants else nullcontext("")
        try:
            with place as fresh:
                ran = run_once(self._orders(setting, fresh, seconds, quiet, sampled))
                return ran._replace(output=stage.loader_errors(fresh) + ran.output) if fresh else ran
        except OSError as error:
            return Ran(127, 0, 0.0, "", cannot=str(error))

    def wrapped(self, words: Sequence[str], seconds: float) -> Ran:
        """The program as it is, under another one."""
        orders = self._orders(applied(self._plan.environ, ()), "", seconds, 0.0, False)
        return run_once(orders._replace(argv=(*words, self.executable, *orders.argv[1:]), executable=words[0], ok=""))

    def _orders(self, setting: Setting, fresh: str, seconds: float, quiet: float, sampled: bool) -> Orders:
        plan = self._plan
        argv, folder, executable = list(plan.argv), plan.folder, self.executable
        environ = stage.filled(setting.environ, fresh)
        if setting.hidden:
            argv, folder = stage.moved(argv, folder, setting.hidden, fresh)
        if setting.elsewhere:
            argv, folder = stage.absolute(argv), fresh
        if setting.packages and self.copies:
            python = self.copies(setting.packages)
            executable, environ = _with_python(executable, python, environ)
            argv = [python, *argv[1:]] if executable == python else argv
        limits = stage.numbered({**plan.limits, **setting.limits})
        return Orders(tuple(argv), executable, environ, folder, limits, self._input, seconds, quiet, plan.ok, sampled)


def _with_python(executable: str, python: str, environ: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The same program in another environment: its interpreter, or the first one on PATH."""
    folder, name = python.rpartition("/")[0], executable.rpartition("/")[2]
    moved = {**environ, "PATH": f"{folder}:{environ.get('PATH', '')}", "VIRTUAL_ENV": folder.rpartition("/")[0]}
    if re.fullmatch(r"python[\d.]*", name):
        return python, moved
    return f"{folder}/{name}", moved
