"""pip into the Python of a distribution that refuses it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("externally-managed", "error", "pip into the Python of a distribution that refuses it")

_KNOW = source("PEP 668; python3.12 of Ubuntu 24.04, python3.11 of Debian 12", "error: externally-managed-environment")
_ALLOWED = re.compile(
    r"break-system-packages|EXTERNALLY-MANAGED|break_system_packages|venv|virtualenv|conda|mamba|pyenv|\buv\b|pipx|deadsnakes"
    r"|Python-3|poetry|pixi",
    re.IGNORECASE,
)
_PIP = re.compile(r"^(\S*/)?(pip[\d.]*|python[\d.]* (-\S+ )*-m pip) (-\S+ )*install\b")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such command in an image of Ubuntu 23.04 or Debian 12 and newer."""
    base, stage = scope.base, scope.environment
    marked = base.distro_python and not base.python and at_least(base.distro_python, _since(base.name))
    if not marked or base.family not in ("cuda", "distro") or not _has_pip(scope):
        return
    said = (*(command.text for command in stage.commands if not _by_uv(command)), *_set(scope))
    if any(_ALLOWED.search(text) for text in said):
        return
    command = next(filter(_installs, stage.commands), None)
    if command is not None:
        text = (
            f"image {base.name}: its Python {base.distro_python} is the distribution's own, and pip refuses to install"
        )
        fix = "make a venv first (python3 -m venv /opt/venv), or ENV PIP_BREAK_SYSTEM_PACKAGES=1"
        yield RULE.mistake(Place(stage.path, command.lines[0]), text, _KNOW, fix)


def _since(image: str) -> str:
    """Ubuntu's 3.12 and Debian's 3.11 are the first with the marker that their images have."""
    return "3.11" if "debian" in image or "bookworm" in image else "3.12"


def _has_pip(scope: Scope) -> bool:
    """Whether the pip is the distribution's, and no other Python is installed."""
    by_uv = any(map(_by_uv, scope.environment.commands))
    wanted = r"python3?-pip$|python3-full$|python3(-dev)?$" if by_uv else r"python3?-pip$|python3-full$"
    named = [name for name in scope.environment.apt if re.match(wanted, name)]
    own = f"python{scope.base.distro_python}"
    other = [n for n in scope.environment.apt if re.match(r"python3\.\d+$", n) and n != own]
    return bool(named) and not other


def _set(scope: Scope) -> list[str]:
    """Variables of the image, as text: pip's own, or a PATH into a venv."""
    return [f"{one.name}={one.value}" for one in scope.environment.variables.values()]


def _by_uv(command: Command) -> bool:
    """Whether uv is told to fill the Python of the system, which it refuses in the same way."""
    fills = command.text.startswith("uv pip install ") and "--system" in command.words
    brought = command.words[:1] == ("COPY",) and "astral-sh/uv" in command.text
    return brought or (fills and not _ALLOWED.search(command.text.removeprefix("uv ")))


def _installs(command: Command) -> bool:
    if _by_uv(command) and command.words[0] == "uv":
        return True
    return bool(_PIP.match(command.text)) and not re.search(r" (--target|-t|--root|--prefix|--user)\b", command.text)
