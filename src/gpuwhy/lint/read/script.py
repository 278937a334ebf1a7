"""Shell scripts, and the shell lines of notebooks and of other files, as environments."""

import json
import re
from typing import Any

import msgspec

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import installs, shell
from gpuwhy.lint.sheet import Environment, Sheet

_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_NEW = re.compile(r"(conda|mamba|micromamba) (env )?create\b|-m venv\b|virtualenv |uv venv\b")
COLAB_PYTHON = "3.12"  # since August 2025


def read(path: str, text: str) -> Sheet:
    """A script of a POSIX shell."""
    sheet = Sheet(path, "script", [Environment(path)])
    text = text.replace("\r\n", "\n")
    fill(sheet, _COMMENT.sub("", text), 1)
    return sheet


def fill(sheet: Sheet, text: str, line: int) -> None:
    """The commands of a script into the sheet: a new environment where one is made."""
    joined = re.sub(r"(?<!\\)\n", " ;\n", text).replace("\\\n", " \n")
    for command in shell.commands(joined, line, {}):
        stage = sheet.environments[-1]
        if _NEW.search(command.text) and stage.pins:
            stage = Environment(sheet.path, gpu=stage.gpu)
            sheet.environments.append(stage)
        installs.take(stage, command)


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""


class _Notebook(msgspec.Struct):
    cells: list[_Cell] = []
    metadata: dict[str, Any] = {}


def read_notebook(path: str, text: str) -> Sheet:
    """A Jupyter notebook; its lines are those of the JSON file."""
    stage = Environment(path)
    sheet = Sheet(path, "notebook", [stage])
    try:
        data = msgspec.json.decode(text.encode("utf-8", "replace"), type=_Notebook)
    except (msgspec.DecodeError, RecursionError) as error:
        sheet.problems.append(Problem(Place(path, 0), f"no notebook: {error}"))
        return sheet
    if "colab" in data.metadata:
        stage.pythons, stage.python_from = (COLAB_PYTHON,), "Colab"
    position = 0
    for line in (one for cell in data.cells for one in _shell_lines(cell)):
        written = json.dumps(line, ensure_ascii=False)[1:-1]
        at = text.find(written[:80], position)
        position = at if at >= 0 else position
        fill(sheet, line.lstrip("!% \t"), text.count("\n", 0, position) + 1)
    return sheet


def _shell_lines(cell: _Cell) -> list[str]:
    """Lines that a shell gets, joined where they go on."""
    text = "".join(cell.source) if cell.cell_type == "code" else ""
    if text.startswith(("%%bash", "%%sh", "!%%")):
        return text.split("\n")[1:]
    lines = re.sub(r"\\\n", " ", text).split("\n")
    return [line.strip() for line in lines if re.match(r"\s*[!%]", line)]
