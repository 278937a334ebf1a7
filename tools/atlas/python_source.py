"""Python source to messages: what is raised, warned, logged as an error or asserted, by the syntax tree."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from gpuwhy.knowledge.shingles import HOLE
from tools.atlas.message import Message, braces, percent

_LOGS = {
    "error": "ERROR", "exception": "ERROR", "critical": "CRITICAL", "fatal": "FATAL", "warning": "WARNING",
    "warn": "WARNING", "warning_once": "WARNING", "error_once": "ERROR",
}  # fmt: skip
_RAISED = re.compile(r"(Error|Exception|Warning|Exit|Failure|Failed|Unsupported|NotFound|Mismatch)$")
_PASSED = {"dedent", "cleandoc", "strip", "lstrip", "rstrip", "_", "warning_format", "fill", "str", "join"}
_CHECKS = re.compile(r"^_?(check|check_with|check_value|check_type|check_index|check_not_implemented|assert\w*)$")
_LIKELY = re.compile(rb"raise |warn|[eE]rror|assert|critical|fatal|_check|Exception")
Names = dict[str, list[tuple[int, ast.expr]]]
_DEEPEST = 30


def messages(source: bytes, module: str) -> list[Message]:
    """Every message of a file; none where it is no Python that this interpreter can read."""
    if not _LIKELY.search(source):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    reader = _Reader(module)
    reader.body(tree, "", {})
    return reader.found


class _Reader:
    def __init__(self, module: str) -> None:
        self._module = module
        self.found: list[Message] = []

    def body(self, scope: ast.AST, name: str, outer: Names) -> None:
        """Read a module, class or function; names assigned in it shadow those outside."""
        own = list(_own(scope))
        names = {**outer, **_assigned(own)}
        for node in own:
            for expression, kind in _spoken(node, name):
                text = template(expression, names, getattr(node, "lineno", 0))
                if text:
                    self.found.append(Message(text, self._module, name, kind, getattr(node, "lineno", 0)))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.body(node, f"{name}.{node.name}" if name else node.name, names)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope; of the functions and classes in it only themselves."""
    todo = list(ast.iter_child_nodes(scope))[::-1]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            todo += list(ast.iter_child_nodes(node))[::-1]


def _assigned(nodes: list[ast.AST]) -> Names:
    out: Names = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            out.setdefault(node.targets[0].id, []).append((node.lineno, node.value))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            out.setdefault(node.target.id, []).append((node.lineno, node.value))
    return out


def _spoken(node: ast.AST, within: str) -> Iterator[tuple[ast.expr, str]]:
    """(message, kind) where a node raises, warns, logs or asserts, or is what an exception says of itself."""
    if isinstance(node, ast.Return) and node.value is not None and within.endswith(".__str__"):
        yield node.value, within.split(".")[-2]
    if within.endswith(".__init__") and isinstance(node, ast.Call) and _last(node.func) == "__init__":
        yield from ((one, within.split(".")[-2]) for one in node.args if _texty(one))
    if isinstance(node, ast.Assert) and node.msg is not None:
        yield node.msg, "AssertionError"
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and not _RAISED.search(_last(node.exc.func)):
        yield from _first(node.exc, _last(node.exc.func))
    if isinstance(node, ast.Call):
        yield from _called(node)


def _called(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    name = _last(call.func)
    if _RAISED.search(name):
        yield from _first(call, name)
    elif name in ("warn", "warn_explicit") and _owner(call.func) == "warnings":
        category = (
            call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "category"), None)
        )
        yield from _first(call, _last(category) if category is not None else "UserWarning")
    elif name in _LOGS and isinstance(call.func, ast.Attribute):
        for expression, _ in _first(call, ""):
            yield (ast.BinOp(expression, ast.Mod(), call.args[-1]) if len(call.args) > 1 else expression), _LOGS[name]
    elif _CHECKS.match(name) and len(call.args) > 1:
        last = call.args[-1]
        yield (last.body if isinstance(last, ast.Lambda) else last), "RuntimeError"
    elif name in ("unimplemented", "unimplemented_v2"):
        yield from ((k.value, "Unsupported") for k in call.keywords if k.arg in ("explanation", "context", "gb_type"))


def _first(call: ast.Call, kind: str) -> Iterator[tuple[ast.expr, str]]:
    for one in call.args[:3]:
        if not isinstance(one, ast.Starred) and (_texty(one) or one is call.args[0]):
            yield one, kind
            return
    yield from ((k.value, kind) for k in call.keywords if k.arg in ("msg", "message", "reason", "detail"))


def _texty(node: ast.expr) -> bool:
    return isinstance(node, (ast.JoinedStr, ast.BinOp)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _owner(node: ast.expr) -> str:
    return _last(node.value) if isinstance(node, ast.Attribute) else ""


def template(node: ast.expr, names: Names, line: int, depth: int = 0) -> str:
    """The text of an expression with holes; "" where it has no words of its own."""
    text = _text(node, names, line, depth)
    return text if text.strip(HOLE + " \n") else ""


def _text(node: ast.expr, names: Names, line: int, depth: int) -> str:
    if depth > _DEEPEST:
        return HOLE
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else HOLE
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(v, names, line, depth + 1) if isinstance(v, ast.Constant) else HOLE for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, names, line, depth + 1) + _text(node.right, names, line, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return percent(_text(node.left, names, line, depth + 1))
    if isinstance(node, ast.Name):
        before = [value for at, value in names.get(node.id, ()) if at <= line]
        return _text(before[-1], names, line, depth + 8) if before else HOLE
    return _of_call(node, names, line, depth) if isinstance(node, ast.Call) else HOLE


def _of_call(node: ast.Call, names: Names, line: int, depth: int) -> str:
    name = _last(node.func)
    if name == "format" and isinstance(node.func, ast.Attribute):
        return braces(_text(node.func.value, names, line, depth + 1))
    if name == "join" and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
        return "\n".join(_text(e, names, line, depth + 1) for e in node.args[0].elts)
    if name in _PASSED and name != "join":
        inner = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
        return _text(inner, names, line, depth + 1) if inner is not None else HOLE
    return HOLE
