"""Pyenv: which Python one of its shims starts, by pyenv's own files and without starting it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.version import numbers
from gpuwhy.observe.scene import Scene


def behind_shim(scene: Scene, path: str, on_path: Sequence[str]) -> str:
    """The executable; "system" is the first of PATH that is no shim. "" where pyenv's files name none that is there."""
    root, _, name = path.rpartition("/shims/")
    for wanted in _versions(scene, root):
        if wanted == "system":
            return next((one for one in on_path if "/shims/" not in one), "")
        listed = value_or(scene.host.list(f"{root}/versions", rf"{re.escape(wanted)}(\.\d+)*$"), ())
        for entry in sorted(listed, key=lambda one: (one.name == wanted, numbers(one.name)), reverse=True):
            program = f"{root}/versions/{entry.name}/bin/{name}"
            if isinstance(scene.host.stat(program), Known):
                return program
    return ""


def _versions(scene: Scene, root: str) -> list[str]:
    """The releases that pyenv would take here: PYENV_VERSION, else a .python-version, else those of everywhere."""
    if asked := value_or(scene.host.environ(), {}).get("PYENV_VERSION", ""):
        return asked.split(":")
    folder = value_or(scene.host.real(scene.options.folder), "") if scene.options.folder else ""
    while folder:
        if said := value_or(scene.host.read(f"{folder.rstrip('/')}/.python-version"), "").split():
            return said
        folder = "" if folder in ("/", "~") else folder.rpartition("/")[0] or "/"
    return value_or(scene.host.read(f"{root}/version"), "").split() or ["system"]
