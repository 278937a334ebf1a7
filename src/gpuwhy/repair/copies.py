"""Copies for experiments: an environment as it is, broken files and all, in which some releases are then changed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from gpuwhy.repair.child import REDIRECTS, FailedError, run
from gpuwhy.repair.patient import Patient

SECONDS = 300.0


class Copier:
    """Makes copies of one environment below a folder of ours; hard links, so that gigabytes cost nothing."""

    def __init__(self, patient: Patient, folder: str, environ: Mapping[str, str]) -> None:
        self._patient, self._folder = patient, folder
        self._environ = {name: value for name, value in environ.items() if name not in REDIRECTS}
        self.uv = shutil.which("uv", path=environ.get("PATH")) or ""
        self._null = os.open(os.devnull, os.O_WRONLY)

    def copy(self, name: str) -> str:
        """The environment as it is, once more; its Python."""
        made = f"{self._folder}/{name}"
        shutil.rmtree(made, ignore_errors=True)
        borrow = ["--system-site-packages"] if self._patient.kind != "venv" or self._patient.system_site else []
        self._run([self.uv, "venv", "-q", "--no-project", "--python", self._patient.python, *borrow, made])
        if self._patient.kind == "venv":
            self._link(made)
            _scripts(self._patient.prefix, made)
        return f"{made}/bin/python"

    def _link(self, made: str) -> None:
        for lib in ("lib", "lib64"):
            source, target = f"{self._patient.prefix}/{lib}", f"{made}/{lib}"
            for python in os.listdir(source) if os.path.isdir(source) and not os.path.islink(source) else []:
                site = f"{source}/{python}/site-packages"
                if os.path.isdir(site):
                    shutil.rmtree(f"{target}/{python}/site-packages", ignore_errors=True)
                    shutil.copytree(site, f"{target}/{python}/site-packages", copy_function=_linked, symlinks=True)

    def change(self, python: str, install: Sequence[str], uninstall: Sequence[str]) -> None:
        """Other releases, written anew whatever is there, and nothing that they ask for; raises FailedError."""
        if uninstall:
            self._run([self.uv, "pip", "uninstall", "-q", "--python", python, *uninstall])
        if install:
            words = [self.uv, "pip", "install", "-q", "--no-deps", "--reinstall", "--python", python, *install]
            try:
                self._run([*words, "--offline"])
            except FailedError:
                self._run(words)

    def resolve(self, wanted: Sequence[str]) -> dict[str, str]:
        """What an installer would choose today for these; raises FailedError where nothing fits."""
        argv = [self.uv, "pip", "compile", "-q", "--no-header", "--no-annotate", "--python", self._patient.python, "-"]
        try:
            done = subprocess.run(
                argv, input="\n".join(wanted), capture_output=True, text=True, timeout=SECONDS, env=self._environ
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FailedError(str(error)) from error
        if done.returncode:
            raise FailedError(done.stderr.strip()[-400:])
        pairs = (line.split(";")[0].strip().split("==") for line in done.stdout.splitlines() if "==" in line)
        return {
            pair[0].split("[")[0].strip().lower().replace("_", "-"): pair[1].strip() for pair in pairs if len(pair) == 2
        }

    def releases(self, name: str) -> list[str]:
        """The published final releases of a package, oldest first; [] where nobody can say."""
        for python in (self._patient.python, shutil.which("python3") or "python3"):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                done = subprocess.run(
                    [python, "-m", "pip", "index", "versions", name], capture_output=True, text=True, timeout=60,
                    env=self._environ,
                )  # fmt: skip
                line = next((one for one in done.stdout.splitlines() if one.startswith("Available versions:")), "")
                if line:
                    return [one.strip() for one in line.partition(":")[2].split(",")][::-1]
        return []

    def _run(self, argv: list[str]) -> None:
        run(argv, self._environ, SECONDS, out=self._null)


def _linked(source: str, target: str) -> None:
    """A hard link where that is possible; what is written in place by others is never a library."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _scripts(prefix: str, made: str) -> None:
    """The environment's own commands, for the copy's Python."""
    for name in os.listdir(f"{prefix}/bin"):
        source, target = f"{prefix}/bin/{name}", f"{made}/bin/{name}"
        if os.path.lexists(target) or os.path.islink(source) or not os.path.isfile(source):
            continue
        if os.path.getsize(source) < 1 << 16:
            with open(source, "rb") as file:
                text = file.read()
            with open(target, "wb") as file:
                file.write(text.replace(os.fsencode(f"{prefix}/bin/"), os.fsencode(f"{made}/bin/")))
            os.chmod(target, 0o755)
        else:
            _linked(source, target)
