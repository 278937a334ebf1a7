"""Installer: uv where there is one, else venv and pip; the command lines, and nothing that they do themselves."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence

from gpuwhy.model.repair import Action
from gpuwhy.repair.child import FailedError, run

Say = Callable[[str], None]


class Installer:
    """Makes environments and installs into them, by child processes."""

    def __init__(self, environ: Mapping[str, str], seconds: float, say: Say, uv: str | None = None) -> None:
        self._environ, self._seconds, self._say = environ, seconds, say
        self.uv = shutil.which("uv", path=environ.get("PATH")) or "" if uv is None else uv

    def venv(self, python: str, folder: str, system_site: bool) -> None:
        """An empty environment of the same Python."""
        more = ["--system-site-packages"] if system_site else []
        if self.uv:
            self._run([self.uv, "venv", "--no-project", "--python", python, *more, folder])
        else:
            self._run([python, "-m", "venv", *more, folder])

    def freeze(self, python: str, pins: Mapping[str, str], backend: str) -> None:
        """Exactly these, and nothing that they ask for."""
        if not self.uv and "pip" in pins:
            self._run([python, "-m", "pip", "install", pins["pip"]])
        with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="gpuwhy-", encoding="utf-8") as file:
            file.write("".join(f"{text}\n" for text in pins.values()))
            file.flush()
            self.install(python, ["-r", file.name], Action(backend=backend), "--no-deps")

    def carry_out(self, python: str, action: Action, present: Iterable[str]) -> None:
        """Remove what is there of what has to go, then install."""
        gone = [name for name in action.uninstall if name in set(present)]
        if gone and self.uv:
            self._run([self.uv, "pip", "uninstall", "--python", python, *gone])
        elif gone:
            self._run([python, "-m", "pip", "uninstall", "-y", *gone])
        if action.install:
            self.install(python, action.install, action)

    def rehearse(self, python: str, action: Action) -> None:
        """Whether what is to be installed exists and fits, asked before anything is removed; pip fetches it."""
        if action.install and self.uv:
            anew = [f"--reinstall-package={name}" for name in action.uninstall]
            self.install(python, action.install, action, "--dry-run", *anew)
        elif action.install:
            with tempfile.TemporaryDirectory(prefix="gpuwhy-") as folder:
                self._run([python, "-m", "pip", "download", "--no-deps", "--dest", folder, *action.install])

    def install(self, python: str, wanted: Sequence[str], how: Action, *flags: str) -> None:
        """One call of the installer."""
        more = [*flags, *(["--upgrade"] if how.upgrade else [])]
        if how.backend and not self.uv:
            raise FailedError(
                f"the builds for {how.backend} are on PyTorch's own index, which uv finds by itself and pip does not: "
                "install uv, and begin again"
            )
        if self.uv:
            more += ["--reinstall", "--no-deps", "--no-cache"] if how.again else []
            more += [f"--torch-backend={how.backend}"] if how.backend else []
            self._run([self.uv, "pip", "install", "--python", python, *more, *wanted])
        else:
            more += ["--force-reinstall", "--no-deps", "--no-cache-dir"] if how.again else []
            self._run([python, "-m", "pip", "install", *more, *wanted])

    def _run(self, argv: list[str]) -> None:
        self._say("$ " + " ".join(os.path.basename(argv[0]) if n == 0 else word for n, word in enumerate(argv)))
        run(argv, self._environ, self._seconds)
