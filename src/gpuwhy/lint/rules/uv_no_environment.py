"""uv pip install in an image without a virtual environment that uv would see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Environment
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("uv-no-environment", "error", "uv pip install where uv sees no virtual environment")

_KNOW = source(
    "uv 0.13.7, run", "No virtual environment found: it looks at VIRTUAL_ENV, CONDA_PREFIX, .venv, and for one on PATH"
)
_INSTALLS = re.compile(r"^(\S*/)?uv pip (install|sync)\b")
_TOLD = re.compile(r" (--system|--python|-p|--target|--prefix|-t)\b")
_MADE = re.compile(
    r"\buv (venv|sync|init|add)\b|\.venv\b|\b(source|\.) \S*activate|conda|mamba|virtualenv|UV_SYSTEM_PYTHON"
)
_SET = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_SYSTEM_PYTHON", "UV_PYTHON", "UV_TARGET")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such command in an image that brings no environment of its own."""
    stage, known = scope.environment, scope.base.family in ("cuda", "python", "distro")
    if scope.kind != "dockerfile" or not known or any(name in stage.variables for name in _SET) or _is_on_path(stage):
        return
    for command in stage.commands:
        if _MADE.search(command.text) or any(name in _SET for name, _ in command.assigned):
            return
        if _fails(command):
            text = "uv pip install finds no virtual environment here and stops"
            fix = "add --system, or ENV UV_SYSTEM_PYTHON=1, or ENV VIRTUAL_ENV=… for the one that was made"
            yield RULE.mistake(Place(stage.path, command.lines[0]), text, _KNOW, fix)
            return


def _is_on_path(stage: Environment) -> bool:
    """Whether PATH leads into a folder of its own, or may: uv takes a virtual environment that it finds there."""
    path = stage.variables.get("PATH")
    folders = path.value.strip("\"'").split(":") if path else []
    return any(not _PLAIN.match(folder) for folder in folders)


_PLAIN = re.compile(
    r"(/usr(/local)?)?/s?bin/?$|(/root|/home/\w+|~|\$\{?HOME\}?)/\.(local|cargo)/bin/?$|\$\{?PATH\}?$|.*/(cuda|nvidia)"
)
"""Folders of PATH that hold no virtual environment."""


def _fails(command: Command) -> bool:
    return bool(_INSTALLS.match(command.text)) and not _TOLD.search(command.text)
