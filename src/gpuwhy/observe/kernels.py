"""Kernels: what Jupyter starts, of this user and of the environment."""

from __future__ import annotations

import re

from gpuwhy.model.fact import Fact, Known, known, value_or
from gpuwhy.observe.scene import Scene


def kernels(scene: Scene) -> Fact[tuple[str, ...]]:
    """The Jupyter kernels of this user and of the environment, each with the Python that it starts."""
    python = scene.facts.target.interpreter
    prefixes = [f"{python.value.prefix}/share"] if isinstance(python, Known) else []
    return kernels_in(scene, [f"{share}/jupyter/kernels" for share in ("~/.local/share", *prefixes)])


def kernels_in(scene: Scene, folders: list[str]) -> Fact[tuple[str, ...]]:
    """The kernels below some folders."""
    found = []
    for folder in folders:
        for entry in value_or(scene.host.list(folder), ()):
            starts = _kernel(scene, f"{folder}/{entry.name}/kernel.json")
            if starts:
                found.append(f"{entry.name}: {starts}")
    return known(tuple(found), "folder", ", ".join(folders))


def _kernel(scene: Scene, path: str) -> str:
    """The first word of a kernel's command; a regular expression is enough for a file that Jupyter itself wrote."""
    text = value_or(scene.host.read(path), "")
    argv = re.search(r'"argv"\s*:\s*\[\s*"((?:[^"\\]|\\.)*)"', text)
    return argv.group(1) if argv else ""
