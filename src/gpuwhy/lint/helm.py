"""Helm: a chart's template with the defaults of its values.yaml; a small part of the language, nothing is run.

What is not understood is unknown: it leaves a mark in the text and `doubt`, and nobody judges what it may decide.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gpuwhy.lint.sheet import Read
from gpuwhy.lint.yamls import BadYamlError, Map, Node, Seq, documents

UNKNOWN = "helm-unknown"
_WORD = re.compile(r"\"(?:\\.|[^\"\\])*\"|`[^`]*`|\(|\)|\||[^\s()|]+")
_NAMING = re.compile(r"name|label|selector|annotation|account|chart|version|checksum|namespace", re.IGNORECASE)
_LINES, _LEVELS = 20_000, 60


class Line(NamedTuple):
    """A line of the rendered text and the template's line that it came from."""

    text: str
    line: int


class Chart(NamedTuple):
    """What templates are filled with."""

    values: Node
    name: str
    version: str


def chart_of(path: str, read: Read) -> Chart | None:
    """The chart that a template belongs to; None where no values.yaml is found above it."""
    folder = posixpath.dirname(path)
    for _ in range(4):
        values, about = (read(posixpath.join(folder, name)) for name in ("values.yaml", "Chart.yaml"))
        if values is not None and about is not None:
            told = _mapping(about)
            return Chart(_mapping(values), told.text("name"), told.text("appVersion") or "latest")
        if folder in ("", ".", "/"):
            break
        folder = posixpath.dirname(folder)
    return None


def _mapping(text: str) -> Map:
    try:
        found = documents(text)
    except BadYamlError:
        return Map()
    return found[0] if found and isinstance(found[0], Map) else Map()


