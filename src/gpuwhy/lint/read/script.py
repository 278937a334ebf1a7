"""Shell scripts, and the shell lines of other files, as environments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from gpuwhy.lint.read import installs, shell
from gpuwhy.lint.sheet import Environment, Sheet

_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_NEW = re.compile(r"(conda|mamba|micromamba) (env )?create\b|-m venv\b|virtualenv |uv venv\b")
_ONCE = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=[\"']?([\w./:+=<>-]+)[\"']?[ \t]*$", re.MULTILINE
)


def read(path: str, text: str) -> Sheet:
    """A script of a POSIX shell."""
    sheet = Sheet(path, "script")
    sheet.environments.append(Environment(path, system="linux"))
    text = text.replace("\r\n", "\n")
    fill(sheet, _COMMENT.sub("", text), 1, _constants(text))
    return sheet


def _constants(text: str) -> dict[str, str]:
    """Variables that are set once, to a plain value."""
    found = _ONCE.findall(text)
    counts = Counter(name for name, _ in found)
    return {name: value for name, value in found if counts[name] == 1}


def fill(sheet: Sheet, text: str, line: int, variables: Mapping[str, str]) -> None:
    """The commands of a script into the sheet: a new environment where one is made."""
    joined = re.sub(r"(?<!\\)\n", " ;\n", text).replace("\\\n", " \n")
    for command in shell.commands(joined, line, variables):
        stage = sheet.environments[-1]
        if _NEW.search(command.text) and stage.pins:
            stage = Environment(sheet.path, system=stage.system, gpu=stage.gpu)
            sheet.environments.append(stage)
        stage.commands.append(command)
        installs.take(stage, command)
