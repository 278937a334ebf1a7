"""Copies of an environment for experiments, broken files and all, with other releases in them."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence

import msgspec

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.fix.environment import environment
from gpuwhy.fix.installer import ELSEWHERE, FailedError
from gpuwhy.machine.process import End, Limits, child_command, collect

SECONDS, ASKING = 300.0, 60.0
"""How long an installer may take, and an index to list the releases of a package."""
_ALSO_ELSEWHERE = frozenset({"UV_VENV_CLEAR", "UV_VENV_RELOCATABLE"})
_SCRIPT = 1 << 16
"""Larger files in bin are programs."""


class Original(msgspec.Struct, frozen=True):
    """The environment that is copied."""

    python: str
    prefix: str
    packages: tuple[Package, ...]  # those inside the prefix, not what it borrows from the system
    borrows: bool = False  # from the system's packages


def original(facts: Facts) -> Original:
    """The environment under diagnosis; raises RefusedError."""
    one = environment(facts, in_place=False)
    inside = f"{one.prefix}/"
    packages = facts.environment.by_name.values()
    sites = value_or(facts.environment.sites, ())
    return Original(
        one.python,
        one.prefix,
        tuple(package for package in packages if package.location.startswith(inside)),
        any(site.kind == "system" for site in sites),
    )


class Copier:
    """Makes copies of one environment below a folder of ours; hard links, so that they cost
    nothing.
    """

    def __init__(self, original: Original, folder: str, environ: Mapping[str, str]) -> None:
        self._original, self._folder = original, folder
        left_out = ELSEWHERE | _ALSO_ELSEWHERE
        given = {name: value for name, value in environ.items() if name not in left_out}
        self._environ = {**given, "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self.uv = shutil.which("uv", path=environ.get("PATH")) or ""

    def copy(self, name: str) -> str:
        """The environment as it is, once more; its Python."""
        made = f"{self._folder}/{name}"
        shutil.rmtree(made, ignore_errors=True)
        borrow = ["--system-site-packages"] if self._original.borrows else []
        python = self._original.python
        self._run([self.uv, "venv", "-q", "--no-project", "--python", python, *borrow, made])
        self._link(made)
        _scripts(self._original.prefix, made)
        return f"{made}/bin/python"

    def _link(self, made: str) -> None:
        for lib in ("lib", "lib64"):
            source, target = f"{self._original.prefix}/{lib}", f"{made}/{lib}"
            if not os.path.isdir(source) or os.path.islink(source):
                continue
            for python in os.listdir(source):
                old, new = (f"{one}/{python}/site-packages" for one in (source, target))
                if os.path.isdir(old):
                    shutil.rmtree(new, ignore_errors=True)
                    shutil.copytree(old, new, copy_function=_linked, symlinks=True)

    def change(self, python: str, install: Sequence[str], uninstall: Sequence[str]) -> None:
        """Other releases, written anew whatever is there, and nothing that they ask for; raises
        FailedError.
        """
        at = ["-q", "--python", python]
        if uninstall:
            self._run([self.uv, "pip", "uninstall", *at, *uninstall])
        if install:
            words = [self.uv, "pip", "install", *at, "--no-deps", "--reinstall", *install]
            try:
                self._run([*words, "--offline"])
            except FailedError:
                self._run(words)

    def resolve(self, wanted: Sequence[str]) -> dict[str, str]:
        """What an installer would choose today for these; raises FailedError where nothing fits."""
        asked = f"{self._folder}/wanted.txt"
        with open(asked, "w", encoding="utf-8") as file:
            file.write("\n".join(wanted) + "\n")
        words = ["-q", "--no-header", "--no-annotate", "--python", self._original.python, asked]
        said = self._run([self.uv, "pip", "compile", *words])
        lines = (line.split(";")[0].strip() for line in said.splitlines())
        pinned = (line.split("==") for line in lines if line.count("==") == 1)
        return {_normal(name): version.strip() for name, version in pinned}

    def releases(self, name: str) -> list[str]:
        """The published final releases of a package, oldest first; [] where nobody can say."""
        for python in (self._original.python, shutil.which("python3") or "python3"):
            with contextlib.suppress(OSError):
                end = self._ended([python, "-m", "pip", "index", "versions", name], ASKING)
                lines = (one.partition("Available versions:") for one in end.out.splitlines())
                found = next((told for before, sign, told in lines if sign and not before), "")
                if found:
                    return [one.strip() for one in found.split(",")][::-1]
        return []

    def _run(self, argv: Sequence[str]) -> str:
        """What it prints; raises FailedError."""
        end = self._ended(argv, SECONDS)
        if end.code != 0:
            words = (end.err + end.out).strip()[-400:]
            raise FailedError(f"{' '.join(argv[:3])} {end.words}: {words}")
        return end.out

    def _ended(self, argv: Sequence[str], seconds: float) -> End:
        limits = Limits(seconds, keeps_errors=True)
        return collect(child_command("become", *argv), limits, self._environ)


def _normal(name: str) -> str:
    return name.split("[")[0].strip().lower().replace("_", "-")


def _linked(source: str, target: str) -> None:
    """A hard link where that is possible; nobody writes into a library in its place."""
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
        if os.path.getsize(source) >= _SCRIPT:
            _linked(source, target)
            continue
        with open(source, "rb") as file:
            text = file.read()
        with open(target, "wb") as file:
            file.write(text.replace(os.fsencode(f"{prefix}/bin/"), os.fsencode(f"{made}/bin/")))
        os.chmod(target, 0o755)
