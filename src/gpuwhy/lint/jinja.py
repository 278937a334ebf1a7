"""Jinja: a template as the texts that it may become, line for line; a small part of the language, nothing is run.

What is not known stays open: a value becomes `${…}`, which no reader judges; of conditions each is tried alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpuwhy.lint.sheet import Read, Sheet
from gpuwhy.lint.yamls import BadYamlError, Map, Text, documents

UNKNOWN = "${template}"
_ENDING = re.compile(r"\.(j2|jinja2?|tmpl|template|tpl)$", re.IGNORECASE)
_MARKS = re.compile(r"(?<!\$)\{[{%#]")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}"}
_OPENING = frozenset(["if", "for", "macro", "call", "filter", "range", "with"])
_NAME = r"[A-Za-z_][\w.]*"
_DEFAULT = re.compile(rf"({_NAME})\s*(?:\|\s*(?:default|d)\s*\(\s*|\bor\s+)(?:'([^']*)'|\"([^\"]*)\"|([\d.]+))")
_SET = re.compile(rf"set\s+({_NAME})\s*=\s*(.+)", re.DOTALL)
_EQUAL = re.compile(rf"({_NAME})\s*(==|!=)\s*(?:'([^']*)'|\"([^\"]*)\"|([\d.]+))")
_WORLDS, _LEVELS, _CHARACTERS = 6, 40, 500_000


def plain(path: str) -> str:
    """The path of what a template makes: Dockerfile.j2 → Dockerfile."""
    return _ENDING.sub("", path)


def is_template(path: str, text: str) -> bool:
    """Whether a file is one, by the end of its name or by its statements."""
    return bool(_ENDING.search(path) or re.search(r"^\s*\{%-?\s*(if|set|for|raw|macro)\b", text, re.MULTILINE))


def defaults(path: str, read: Read) -> dict[str, str]:
    """The plain values that lie where Ansible and Cookiecutter keep the defaults of a template."""
    role = posixpath.dirname(posixpath.dirname(path))
    out: dict[str, str] = {}
    for name in ("defaults/main.yml", "defaults/main.yaml", "vars/main.yml"):
        text = read(posixpath.join(role, name)) if "templates" in path.split("/") else None
        try:
            found = documents(text)[:1] if text else []
        except BadYamlError:
            found = []
        for top in found:
            values = top.items() if isinstance(top, Map) else ()
            out |= {str(k): str(v) for k, v in values if isinstance(v, Text) and "{{" not in v}
    return out


class Part(NamedTuple):
    """Text, and the action that ends it."""

    text: str
    kind: str  # {{ {% {#, or '' at the end
    action: str


def parts(text: str) -> Iterator[Part]:
    """A template cut at its actions; one without an end is text."""
    start = 0
    while found := _MARKS.search(text, start):
        end = text.find(_CLOSING[found[0]], found.end())
        if end < 0:
            break
        yield Part(text[start : found.start()], found[0], text[found.end() : end])
        start = end + 2
    yield Part(text[start:], "", "")


class World:
    """A template under one choice of what is not known; `asked` are the conditions that nobody could decide."""

    def __init__(self, known: Mapping[str, str], holds: str = "") -> None:
        self.known = dict(known)
        self.holds = holds
        self.asked: list[str] = []
        self.doubt = False
        self.shown = [True]
        self.done = [True]  # an arm of this `if` was taken

    def render(self, found: list[Part]) -> str:
        """The text, with as many lines as the template."""
        out = []
        for part in found:
            here = part.text if self.shown[-1] else _lines(part.text)
            out.append(here + self._said(part) + _lines(part.action))
        return "".join(out)

    def _said(self, part: Part) -> str:
        action = part.action.strip(" \t\r\n-+")
        word = action.split(None, 1)[0] if action else ""
        statement = part.kind == "{%" or (part.kind == "{{" and word in (*_OPENING, "else", "end"))
        if statement and len(self.shown) < _LEVELS:
            self._statement(word, action)
        elif part.kind == "{{" and self.shown[-1]:
            return self._value(action)
        return ""

    def _statement(self, word: str, action: str) -> None:
        rest = action[len(word) :].strip()
        if word in _OPENING:
            holds = self._holds(rest) if word == "if" else True
            self.doubt = self.doubt or word != "if"
            self.shown.append(self.shown[-1] and holds)
            self.done.append(holds)
        elif word in ("elif", "else") and len(self.shown) > 1:
            condition = rest.removeprefix("if").strip()
            holds = not self.done[-1] and (not condition or self._holds(condition))
            self.shown[-1] = self.shown[-2] and holds
            self.done[-1] = self.done[-1] or holds
        elif word.startswith("end") and len(self.shown) > 1:
            if word not in ("endblock", "endraw", "endset"):
                self.shown.pop()
                self.done.pop()
        elif self.shown[-1]:
            self._other(word, action)

    def _other(self, word: str, action: str) -> None:
        found = _SET.fullmatch(action)
        if found and (value := self._value(found[2].strip())) != UNKNOWN:
            self.known[found[1]] = value
        elif found:
            self.known.pop(found[1], None)
        else:
            self.doubt = self.doubt or word in ("include", "extends", "import", "from")

    def _value(self, text: str) -> str:
        text = re.sub(r"\|\s*(quote|string|trim|int|lower|to_json|e)\s*$", "", text).strip()
        if found := re.fullmatch(r"'([^']*)'|\"([^\"]*)\"|([\d.]+)", text):
            return next(part for part in found.groups() if part is not None)
        if text in self.known:
            return self.known[text]
        found = _DEFAULT.match(text)
        if not found:
            return UNKNOWN
        return self.known.get(found[1], next(part for part in found.groups()[1:] if part is not None))

    def _holds(self, condition: str) -> bool:
        """Whether a condition holds: by what is known, else by this world's choice."""
        condition = " ".join(condition.split())
        equal = _EQUAL.fullmatch(condition)
        if equal and equal[1] in self.known:
            same = self.known[equal[1]] == next(part for part in equal.groups()[2:] if part is not None)
            return same == (equal[2] == "==")
        if condition in self.known:
            return self.known[condition].lower() not in ("", "false", "0", "no", "none", "off")
        self.asked.append(condition)
        return condition == self.holds


def worlds(text: str, known: Mapping[str, str]) -> list[tuple[str, bool]]:
    """The texts that a template may become: no open condition holds, or one of them; and whether more is open."""
    found = list(parts(text[:_CHARACTERS]))
    first = World(known)
    made = [(first.render(found), first.doubt)]
    for condition in list(dict.fromkeys(first.asked))[: _WORLDS - 1]:
        world = World(known, condition)
        made.append((world.render(found), world.doubt))
    return made


def joined(path: str, sheets: list[Sheet], doubts: list[bool]) -> Sheet:
    """What the worlds of a template say together; a world that cannot be read says nothing."""
    good = [(sheet, doubt) for sheet, doubt in zip(sheets, doubts, strict=True) if not sheet.problems]
    whole = Sheet(path, sheets[0].kind)
    for sheet, doubt in good:
        for environment in sheet.environments:
            environment.includes_unknown = environment.includes_unknown or doubt
        for work in sheet.workloads:
            work.partial = work.partial or doubt
        whole.environments += sheet.environments
        whole.workloads += sheet.workloads
        whole.notes += [note for note in sheet.notes if note not in whole.notes]
    return whole


def _lines(text: str) -> str:
    return "\n" * text.count("\n")
