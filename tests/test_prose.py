"""No decision is read out of a sentence of ours: code decides by kinds, fates and flaws, and words are for people."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.test_architecture import SRC, tree_of

PROSE = frozenset({"reason", "why", "health", "because", "headline", "says", "note"})
"""Fields that hold sentences."""
OLD_RECORDINGS = SRC / "host" / "recorded.py"  # the one place that reads what older releases wrote
ASKS = ("startswith", "endswith", "find", "index", "count")
PATTERNS = ("match", "search", "fullmatch", "findall", "finditer")


def prose(node: ast.expr) -> bool:
    """Whether an expression is such a sentence, or a part or a variant of one."""
    if isinstance(node, ast.Attribute):
        return node.attr in PROSE or (node.attr in ("value", "text") and prose(node.value))
    if isinstance(node, ast.Name):
        return node.id == "reason"
    if isinstance(node, ast.Subscript):
        return prose(node.value)
    if isinstance(node, ast.Call):
        method = isinstance(node.func, ast.Attribute) and prose(node.func.value)
        wrapped = isinstance(node.func, ast.Name) and node.func.id in ("value_or", "str") and prose(node.args[0])
        return method or wrapped
    return False


def named(tree: ast.AST) -> frozenset[str]:
    """The names that stand for one finding after the other: for f in cause.because."""
    loops = (one for one in ast.walk(tree) if isinstance(one, ast.comprehension | ast.For))
    return frozenset(
        one.target.id
        for one in loops
        if isinstance(one.target, ast.Name) and isinstance(one.iter, ast.Attribute) and one.iter.attr == "because"
    )


def decisions(tree: ast.AST) -> Iterator[int]:
    """The lines that compare a sentence with words."""
    for part in ast.walk(tree):  # a name counts within the expression that binds it
        if isinstance(part, ast.GeneratorExp | ast.ListComp | ast.SetComp) and (names := named(part)):
            texts = (one for one in ast.walk(part.elt) if isinstance(one, ast.Compare))
            yield from (one.lineno for one in texts if _asks_text(one, names))
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            left, right = node.left, node.comparators[0]
            within = isinstance(node.ops[0], ast.In | ast.NotIn)
            words = any(isinstance(one, ast.Constant) and one.value for one in (left, right))
            if (within and prose(right)) or (words and (prose(left) or prose(right))):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.func.attr in ASKS and prose(node.func.value)
            if asked or (node.func.attr in PATTERNS and any(prose(one) for one in node.args)):
                yield node.lineno


def _asks_text(node: ast.Compare, names: frozenset[str]) -> bool:
    """Whether words are looked for in the text of one of these."""
    found = node.comparators[0]
    of = isinstance(found, ast.Attribute) and found.attr == "text" and isinstance(found.value, ast.Name)
    return isinstance(node.ops[0], ast.In | ast.NotIn) and of and found.value.id in names


PHRASE = re.compile(r"[a-z]{2,} [a-z]{2,}|[a-z]{2,}: $|^[a-z]{2,} ")
"""A piece of a sentence, not a name or a value."""
OTHERS_WORDS = {
    "symptoms/": "logs", "rooms/text/": "logs", "_text.py": "logs", "ranks/": "logs of a job's processes",
    "host/recorded.py": "what older releases wrote", "host/children/": "run inside other programs",
    "lint/": "files that people wrote", "observe/kernel_log.py": "the kernel", "page/told.py": "a line of a log",
    "observe/distributions.py": "METADATA", "observe/contradictions.py": "METADATA", "observe/unfit.py": "METADATA",
    "proving/packages.py": "METADATA", "proving/looks.py": "compute-sanitizer", "inspection/loaded.py": "glibc",
    "repair/": "pip, uv and conda", "cli/__init__.py": "Python's own error", "fleet/ray_answers.py": "another gpuwhy",
    "reason/watched.py": "a program's output",
    "model/facts/loads.py": "way(), the one reader of that notation", "cli/parser.py": "argparse",
    "border/minisign.py": "the format of signatures",
}  # fmt: skip
"""Who reads what others wrote, which has nothing but words."""


def phrase(node: ast.expr) -> bool:
    """Whether an expression is a constant piece of a sentence, or several."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(phrase(one) for one in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(PHRASE.search(node.value))


def searches(tree: ast.AST) -> Iterator[int]:
    """The lines that look for a piece of a sentence in whatever it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            several = isinstance(node.comparators[0], ast.Tuple | ast.List | ast.Set | ast.Dict)
            asked = [] if several else [node.left]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.args if node.func.attr in (*ASKS[:3], *PATTERNS) else []
        else:
            continue
        yield from (node.lineno for one in asked if phrase(one))


def test_no_decision_is_read_out_of_a_sentence():
    wrong = []
    for file in sorted(SRC.rglob("*.py")):
        name, tree = file.relative_to(SRC).as_posix(), tree_of(file)
        found = list(decisions(tree)) if file != OLD_RECORDINGS else []
        if not any(name.startswith(one) or name.endswith(one) for one in OTHERS_WORDS):
            found += searches(tree)
        wrong += [f"{name}:{line}" for line in found]
    assert wrong == [], "give it a kind, and compare that"


@pytest.mark.parametrize(
    "code",
    [
        '"not exist" in e.text',
        'text.startswith("proven: ")',
        're.search("by signal (.+)", why)',
        'x.startswith(("but it", "a"))',
    ],
)
def test_the_check_sees_pieces_of_sentences_anywhere(code):
    assert list(searches(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        '"stops the search" in need.found.reason',
        'stat.reason.startswith("x")',
        'reason = u.reason\nif "cut short" in reason: pass',
        'value_or(copy.health, "ok").startswith("truncated")',
        'missing.why == "not found"',
        're.search("x", one.because)',
        'u.reason.lower().endswith("x")',
        '"cannot share" in step.note',
        'cause.because[0].text.startswith("proven: ")',
        'any("cudnn" in f.text for f in c.because)',
    ],
)
def test_the_check_sees_them(code):
    assert list(decisions(ast.parse(code)))


@pytest.mark.parametrize("code", ["text = f'{a.reason}'", "a.reason.removeprefix(path)", "a.reason == b.reason"])
def test_the_check_lets_words_be_shown(code):
    assert not list(decisions(ast.parse(code)))
