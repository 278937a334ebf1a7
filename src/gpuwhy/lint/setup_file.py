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
    named = _assigned(tree.body)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _name(call.func) == "setup":
            _setup(sheet, {k.arg: _resolved(k.value, named) for k in call.keywords if k.arg}, named)
    _put_together(sheet, named)
    return sheet


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """What names are set to, in branches too; of two lists the longer one."""
    out: dict[str, ast.expr] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, before = node.targets[0].id, out.get(node.targets[0].id)
            if not (isinstance(before, ast.List) and isinstance(node.value, ast.List)) or _longer(node.value, before):
                out[name] = node.value
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inner = _assigned([*node.body, *getattr(node, "orelse", [])])
            out = {**inner, **{k: v for k, v in out.items() if not _longer(inner.get(k), v)}}
    return out


def _longer(one: ast.expr | None, other: ast.expr) -> bool:
    return isinstance(one, ast.List) and (not isinstance(other, ast.List) or len(one.elts) > len(other.elts))


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
                if re.search(r"[\w.]+[<>=~!]=?[\w.]+[A-Za-z][\w.-]*[<>=~!]=?\d", item.value):
                    said = f"no requirement: {item.value[:60]!r} (a comma is missing between two texts)"
                    sheet.problems.append(Problem(Place(sheet.path, item.lineno), said))


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
