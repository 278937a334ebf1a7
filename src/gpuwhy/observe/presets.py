"""Presets: variables that files set before a program's first line: Python's start-up files, and the activation's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Start
from gpuwhy.observe.activation import activation_files, is_activated
from gpuwhy.observe.scene import Scene

_BEGINS = r"(?:import\s[^#]*;\s*)?"
_READERS = "CUBLAS|CUDA|CUPY|JAX|KERAS|NCCL|NUMBA|NVIDIA|PROTOCOL_BUFFERS|PYTORCH|TF|TORCH|TRITON|XLA"
_NAME = rf"\s*['\"](?P<name>(?:{_READERS})_[A-Z0-9_]+)['\"]\s*"
_VALUE = r"\s*['\"](?P<value>[^'\"\\]*)['\"]"
_ASSIGNED = re.compile(rf"{_BEGINS}(?:os\.)?environ\[{_NAME}\]\s*={_VALUE}\s*(?:;|#|$)")
_DEFAULT = re.compile(rf"{_BEGINS}(?:os\.)?environ\.setdefault\({_NAME},{_VALUE}\s*\)")
"""Statements that no condition guards: they begin their line."""
_PLAIN = r"(?:(?P<q>['\"])(?P<quoted>[^'\"$`\\]*)(?P=q)|(?P<value>[^'\"$`\s#;\\]*))\s*(?:[#;]|$)"
_EXPORT = re.compile(rf"(?:export\s+)?(?P<name>(?:{_READERS})_[A-Z0-9_]+)={_PLAIN}")
"""A line of a shell script that sets a variable to a plain value, whatever came before."""
LOGIN = "/etc/environment"
"""Variables of every login, on a Linux that nobody can ask."""
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH")


class Preset(NamedTuple):
    """One variable that a file sets."""

    name: str
    value: str
    file: str


def presets(scene: Scene, environ: dict[str, str]) -> dict[str, Preset]:
    """The variables that the frameworks read and that start-up sets in the environment's Python, by name.

    Where a start was tried, it has the last word; what a file says is for machines that cannot be asked.
    """
    start = value_or(scene.facts.target.start, None)
    if start is not None and start.version:
        return {name: Preset(name, value, _setter(scene, environ, name)) for name, value in _seen(start)}
    found: dict[str, Preset] = {}
    for file in _files(scene, environ):
        for line in value_or(scene.host.lines(file, "environ"), ()):
            assigned, default = _ASSIGNED.match(line), _DEFAULT.match(line)
            said = assigned or default
            if said is None or _SECRET.search(said["name"]):
                continue
            if assigned or (said["name"] not in environ and said["name"] not in found):
                found[said["name"]] = Preset(said["name"], said["value"], file)
    return found


def _seen(start: Start) -> Iterator[tuple[str, str]]:
    yield from ((name, value) for name, value in start.sets if not _SECRET.search(name))


def _setter(scene: Scene, environ: dict[str, str], name: str) -> str:
    """The file of start-up that names the variable; the last one, which has its way."""
    files = [file for file in _files(scene, environ) if value_or(scene.host.lines(file, name), ())]
    return files[-1] if files else "a file"


def _files(scene: Scene, environ: dict[str, str]) -> Iterator[str]:
    """Those that Python runs, in its order: .pth files of the environment, then the first of each customising name."""
    sites = value_or(scene.facts.target.site_packages, ())
    ahead = [part.rstrip("/") for part in environ.get("PYTHONPATH", "").split(":") if part.startswith(("/", "~"))]
    for site in (one for one in sites if one not in ahead):
        yield from (f"{site}/{entry.name}" for entry in value_or(scene.host.list(site, r".*\.pth$"), ()))
    for name in ("sitecustomize.py", "usercustomize.py"):
        folders = dict.fromkeys((*ahead, *sites))
        there = (folder for folder in folders if value_or(scene.host.list(folder, rf"{re.escape(name)}$"), ()))
        yield from (f"{folder}/{name}" for folder in list(there)[:1])


def activated(scene: Scene, environ: dict[str, str]) -> Iterator[Preset]:
    """The variables that the environment's activation exports; where it is activated, the shell's own values tell."""
    python = value_or(scene.facts.target.interpreter, None)
    if python is None or python.kind not in ("venv", "conda") or is_activated(scene, python, environ):
        return
    for file in activation_files(scene, python):
        for line in value_or(scene.host.lines(file, "="), ()):
            said = _EXPORT.match(line)
            if said and not _SECRET.search(said["name"]) and said["name"] not in environ:
                yield Preset(said["name"], said["quoted"] or said["value"] or "", file)


def at_login(scene: Scene) -> Iterator[Preset]:
    """The variables that every login of a Linux disk has, in plain words."""
    for line in value_or(scene.host.lines(LOGIN, "="), ()):
        said = _EXPORT.match(line)
        if said and not _SECRET.search(said["name"]):
            yield Preset(said["name"], said["quoted"] or said["value"] or "", LOGIN)
