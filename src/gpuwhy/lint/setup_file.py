"""setup.py and setup.cfg: what they require, read from literals; nothing is run."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator

from gpuwhy.lint import requirements
from gpuwhy.lint.sheet import Environment, Pin, Sheet
from gpuwhy.lint.trees import parsed
from gpuwhy.lint.versions import pythons_in
from gpuwhy.model.lint import Place, Problem

_CHARACTERS = 500_000


def read(path: str, text: str) -> Sheet:
    """A setup.py: the keywords of setup(), where they are lists of texts or names of such lists."""
    sheet = Sheet(path, "setup")
    try:
        tree = parsed(text[:_CHARACTERS])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        sheet.problems.append(Problem(Place(path, getattr(error, "lineno", 0) or 0), f"no Python: {error}"))
        return sheet
    named = {
        n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _name(call.func) == "setup":
            _setup(sheet, {k.arg: _resolved(k.value, named) for k in call.keywords if k.arg}, named)
    _put_together(sheet, named)
    return sheet


def _put_together(sheet: Sheet, named: dict[str, ast.expr]) -> None:
    """Lists of requirements in dictionaries that the program makes its extras of: each an environment of its own."""
    read = {pin.place for stage in sheet.environments for pin in stage.pins}
    for name, value in named.items():
        lists = value.values if isinstance(value, ast.Dict) and re.search(r"extra|require|deps|depend", name) else []
        for node in lists:
            pins = [pin for pin in _pins(sheet, node, named) if pin.place not in read]
            sheet.environments += [Environment(sheet.path, pins)] if pins else []


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _resolved(node: ast.expr, named: dict[str, ast.expr]) -> ast.expr:
    return named.get(node.id, node) if isinstance(node, ast.Name) else node


def _setup(sheet: Sheet, keywords: dict[str, ast.expr], named: dict[str, ast.expr]) -> None:
    told = keywords.get("python_requires")
    pythons = pythons_in(told.value) if isinstance(told, ast.Constant) and isinstance(told.value, str) else ()
    always = list(_pins(sheet, keywords.get("install_requires"), named))
    extras = keywords.get("extras_require")
    values = extras.values if isinstance(extras, ast.Dict) else []
    for node in (None, *values):
        stage = Environment(sheet.path, [*always, *_pins(sheet, node, named)], pythons=pythons)
        stage.python_from = "python_requires"
        sheet.environments.append(stage)


def _pins(sheet: Sheet, node: ast.expr | None, named: dict[str, ast.expr]) -> Iterator[Pin]:
    node = _resolved(node, named) if node is not None else None
    single = [node] if isinstance(node, ast.Constant) else []
    for item in node.elts if isinstance(node, ast.List | ast.Tuple) else single:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            try:
                yield requirements.requirement(item.value, Place(sheet.path, item.lineno))
            except requirements.BadRequirementError:
                continue


def read_config(path: str, text: str) -> Sheet:
    """A setup.cfg: install_requires and the extras."""
    sheet = Sheet(path, "setup")
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text[:_CHARACTERS])
    except (configparser.Error, ValueError) as error:
        sheet.problems.append(Problem(Place(path, 0), f"no setup.cfg: {str(error).splitlines()[0]}"))
        return sheet
    pythons = pythons_in(parser.get("options", "python_requires", fallback=""))
    always = list(_listed(sheet, parser.get("options", "install_requires", fallback=""), text))
    extras = dict(parser.items("options.extras_require")) if parser.has_section("options.extras_require") else {}
    for entries in ("", *extras.values()):
        pins = [*always, *_listed(sheet, entries, text)]
        sheet.environments.append(Environment(path, pins, pythons=pythons, python_from="python_requires"))
    return sheet


def _listed(sheet: Sheet, entries: str, text: str) -> Iterator[Pin]:
    for entry in entries.split("\n"):
        line = text.count("\n", 0, text.find(entry)) + 1 if entry.strip() else 0
        try:
            if entry.strip() and not entry.strip().startswith(("#", "file:")):
                yield requirements.requirement(entry.strip(), Place(sheet.path, line))
        except requirements.BadRequirementError:
            continue
