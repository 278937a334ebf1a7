"""Notebooks: the `!pip install` and `%pip install` lines of their cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import script
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.sheet import Environment, Sheet, Variable

_SET = pattern("notebook.set")
"""A variable that a cell sets, as it stands in the JSON."""
COLAB_PYTHON = "3.12"  # since August 2025


def read(path: str, text: str) -> Sheet:
    """A Jupyter notebook; its lines are those of the JSON file."""
    sheet = Sheet(path, "notebook")
    stage = Environment(path, system="linux")
    sheet.environments.append(stage)
    try:
        data = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        sheet.problems.append(Problem(Place(path, 0), f"no JSON: {error}"))
        return sheet
    about = data.get("metadata") if isinstance(data, dict) else None
    if isinstance(about, dict) and "colab" in about:
        stage.pythons, stage.python_from = (COLAB_PYTHON,), "Colab"
    position = 0
    for line in _shell_lines(data):
        written = json.dumps(line, ensure_ascii=False)[1:-1]
        at = text.find(written[:80], position)
        position = at if at >= 0 else position
        script.fill(sheet, line.lstrip("!% \t"), text.count("\n", 0, position) + 1, {})
    for found in _SET.finditer(text):
        place = Place(path, text.count("\n", 0, found.start()) + 1)
        name, value = found[1] or found[3], found[2] or found[4] or ""
        stage.variables[name] = Variable(name, value, place)
    return sheet


def _shell_lines(data: Any) -> list[str]:
    """Lines that a shell gets, joined where they go on."""
    out: list[str] = []
    for text in _sources(data):
        if text.startswith(("%%bash", "%%sh", "!%%")):
            out += text.split("\n")[1:]
        else:
            lines = re.sub(r"\\\n", " ", text).split("\n")
            out += [line.strip() for line in lines if re.match(r"\s*[!%]", line)]
    return out


def _sources(data: Any) -> Iterator[str]:
    """The texts of the cells with code."""
    cells = data.get("cells", []) if isinstance(data, dict) else []
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", [])
            parts = source if isinstance(source, list) else [source]
            yield "".join(part for part in parts if isinstance(part, str))
