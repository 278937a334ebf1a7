"""The stalling attack: texts made from an expression's own parts, on which a backtracking engine takes longest.

`python fuzz/stall.py [NAME…]` attacks every expression of the package (or those whose names contain a word) and prints
those that take longer than they may. tests/border/test_stall.py runs the same over all of them, short.
"""

from __future__ import annotations

import functools
import random
import re
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
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
WINDOW, MOST = 1024, 20.0
"""What the log reader hands to an expression at once, and the turns of the yardstick that it may take over it."""
YARDSTICK = re.compile("[ab]{0,160}?c")
"""A search of known cost (160 steps at each of a window's places), about a millisecond: no machine's speed matters."""


class Slow(NamedTuple):
    """A text on which an expression takes long, counted in turns of the yardstick."""

    turns: float
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
    """The attack that takes longest, measured thrice where it looks bad; stops at one that takes `enough` turns."""
    worst, search, pattern = Slow(0.0, ""), expression.search, expression.pattern
    made = list(dict.fromkeys(texts(pattern, size, expression.flags & re.VERBOSE, pumps)))
    for text in made if len(made) <= most else random.Random(SEED).sample(made, most):
        given = text.encode("utf-8", "replace") if isinstance(pattern, bytes) else text
        took = _timed(search, given) / _usual()
        if took > worst.turns and took > enough / 4:
            took = min(took, turns(lambda: search(given)), turns(lambda: search(given)))  # noqa: B023  called at once
        if took > worst.turns:
            worst = Slow(took, text)
        if worst.turns > enough:
            break
    return worst


def turns(work: Callable[[], object]) -> float:
    """The CPU time of some work, counted in turns of the yardstick made just before and after it."""
    before = _yardstick()
    took = _timed(lambda _: work(), None)
    return took / max(before, _yardstick())


def least(work: Callable[[], object], most: float) -> float:
    """The fewest turns of some work in up to five tries: what stalls, stalls each time; what collects garbage, once."""
    fewest = turns(work)
    for _ in range(4):
        if fewest < most:
            break
        fewest = min(fewest, turns(work))
    return fewest


@functools.cache
def _usual() -> float:
    """A first measure of the yardstick; what looks bad by it is measured against fresh ones."""
    return min(_yardstick() for _ in range(5))


def _yardstick() -> float:
    return _timed(YARDSTICK.search, "a" * WINDOW)


def _timed(search: Callable[[Any], object], text: Any) -> float:
    start = time.thread_time()  # ours alone: the machine may be busy
    search(text)
    return time.thread_time() - start


def signatures() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The expressions of the catalogue, as the log reader compiles them."""
    from gpuwhy.symptoms import reader

    for number, one in enumerate(reader.signatures()):
        yield one.id, reader._compiled(number)


def everywhere(*folders: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every expression that the package (or these folders of it) holds compiled or calls `re` with, each once."""
    seen = {(one.pattern, one.flags) for _, one in signatures()} if not folders else set()
    for name, one in _everywhere(folders):
        if (one.pattern, one.flags) not in seen:
            seen.add((one.pattern, one.flags))
            yield name, one


def _everywhere(folders: tuple[str, ...]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, one, how in written(folders):
        yield name, _anchored(one) if how in ("match", "fullmatch") else one
    import importlib
    import pkgutil

    import gpuwhy

    for found in pkgutil.walk_packages(gpuwhy.__path__, "gpuwhy."):
        if ".children" in found.name or found.name.endswith("__main__"):
            continue
        if folders and found.name.split(".")[1] not in folders:
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError:
            continue
        yield from _held(found.name.removeprefix("gpuwhy."), vars(module))


def written(folders: tuple[str, ...] = ()) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Every expression that stands in a call of `re` in the sources, by file and line, with the way it is used."""
    import ast

    import gpuwhy

    folder = Path(gpuwhy.__path__[0])
    for file in sorted(file for one in folders or ("",) for file in (folder / one).rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if "re." not in source:
            continue
        tree = ast.parse(source)
        held = {id(part) for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign) for part in ast.walk(one)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS and node.args and id(node) not in held:
                given = node.args[0]
                if isinstance(given, ast.Constant) and isinstance(given.value, (str, bytes)):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        how = ast.unparse(node.func).removeprefix("re.")
                        yield f"{file.relative_to(folder)}:{node.lineno}", re.compile(given.value, _flags(node)), how


def _flags(node: Any) -> int:
    """The flags of a call, as far as they are written in it."""
    import ast

    words = ast.unparse(node).rpartition(given)[2] if (given := ast.unparse(node.args[0])) else ""
    return sum(
        int(getattr(re, name)) for name in ("IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE") if f"re.{name}" in words
    )


CALLS = {
    f"re.{name}" for name in ("compile", "search", "match", "fullmatch", "sub", "findall", "finditer", "split", "subn")
}


def _held(where: str, names: dict[str, Any]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """What a module's names hold, however deep: rows, registries, classes, defaults and closures of functions."""
    source = Path(names["__file__"]).read_text(encoding="utf-8") if names.get("__file__") else ""
    for name, value in list(names.items()):
        if name.startswith("__") or isinstance(value, types.ModuleType):
            continue
        used = set(re.findall(rf"\b{re.escape(name)}\.(\w+)\(", source))
        at_start = isinstance(value, re.Pattern) and bool(used) and used <= {"match", "fullmatch"}
        for one in _below(value, set(), 0):
            yield f"{where}.{name}", _anchored(one) if at_start else one


def _anchored(one: re.Pattern[Any]) -> re.Pattern[Any]:
    """The same for one that is only asked what a text begins with."""
    try:
        whole = rb"\A(?:%b)" % one.pattern if isinstance(one.pattern, bytes) else rf"\A(?:{one.pattern})"
        return re.compile(whole, one.flags)
    except re.error:  # flags of its own at the start
        return one


DEEPEST = 6


def _below(value: Any, seen: set[int], deep: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif id(value) not in seen and deep < DEEPEST:
        seen.add(id(value))
        for part in _parts(value):
            yield from _below(part, seen, deep + 1)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
        return [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *cells]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, type):
        return list(vars(value).values()) if value.__module__.startswith("gpuwhy") else ()
    if not str(type(value).__module__).startswith("gpuwhy"):
        return ()
    fields = getattr(type(value), "__struct_fields__", ())
    return [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in fields)]


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def groups() -> Iterator[tuple[Iterator[tuple[str, re.Pattern[Any]]], int, float]]:
    """What is attacked, with texts of which size, and the turns of the yardstick that each may take."""
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
            found = slowest(expression, size, enough=1000.0)
            if found.turns > most:
                bad += 1
                print(f"{found.turns:.0f} turns  {name}  {found.text[:60]!r}  {expression.pattern[:90]!r}", flush=True)
    print(f"{count} expressions, {bad} that stall")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
