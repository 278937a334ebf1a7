"""The Markdown writer, for issue trackers: nothing in a text formats, links or mentions anybody."""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from gpuwhy.answer import tree
from gpuwhy.answer.text import GLYPHS, lines_of, plain, size

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$&#!])")
_REFERENCE = re.compile(r"(?<=[@#])(?=\w)|(?<=\bgh-)(?=\d)", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(https?|ftp|mailto)(:)|\b(www)(\.)", re.IGNORECASE)
_FIRST = re.compile(r"(?=[-+=])|(?<=\d)(?=[.)])")
_OURS = re.compile(r"https://[A-Za-z0-9.-]+/[\w./#%+~=-]*")
APART = "<!-- -->"
"""Between the letters of a mention or an address: neither is recognised."""


def write(document: tree.Document) -> str:
    """A document as GitHub's Markdown."""
    about = [text for text in (document.made_by, document.made_on, document.about) if text]
    foot = [f"<sub>{' · '.join(map(said, about))}</sub>"] if about else []
    return "\n".join([*_blocks(document.blocks), *foot]) + "\n"


def said(text: str) -> str:
    """A text from outside as part of a sentence."""
    return _apart(_SPECIAL.sub(r"\\\1", plain(text)))


def _apart(text: str) -> str:
    """Addresses and mentions that GitHub does not recognise as such."""
    text = _ADDRESS.sub(lambda m: "".join(filter(None, (m[1], m[3], APART, m[2], m[4]))), text)
    return _REFERENCE.sub(APART, text)


def code(text: str) -> str:
    """A text from outside as code: its fence is longer than any in it."""
    text = plain(text)
    if not text.strip():
        return ""
    ticks = "`" * (_longest(text) + 1)
    space = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fence(lines: Sequence[str], language: str = "") -> list[str]:
    """Lines as they are, in a fence that none of them ends."""
    ticks = "`" * max(3, max(map(_longest, lines), default=0) + 1)
    return [f"{ticks}{language}", *lines, ticks]


def _longest(text: str) -> int:
    """The longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _span(span: tree.Span) -> str:
    if isinstance(span, str):
        return said(span)
    if isinstance(span, tree.Code):
        return code(span.text)
    if isinstance(span, tree.Link) and _OURS.fullmatch(span.to):
        return f"[{said(span.text)}]({span.to})"
    return said(span.text)


def line(spans: tree.Line) -> str:
    """A sentence; where its first sign would make a list or a title of it, that is escaped."""
    text = "".join(map(_span, spans)).strip()
    head, rest = text[:12], text[12:]
    return _FIRST.sub(r"\\", head, count=1) + rest if text[:1] in "-+=0123456789" else text


def _cell(spans: tree.Line) -> str:
    """A sentence in a table, where a bar ends a cell even in code."""
    return "".join(
        code(span.text).replace("|", "\\|") if isinstance(span, tree.Code) else _span(span)
        for span in spans
    ).strip()


def _blocks(blocks: Sequence[tree.Block]) -> list[str]:
    out: list[str] = []
    for block in blocks:
        rows = _WRITERS[type(block)](block)
        out += [*rows, ""] if rows else []
    return out


def _mark(mark: tree.Mark) -> str:
    return f"{GLYPHS[mark]} " if mark else ""


def _heading(one: tree.Heading) -> list[str]:
    title = f"{'#' * min(6, one.level + 2)} {_mark(one.mark)}{line(one.line)}"
    return [title, *(["", line(one.under)] if one.under else [])]


def _row(lead: str, label: str, body: Sequence[tree.Part], wide: bool = False) -> list[str]:
    """A row of a list: its bullet, its label, and what stands beside or below that."""
    rows, below = [label], False  # below a sentence, the next one has to be kept apart
    for place, part in enumerate(body):
        if isinstance(part, tree.Command):
            rows += _command(part)
            below = False
            continue
        text = line(part)
        if place:
            rows.append(f"<br>{text}" if below else text)
        elif text:
            rows[0] += ("<br>" if wide else " " if label else "") + text
        below = bool(place or text)
    return [lead + rows[0], *(" " * len(lead) + row for row in rows[1:])]


def _pairs(one: tree.Pairs) -> list[str]:
    out: list[str] = []
    for row in one.rows:
        out += _row("- ", f"{_mark(row.mark)}**{said(row.label)}**", row.body, row.wide)
    return out


def _items(one: tree.Items) -> list[str]:
    out: list[str] = []
    for number, row in enumerate(one.rows, 1):
        lead = f"{number}. " if one.numbered else "- "
        first, *rest = _row(lead, "", row.body)
        out += [lead + _mark(row.mark) + first[len(lead) :], *rest]
    return out


def _command(one: tree.Command) -> list[str]:
    return fence(lines_of(one.text), one.language if one.language != "text" else "")


def _quote(one: tree.Quote) -> list[str]:
    digits = max((len(str(number)) for number, _ in one.lines), default=1)
    rows = (
        f"{'>' if number == one.hit else ' '} {number:>{digits}} | {plain(text)}"
        for number, text in one.lines
    )
    return fence([*rows], "text")


def _table(one: tree.Table) -> list[str]:
    columns = max((len(row) for row in one.rows), default=0)
    head, rows = [*map(said, one.head or [""] * columns)], [[*map(_cell, row)] for row in one.rows]
    if any(one.marks):
        head = ["", *head]
        rows = [[GLYPHS[mark], *row] for mark, row in zip(one.marks, rows, strict=False)]
    lines = [head, ["---"] * len(head), *rows] if rows else []
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _bar(one: tree.Bar) -> list[str]:
    parts = [f"- {said(name)}: {size(count)}" for name, count in one.parts]
    head = f"{line((one.label or 'in all',))} of {size(one.whole)}:"
    return [head, "", *parts, f"- {one.rest}"]


def _fold(one: tree.Fold) -> list[str]:
    title = _apart(escape(plain(one.title)))
    return ["<details>", f"<summary>{title}</summary>", "", *_blocks(one.body), "</details>"]


_WRITERS: dict[type, Callable[[Any], list[str]]] = {
    tree.Heading: _heading,
    tree.Paragraph: lambda one: [line(one.line)],
    tree.Command: _command,
    tree.Quote: _quote,
    tree.Pairs: _pairs,
    tree.Items: _items,
    tree.Table: _table,
    tree.Bar: _bar,
    tree.Fold: _fold,
}
