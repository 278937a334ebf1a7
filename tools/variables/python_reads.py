"""The environment variables that a Python source reads, by its syntax tree: name, type, default, known values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_HELPER = re.compile(r"env", re.IGNORECASE)
_STATE = re.compile(
    r"(?:define_|DEFINE_)?(?:optional_)?(?P<type>bool|int|integer|float|string|str|enum|enum_class|string_or_object)(?:_state|_flag)?"
)
_TYPES = {"integer": "int", "str": "string", "string_or_object": "string", "enum_class": "enum", "flag": "bool"}
_WRAPPERS = {"int": "int", "float": "float", "bool": "any"}
_MOST_VALUES = 24


class Read(NamedTuple):
    """One place that reads a variable."""

    name: str
    type: str = ""  # bool, int, float, string, enum; "" where the source does not show it
    default: str | None = None
    values: tuple[str, ...] = ()


def reads(source: str) -> list[Read]:
    """Every variable that a source reads, in order; SyntaxError for one that this Python cannot parse."""
    tree = ast.parse(source)
    tree = _Constants(tree).visit(tree)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return [read for node in ast.walk(tree) for read in _of(node, parents)]


class _Constants(ast.NodeTransformer):
    """Puts texts in the place of names that were given one once: `LOG_ENV_VAR = "TORCH_LOGS"`."""

    def __init__(self, tree: ast.AST) -> None:
        self.texts: dict[str, str] = {}
        for node in ast.walk(tree):
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign) and (text := _text(node.value)):
                self.texts[target.id] = "" if target.id in self.texts else text

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name that is read and stands for one text."""
        text = self.texts.get(node.id, "") if isinstance(node.ctx, ast.Load) else ""
        return ast.copy_location(ast.Constant(text), node) if _NAME.fullmatch(text) else node


def _of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[Read]:
    if isinstance(node, ast.Call):
        yield from _call(node, parents)
    elif isinstance(node, ast.Subscript) and _environ(node.value) and isinstance(node.ctx, ast.Load):
        name = _text(node.slice)
        if name and _NAME.fullmatch(name):
            yield _typed(name, node, parents, "", None)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        name = _text(node.left)
        if name and _NAME.fullmatch(name) and _environ(node.comparators[0]):
            yield Read(name)


def _call(node: ast.Call, parents: dict[ast.AST, ast.AST]) -> Iterator[Read]:
    function, first = _called(node.func), _text(node.args[0]) if node.args else None
    for keyword in node.keywords:
        if keyword.arg and keyword.arg.startswith("env_name"):
            yield from (Read(name, "bool") for name in _texts(keyword.value) if _NAME.fullmatch(name))
    state = _STATE.fullmatch(function)
    named = next((_text(k.value) for k in node.keywords if k.arg == "name"), None) or first
    if state and named and named.startswith("jax_"):
        yield _state(node, named.upper(), _TYPES.get(state["type"], state["type"]))
    elif function == "env_nvidia_tool" and first:
        yield Read(f"TRITON_{first.upper().replace('-', '_')}_PATH", "string")
    elif first and _NAME.fullmatch(first) and (_environ_call(node) or _HELPER.search(function)):
        yield _typed(first, node, parents, _helped(node, function), _default(node))


def _state(node: ast.Call, name: str, kind: str) -> Read:
    """A configuration option of JAX, whose variable has its name in capitals."""
    found = {k.arg: k.value for k in node.keywords}
    default = found.get("default") or (node.args[1] if len(node.args) > 1 else None)
    listed = found.get("enum_values") or (node.args[2] if kind == "enum" and len(node.args) > 2 else None)
    return Read(name, kind, _constant(default), tuple(_texts(listed))[:_MOST_VALUES] if listed else ())


def _helped(node: ast.Call, function: str) -> str:
    """The type that a helper's name, or the type that is handed to it, tells."""
    for word in ("bool", "int", "float", "str", "flag"):
        if word in function.lower():
            return _TYPES.get(word, word)
    handed = next((a.id for a in node.args[1:2] if isinstance(a, ast.Name) and a.id in ("int", "float", "str")), "")
    return _TYPES.get(handed, handed)


def _typed(name: str, node: ast.AST, parents: dict[ast.AST, ast.AST], kind: str, default: str | None) -> Read:
    """The read with what surrounds it: int(…), a comparison with constants."""
    values: list[str] = []
    above = parents.get(node)
    while isinstance(above, ast.Call | ast.Attribute | ast.Compare | ast.BoolOp):
        if isinstance(above, ast.Call):
            wrapper = _WRAPPERS.get(_called(above.func), "")
            kind = kind or ("" if wrapper == "any" else wrapper)
        elif isinstance(above, ast.Compare):
            values += [v for one in above.comparators for v in _texts(one)]
            break
        above = parents.get(above)
    if (
        values
        and not kind
        and set(values) <= {"0", "1", "true", "True", "TRUE", "false", "False", "yes", "no", "on", "off", "y", "t", ""}
    ):
        kind = "bool"
    return Read(name, kind, default, tuple(values)[:_MOST_VALUES])


def _default(node: ast.Call) -> str | None:
    places = [a for a in node.args[1:3] if isinstance(a, ast.Constant)]
    places += [k.value for k in node.keywords if k.arg == "default"]
    return _constant(places[-1]) if places else None


def _constant(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and node.value is not None and len(str(node.value)) <= 40:
        return str(node.value)
    return None


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _environ(node: ast.expr) -> bool:
    return _called(node) == "environ"


def _environ_call(node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in ("get", "pop"):
        return _environ(function.value)
    return _called(function) == "getenv"


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _texts(node: ast.AST | None) -> list[str]:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [t for one in node.elts if (t := _text(one)) is not None]
    one = _text(node)
    return [] if one is None else [one]
