"""CMakeLists.txt and *.cmake: the calls, with the conditions that they stand under; nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.lint.sheet import Call, Environment, Sheet

_CHARACTERS, _CALLS = 500_000, 20_000
_START = re.compile(r"[ \t]*([A-Za-z_]\w*)[ \t]*\(")
_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|#\[\[.*?\]\]|#[^\n]*|[()]|[^\s()\"#]+|\s+", re.DOTALL)


def read(path: str, text: str) -> Sheet:
    """A CMake file, as one environment that has its calls."""
    return Sheet(path, "cmake", environments=[Environment(path, calls=list(calls(text)))])


def calls(text: str) -> Iterator[Call]:
    """Every call in order; `under` holds the conditions around it, of an `else` that of its `if`."""
    conditions: list[str] = []
    for name, words, line in _plain(text[:_CHARACTERS]):
        if name in ("elseif", "endif") and conditions:
            conditions.pop()
        if name in ("if", "elseif"):
            conditions.append(" ".join(words))
        elif name not in ("else", "endif"):
            yield Call(name, words, line, tuple(conditions))


def _plain(text: str) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Names in lower case, the words of each call, and its line."""
    place, count = 0, 0
    while place < len(text) and count < _CALLS:
        found = _START.match(text, place)
        if not found:
            token = _TOKEN.match(text, place)
            place = token.end() if token else place + 1
            continue
        words, end = _words(text, found.end())
        count += 1
        yield found[1].lower(), words, text.count("\n", 0, found.start(1)) + 1
        place = end


def _words(text: str, place: int) -> tuple[tuple[str, ...], int]:
    """What stands between a call's parentheses, and where it ends."""
    words: list[str] = []
    depth = 1
    while place < len(text):
        found = _TOKEN.match(text, place)
        word = found[0] if found else text[place]
        place += len(word)
        depth += (word == "(") - (word == ")")
        if depth == 0:
            break
        if word.strip() and not word.startswith("#"):
            words.append(word.strip('"'))
    return tuple(words), place
