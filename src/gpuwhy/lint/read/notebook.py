"""Notebooks: the `!pip install` and `%pip install` lines of their cells."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import script
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.sheet import Environment, Sheet, Variable

_SET = pattern("notebook.set")
"""A variable that a cell sets, as it stands in the JSON."""
COLAB_PYTHON = "3.12"  # since August 2025


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""


class _Notebook(msgspec.Struct):
    cells: list[_Cell] = []
    metadata: dict[str, Any] = {}


def read(path: str, text: str) -> Sheet:
    """A Jupyter notebook; its lines are those of the JSON file."""
    stage = Environment(path, system="linux")
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
        script.fill(sheet, line.lstrip("!% \t"), text.count("\n", 0, position) + 1, {})
    for found in _SET.finditer(text):
        place = Place(path, text.count("\n", 0, found.start()) + 1)
        name, value = found[1] or found[3], found[2] or found[4] or ""
        stage.variables[name] = Variable(name, value, place)
    return sheet


def _shell_lines(cell: _Cell) -> list[str]:
    """Lines that a shell gets, joined where they go on."""
    text = "".join(cell.source) if cell.cell_type == "code" else ""
    if text.startswith(("%%bash", "%%sh", "!%%")):
        return text.split("\n")[1:]
    lines = re.sub(r"\\\n", " ", text).split("\n")
    return [line.strip() for line in lines if re.match(r"\s*[!%]", line)]
