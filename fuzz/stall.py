"""The stalling attack: texts made from an expression's own parts, on which a backtracking engine takes longest.

`python fuzz/stall.py [NAME…]` attacks every expression of the package (or those whose names contain a word) and prints
those that take longer than they may. tests/border/test_stall.py runs the same over all of them, short.
"""

from __future__ import annotations

import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as parser

PUMPS = (
    "a",
    "1",
    ".",
    "/",
    " ",
    "_",
    "-",
    "A1",
    "9.",
    ".so.",
    "é",
    "'",
    ":",
    "a.",
    "a b ",
    "\t",
    ",",
    "(",
    "=",
    "\\",
    '"',
)
SEED = 20261115
WINDOW, MOST = 1024, 0.02
"""What the log reader hands to an expression at once, and the seconds of CPU that it may take over it."""


class Slow(NamedTuple):
    """A text on which an expression takes long."""

    seconds: float
    text: str


def example(node: Any, chooser: random.Random) -> str:
    """A short text that a parsed expression could match; approximate, for attacks only."""
    return "".join(_example(op, value, chooser) for op, value in node)


def _example(op: Any, value: Any, chooser: random.Random) -> str:
    name = str(op)
    if name == "LITERAL":
        return chr(value)
    if name == "NOT_LITERAL":
        return "a" if value != ord("a") else "b"
    if name == "ANY":
        return "a"
    if name == "IN":
        return _of_set(value, chooser)
    if name == "BRANCH":
        return example(chooser.choice(value[1]), chooser)
    if name in ("SUBPATTERN", "ATOMIC_GROUP"):
        return example(value[-1] if name == "SUBPATTERN" else value, chooser)
    if name.endswith("REPEAT"):
        return example(value[2], chooser) * max(value[0], 1)
    return ""


def _of_set(items: Any, chooser: random.Random) -> str:
    first, rest = items[0], items
    if str(first[0]) == "NEGATE":
        taken = {value for op, value in items if str(op) == "LITERAL"}
        return next(c for c in "aA1 ._" if ord(c) not in taken)
    op, value = chooser.choice(rest)
    if str(op) == "LITERAL":
        return chr(value)
    if str(op) == "RANGE":
        return chr(value[0])
    return {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}.get(str(value), "!")


def repeats(node: Any, before: str, chooser: random.Random) -> Iterator[tuple[str, str]]:
    """Each repetition of an expression: a text that leads to it, and one turn of it."""
    for op, value in node:
        name = str(op)
        if name.endswith("REPEAT"):
            yield before, example(value[2], chooser)
            yield from repeats(value[2], before, chooser)
        elif name == "BRANCH":
            for one in value[1]:
                yield from repeats(one, before, chooser)
        elif name == "SUBPATTERN":
            yield from repeats(value[-1], before, chooser)
        elif name == "ATOMIC_GROUP":
            yield from repeats(value, before, chooser)
        before += _example(op, value, chooser)


def texts(pattern: str | bytes, size: int, flags: int = 0, pumps: Iterable[str] = PUMPS) -> Iterator[str]:
    """The attacks on one expression, each of about so many characters."""
    source = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    chooser = random.Random(SEED)
    tree = parser.parse(source, flags)
    whole = example(tree, chooser)
    seen = {("", whole)} | {(before[-200:], turn) for before, turn in repeats(tree, "", chooser)}
    leads = {before for before, _ in seen} | {""}
    pairs = list(seen) + [(lead, pump) for lead in leads for pump in pumps] + [(lead, whole[:-1]) for lead in leads]
    for before, turn in sorted({(b, t) for b, t in pairs if t}):
        yield (before + turn * size)[:size] + "\0"
        yield ((before + turn) * size)[:size] + "\0"
        yield ((before + turn * 8 + " ") * size)[:size] + "\0"


def slowest(
    expression: re.Pattern[Any],
    size: int,
    enough: float = 1e9,
    pumps: Iterable[str] = PUMPS,
    most: int = 1000,
) -> Slow:
    """The attack that takes longest, measured three times where it looks bad; stops at one that takes `enough`."""
    worst, search, pattern = Slow(0.0, ""), expression.search, expression.pattern
    made = list(dict.fromkeys(texts(pattern, size, expression.flags & re.VERBOSE, pumps)))
    for text in made if len(made) <= most else random.Random(SEED).sample(made, most):
        given = text.encode("utf-8", "replace") if isinstance(pattern, bytes) else text
        took = _timed(search, given)
        if took > worst.seconds:
            took = min(took, _timed(search, given), _timed(search, given)) if took > enough / 4 else took
        if took > worst.seconds:
            worst = Slow(took, text)
        if worst.seconds > enough:
            break
    return worst


def _timed(search: Callable[[Any], object], text: Any) -> float:
    start = time.thread_time()  # ours alone: the machine may be busy
    search(text)
    return time.thread_time() - start


def signatures() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The expressions of the catalogue, as the log reader compiles them."""
    from gpuwhy.symptoms import reader

    for number, one in enumerate(reader.signatures()):
        yield one.id, reader._compiled(number)


def everywhere() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every expression that some module of the package holds compiled or calls `re` with, by its place."""
    yield from ((name, one) for name, one, how in written() if how not in ("match", "fullmatch"))
    import importlib
    import pkgutil

    import gpuwhy

    for found in pkgutil.walk_packages(gpuwhy.__path__, "gpuwhy."):
        if ".children" in found.name or found.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError:
            continue
        yield from _held(found.name.removeprefix("gpuwhy."), vars(module))


def written() -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Every expression that stands in a call of `re` in the sources, by file and line, with the way it is used."""
    import ast
    from pathlib import Path

    import gpuwhy

    folder = Path(gpuwhy.__path__[0])
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS and node.args:
                given = node.args[0]
                if isinstance(given, ast.Constant) and isinstance(given.value, (str, bytes)):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        how = ast.unparse(node.func).removeprefix("re.")
                        yield f"{file.relative_to(folder)}:{node.lineno}", re.compile(given.value), how


CALLS = {f"re.{name}" for name in ("search", "match", "fullmatch", "sub", "findall", "finditer", "split", "subn")}


def _held(where: str, names: dict[str, Any]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in list(names.items()):
        parts = value if isinstance(value, (tuple, list)) else value.values() if isinstance(value, dict) else [value]
        for part in parts:
            for one in part if isinstance(part, (tuple, list)) else [part]:
                if isinstance(one, re.Pattern):
                    yield f"{where}.{name}", one


def groups() -> Iterator[tuple[Iterator[tuple[str, re.Pattern[Any]]], int, float]]:
    """What is attacked, with texts of which size, and the seconds of CPU that each may take."""
    yield signatures(), WINDOW, MOST
    yield everywhere(), WINDOW, 15 * MOST


def main(words: Iterable[str]) -> int:
    """Attack, and print what stalls."""
    wanted, bad, count = tuple(words), 0, 0
    for group, size, most in groups():
        for name, expression in group:
            if wanted and not any(word in name for word in wanted):
                continue
            count += 1
            found = slowest(expression, size, enough=1.0)
            if found.seconds > most:
                bad += 1
                print(f"{found.seconds:.3f} s  {name}  {found.text[:60]!r}  {expression.pattern[:90]!r}", flush=True)
    print(f"{count} expressions, {bad} that stall")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
