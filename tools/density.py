"""How dense functions are: the ways through each, as radon counts them; ruff's C901 counts no `and`, no `for … if`.

python -m tools.density            the figures of src
python -m tools.density 13         and every function above 13, the densest first
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SRC = Path(__file__).resolve().parent.parent / "src"
MOST = 15
"""A function with more ways through it is read twice: unfold it into steps with names, a table or a small type."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN: dict[type[ast.AST], Callable[[Any], int]] = {
    ast.BoolOp: lambda node: len(node.values) - 1,
    ast.comprehension: lambda node: 1 + len(node.ifs),
    ast.Match: lambda node: len(node.cases),
    ast.Try: lambda node: bool(node.orelse),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), lambda node: 1 + bool(node.orelse)),
    **dict.fromkeys((ast.If, ast.IfExp, ast.ExceptHandler, ast.Assert), lambda _: 1),
}
"""What adds ways through a piece of code."""


class Function(NamedTuple):
    """One function or method, with the ways through it."""

    ways: int
    place: str
    name: str


def functions(tree: ast.AST, name: str) -> Iterator[Function]:
    """Every function and method of a module; one inside another counts for itself."""
    for outer in ast.walk(tree):
        if isinstance(outer, _FUNCTIONS):
            yield Function(_ways(outer), f"{name}:{outer.lineno}", outer.name)


def _ways(function: ast.AST) -> int:
    ways, left = 1, list(ast.iter_child_nodes(function))
    while left:
        node = left.pop()
        if not isinstance(node, _FUNCTIONS):
            ways += _OWN[type(node)](node) if type(node) in _OWN else 0
            left += ast.iter_child_nodes(node)
    return ways


def _of_src() -> Iterator[Function]:
    for path in sorted(SRC.rglob("*.py")):
        yield from functions(ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(SRC)))


def main(argv: list[str]) -> int:
    """Print the figures, and the functions above a number."""
    found = sorted(_of_src(), reverse=True)
    for one in found:
        if argv and one.ways > int(argv[0]):
            print(one.ways, one.place, one.name)
    counts = [one.ways for one in found]
    above = {limit: sum(count > limit for count in counts) for limit in (10, MOST)}
    print(
        f"{len(found)} functions, median {counts[len(counts) // 2]}, above 10: {above[10]}, above {MOST}: {above[MOST]}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