class Template:
    """One template; `render` gives its lines, `doubt` is whether something was not understood."""

    def __init__(self, text: str, chart: Chart) -> None:
        self.chart = chart
        self.doubt = False
        self.known: dict[str, Any] = {}
        self.parts = list(_parts(re.sub(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", _blank, text, flags=re.DOTALL)))
        self.out: list[Line] = [Line("", 1)]

    def render(self) -> list[Line]:
        """The whole template."""
        self._block(0, self.chart.values, True, 0)
        return self.out[:_LINES]

    def _block(self, at: int, dot: Any, shown: bool, level: int) -> int:
        """Parts until the `end` or `else` of this level; returns where that is."""
        while at < len(self.parts) and level < _LEVELS and len(self.out) < _LINES:
            text, action, line = self.parts[at]
            if shown:
                self._write(text, line)
            word = action.split(None, 1)[0] if action else ""
            if word in ("end", "else"):
                return at
            if word in ("if", "with", "range", "define", "block"):
                at = self._branch(at, word, dot, shown, level)
            elif shown and action:
                self._value(action, dot, line + text.count("\n"))
            at += 1
        return at

    def _branch(self, at: int, word: str, dot: Any, shown: bool, level: int) -> int:
        action = self.parts[at].action
        value = self._evaluate(action[len(word) :], dot) if word not in ("define", "block") else None
        self.doubt |= shown and value is UNKNOWN
        taken = shown and _holds(value)
        inner = value if word == "with" else dot
        items = _items(value) if word == "range" and taken else [inner]
        end = at
        for item in items[:50] or [inner]:
            end = self._block(at + 1, item, taken and bool(items), level + 1)
        return self._otherwise(end, dot, shown and not taken, word != "define", level)

    def _otherwise(self, end: int, dot: Any, left: bool, shown: bool, level: int) -> int:
        """The else parts of a branch: the first whose condition holds, where nothing before it was taken."""
        while end < len(self.parts) and self.parts[end].action.startswith("else"):
            rest = self.parts[end].action[4:].strip()
            value = self._evaluate(rest[2:], dot) if rest.startswith("if") else True
            here = left and _holds(value)
            end = self._block(end + 1, dot, here and shown, level + 1)
            left = left and not here
        return end

    def _write(self, text: str, line: int) -> None:
        first, *rest = text.split("\n")
        last = self.out[-1]
        self.out[-1] = Line(last.text + first, last.line if last.text.strip() else line)
        self.out += [Line(one, line + number) for number, one in enumerate(rest, 1)]

    def _value(self, action: str, dot: Any, line: int) -> None:
        named = re.match(r"\$(\w*)\s*:?=\s*(.*)", action, re.DOTALL)
        if named:
            self.known[named[1]] = self._evaluate(named[2], dot)
            return
        value = self._evaluate(action, dot)
        if value is UNKNOWN and not _NAMING.search(action):
            self.doubt = True
        text = "" if value is UNKNOWN and "indent" in action else _text(value)
        first, *rest = text.split("\n")
        self.out[-1] = Line(self.out[-1].text + first, self.out[-1].line)
        self.out += [Line(one, line) for one in rest]

    def _evaluate(self, text: str, dot: Any) -> Any:
        words = _WORD.findall(text)
        return self._pipeline(words, dot, 0)[0] if words else ""

    def _pipeline(self, words: list[str], dot: Any, level: int) -> tuple[Any, list[str]]:
        name, arguments, words = self._call(words, dot, level)
        value = _called(name, arguments) if name or arguments else None
        while words and words[0] == "|":
            name, arguments, words = self._call(words[1:], dot, level)
            value = _called(name, [*arguments, value])
        return value, words

    def _call(self, words: list[str], dot: Any, level: int) -> tuple[str, list[Any], list[str]]:
        """One part of a pipeline: a function's name, its arguments, and the words behind it."""
        name = ""
        arguments: list[Any] = []
        while words and words[0] not in ("|", ")"):
            word, words = words[0], words[1:]
            if word == "(" and level < 10:
                inner, words = self._pipeline(words, dot, level + 1)
                words = words[1:]
                arguments.append(inner)
            elif not name and not arguments and word in _FUNCTIONS:
                name = word
            else:
                arguments.append(self._term(word, dot))
        return name, arguments, words

    def _term(self, word: str, dot: Any) -> Any:
        if word[0] in '"`':
            return word[1:-1].replace('\\"', '"')
        if re.fullmatch(r"-?\d+(\.\d+)?", word):
            return word
        if word in ("true", "false", "nil"):
            return {"true": True, "false": False}.get(word)
        for start, root in (("$.Values", self.chart.values), (".Values", self.chart.values)):
            if word == start or word.startswith(start + "."):
                return _below(root, word[len(start) :].split(".")[1:])
        if re.match(r"\$?\.(Chart|Release)\.", word):
            part = word.rsplit(".", 1)[-1]
            return {"Name": self.chart.name, "AppVersion": self.chart.version}.get(part, part.lower())
        if word.startswith("$"):
            name, *path = word[1:].split(".")
            return _below(self.known.get(name, UNKNOWN), path)
        return _below(dot, word.split(".")[1:]) if word.startswith(".") else UNKNOWN


class _Part(NamedTuple):
    text: str  # before the action
    action: str
    line: int  # of the text


class _Action(NamedTuple):
    start: int
    end: int
    text: str
    trims_left: bool
    trims_right: bool


def _actions(text: str) -> Iterator[_Action]:
    """Everything in double braces; by searching, since an expression takes the square or cube of a hostile text."""
    start = text.find("{{")
    while start >= 0 and (end := text.find("}}", start + 2)) >= 0:
        inside = text[start + 2 : end]
        left = inside.startswith("-")
        inside = inside[left:]
        right = inside.endswith("-")
        yield _Action(start, end + 2, inside.removesuffix("-").strip(), left, right)
        start = text.find("{{", end + 2)


def _parts(text: str) -> Iterator[_Part]:
    position, line = 0, 1
    trim = False
    for found in _actions(text):
        before = text[position : found.start]
        start = line
        if trim:
            start += len(before) - len(before.lstrip()) and before[: len(before) - len(before.lstrip())].count("\n")
            before = before.lstrip()
        shown = before.rstrip() if found.trims_left else before
        yield _Part(shown, found.text, start)
        line += text.count("\n", position, found.end)
        position, trim = found.end, found.trims_right
    yield _Part(text[position:].lstrip() if trim else text[position:], "", line)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _below(value: Any, path: list[str]) -> Any:
    for key in path:
        if value is UNKNOWN or not key:
            return value
        value = value.get(key) if isinstance(value, Map) else None
    return value


def _holds(value: Any) -> bool:
    return value is not UNKNOWN and _truth(value)


def _truth(value: Any) -> bool:
    return value not in (None, "", "false", "0", False, "null", "~") and value != [] and value != {}


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Seq) else list(value.values()) if isinstance(value, Map) else []


def _text(value: Any) -> str:
    if isinstance(value, Map | Seq):
        return "\n".join(_yaml(value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _yaml(node: Any, level: int = 0) -> list[str]:
    """A node as lines of YAML."""
    pad = "  " * level
    if isinstance(node, Map) and node:
        return [one for key, value in node.items() for one in _entry(f"{pad}{_scalar(key)}:", value, level)]
    if isinstance(node, Seq) and node:
        return [one for value in node for one in _entry(f"{pad}-", value, level)]
    return [pad + ("{}" if isinstance(node, Map) else "[]" if isinstance(node, Seq) else _scalar(node))]


def _entry(head: str, value: Any, level: int) -> list[str]:
    if isinstance(value, Map | Seq) and value and level < _LEVELS:
        return [head, *_yaml(value, level + 1)]
    return [f"{head} {_yaml(value)[0]}"]


def _scalar(value: Any) -> str:
    text = str(value)
    return text if re.fullmatch(r"[\w./@-][\w./@:-]*", text) and not text.endswith(":") else '"' + _escaped(text) + '"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _called(name: str, values: list[Any]) -> Any:
    if not name:
        return values[0] if len(values) == 1 else UNKNOWN
    if name == "default":
        return (values[1] if _truth(values[1]) else values[0]) if len(values) == 2 else UNKNOWN
    if any(value is UNKNOWN for value in values) or not values:
        return UNKNOWN
    try:
        return _FUNCTIONS[name](*values)
    except (TypeError, ValueError, IndexError):
        return UNKNOWN


def _indented(count: str, value: Any) -> str:
    return "\n".join(" " * int(count) + one for one in _text(value).split("\n"))


def _printed(form: str, *values: Any) -> str:
    texts = iter([_text(value) for value in values])
    return re.sub(r"%[sdvq]", lambda _: next(texts, UNKNOWN), form)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "default": lambda other, value: value,
    "quote": lambda value: '"' + _escaped(_text(value)) + '"',
    "squote": lambda value: f"'{_text(value)}'",
    "toYaml": lambda value: value if isinstance(value, Map | Seq) else _text(value),
    "tpl": lambda value, *_: UNKNOWN if "{{" in _text(value) else value,
    "nindent": lambda count, value: "\n" + _indented(count, value),
    "indent": _indented,
    "lower": lambda value: _text(value).lower(),
    "upper": lambda value: _text(value).upper(),
    "toString": _text,
    "int": lambda value: _text(value),
    "trim": lambda value: _text(value).strip(),
    "trunc": lambda count, value: _text(value)[: int(count)],
    "trimSuffix": lambda end, value: _text(value).removesuffix(end),
    "replace": lambda old, new, value: _text(value).replace(old, new),
    "printf": _printed,
    "print": lambda *values: "".join(_text(value) for value in values),
    "eq": lambda one, *others: any(_text(one) == _text(other) for other in others),
    "ne": lambda one, other: _text(one) != _text(other),
    "not": lambda value: not _truth(value),
    "and": lambda *values: next((value for value in values if not _truth(value)), values[-1]),
    "or": lambda *values: next((value for value in values if _truth(value)), values[-1]),
    "empty": lambda value: not _truth(value),
    "required": lambda _, value: value,
    "coalesce": lambda *values: next((value for value in values if _truth(value)), None),
    "hasKey": lambda table, key: isinstance(table, Map) and key in table,
    "len": lambda value: str(len(value)) if isinstance(value, Map | Seq | str) else "0",
    "gt": lambda one, other: float(one) > float(other),
    "include": lambda *_: UNKNOWN,
}
