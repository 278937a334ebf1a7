"""The HTML writer: one self-contained page, or a part of a notebook.

Nothing in a page is fetched, and no script but its own can run.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from hashlib import sha256
from itertools import zip_longest
from pkgutil import get_data
from typing import Any, Union

from gpuwhy.answer import tree
from gpuwhy.answer.text import lines_of, plain, size

SIGNS = {
    "ok": "M12 2a10 10 0 1 0 .01 0zM7.5 12.5l3 3 6-7",  # a circle and a tick
    "bad": "M8 2h8l6 6v8l-6 6H8l-6-6V8zM8.5 8.5l7 7M15.5 8.5l-7 7",  # an octagon and a cross
    "warn": "M12 3L2 21h20zM12 10v5M12 18v.01",  # a triangle
    "unknown": "M12 1.5L22.5 12 12 22.5 1.5 12zM9.5 10a2.5 2.5 0 1 1 2.5 3M12 16.5v.01",
    "none": "M4 4h16v16H4zM8 12h8",  # a square and a dash
}
WORDS = {"ok": "fine", "bad": "broken", "warn": "note", "unknown": "not known", "none": "none"}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+/[\w./#%+~=-]*")


class Html(str):
    """A text that is HTML already; every other string is escaped."""

    __slots__ = ()


Child = Union[str, None, Iterable["Child"]]


def el(tag: str, *children: Child, **attributes: str | int | float | None) -> Html:
    """An element; `class_` is class, `data_copy` data-copy, and an attribute that is "" has no
    value.
    """
    shown = "".join(
        f" {name.rstrip('_').replace('_', '-')}"
        + (f'="{escaped(str(value))}"' if value != "" else "")
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{shown}>{''.join(map(_inside, children))}</{tag}>")


def _inside(child: Child) -> str:
    if child is None or isinstance(child, Html):
        return child or ""
    return escaped(child) if isinstance(child, str) else "".join(map(_inside, child))


def escaped(text: str) -> str:
    """A text from outside: it opens no tag, ends no attribute, steers no direction."""
    return plain(text).translate(_ESCAPES)


def page(*documents: tree.Document) -> str:
    """One file with one or more documents."""
    bodies = map(_Writer().document, documents)
    titles = {one.title for one in documents}
    title = f"gpuwhy: {titles.pop()}" if len(titles) == 1 else f"gpuwhy: {len(documents)} answers"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{asset('style.css')}</style></head>\n"
        f"<body>{el('div', el('main', *bodies), class_='gpuwhy')}\n"
        f"<script>{asset('script.js')}</script></body></html>\n"
    )


def fragment(document: tree.Document) -> str:
    """A part of another page, such as a notebook's output: no script."""
    body = _Writer(part=True).document(document)
    return f"<style>{asset('style.css')}</style>{el('div', body, class_='gpuwhy part')}"


@cache
def asset(name: str) -> str:
    """A file that lies beside this one."""
    return (get_data("gpuwhy.answer", name) or b"").decode()


def policy() -> str:
    """What the page may do: show itself with this style, run this script, and nothing else."""
    style, script = (
        b64encode(sha256(asset(name).encode()).digest()).decode()
        for name in ("style.css", "script.js")
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}';"
        " base-uri 'none'; form-action 'none'"
    )


def sign(mark: tree.Mark) -> Html | None:
    """A mark: a shape, a colour and a word."""
    if not mark:
        return None
    drawn = el(
        "svg", el("path", d=SIGNS[mark]), class_="sign", viewBox="0 0 24 24", aria_hidden="true"
    )
    return el("span", drawn, el("span", f"{WORDS[mark]} ", class_="unseen"), class_=mark)


class _Writer:
    """Writes blocks; in a part of another page titles are one level lower."""

    def __init__(self, part: bool = False) -> None:
        self.part = part
        self.writers: dict[type, Callable[[Any], Html]] = {
            tree.Heading: self.heading,
            tree.Paragraph: lambda one: el("p", self.line(one.line)),
            tree.Command: command,
            tree.Quote: quote,
            tree.Pairs: self.pairs,
            tree.Items: self.items,
            tree.Table: self.table,
            tree.Bar: bar,
            tree.Fold: self.fold,
        }

    def document(self, one: tree.Document) -> Html:
        """The answer, with the stack beside it, and the folds below."""
        folds = [self.block(block) for block in one.blocks if isinstance(block, tree.Fold)]
        rest = [block for block in one.blocks if not isinstance(block, tree.Fold)]
        stacks = [self.stack(one) for one in rest if isinstance(one, tree.Pairs) and one.stack]
        words = [self.block(b) for b in rest if not (isinstance(b, tree.Pairs) and b.stack)]
        about = [el("span", text) for text in (one.made_by, one.made_on, one.about) if text]
        return el(
            "article",
            el("p", *about, class_="head") if about else None,
            el("div", el("div", *words, class_="said"), *stacks, class_="scene"),
            el("div", *folds, class_="folds") if folds else None,
        )

    def block(self, block: tree.Block) -> Html:
        return self.writers[type(block)](block)

    def span(self, span: tree.Span) -> Html | str:
        """A piece of a sentence."""
        if isinstance(span, str):
            return span
        if isinstance(span, tree.Code):
            return el("code", span.text, data_copy="" if span.copy else None)
        if not isinstance(span, tree.Link):
            return el("small", span.text)
        if _ADDRESS.fullmatch(span.to):
            return el("a", span.text, href=span.to, rel="noreferrer noopener")
        return el("span", span.text)

    def line(self, line: tree.Line) -> list[Html | str]:
        return [self.span(span) for span in line]

    def parts(self, body: Sequence[tree.Part]) -> list[Html]:
        return [
            el("p", self.line(part)) if isinstance(part, tuple) else self.block(part)
            for part in body
        ]

    def heading(self, one: tree.Heading) -> Html:
        level = f"h{min(6, one.level + self.part)}"
        class_ = f"answer {one.mark or 'plain'}" if one.level == 1 else None
        text = el("span", self.line(one.line))
        title = el(level, sign(one.mark), text, class_=class_)
        return Html(title + (el("p", self.line(one.under), class_="under") if one.under else ""))

    def pairs(self, one: tree.Pairs) -> Html:
        """Labels and what belongs to them."""
        rows = (
            el(
                "div",
                el("dt", sign(row.mark), row.label),
                el("dd", *self.parts(row.body)),
                class_="wide" if row.wide else None,
            )
            for row in one.rows
        )
        first = any(row.label in ("Do this", "Run", "Look", "Install") for row in one.rows)
        return el("dl", *rows, class_="do" if first else None)

    def stack(self, one: tree.Pairs) -> Html:
        """The layers as boxes, one upon the other: the program on top, the GPU at the bottom."""
        rows = (
            el("li", sign(row.mark), el("b", row.label), *self.parts(row.body), class_=row.mark)
            for row in reversed(one.rows)
        )
        label = "The stack, the program on top and the GPU at the bottom"
        return el("ol", *rows, class_="stack", aria_label=label)

    def items(self, one: tree.Items) -> Html:
        rows = (el("li", sign(row.mark), el("div", *self.parts(row.body))) for row in one.rows)
        marked = any(row.mark for row in one.rows)
        class_ = "marked" if marked and not one.numbered else None
        return el("ol" if one.numbered else "ul", *rows, class_=class_)

    def table(self, one: tree.Table) -> Html:
        """Columns; narrow screens show a row as lines."""
        head = el("thead", el("tr", *(el("th", title, scope="col") for title in one.head)))
        rows = []
        for row, mark in zip_longest(one.rows, one.marks):
            marks = [sign(mark or ""), *[None] * len(row)]
            cells = zip(marks, map(self.line, row), strict=False)
            rows.append(el("tr", *(el("td", *cell) for cell in cells)))
        return el("table", head if any(one.head) else None, el("tbody", *rows))

    def fold(self, one: tree.Fold) -> Html:
        """A part that opens when asked for, or when a link leads to it."""
        many = next((len(b.rows) for b in one.body if isinstance(b, (tree.Items, tree.Table))), 0)
        title = el("summary", one.title, el("small", f" {many}") if many > 1 else None)
        body = el("div", *map(self.block, one.body))
        return el("details", title, body, open="" if one.open else None)


def command(one: tree.Command) -> Html:
    """Something to copy."""
    text = Html("\n".join(map(escaped, lines_of(one.text))))
    return el("pre", el("code", text), data_copy="")


def quote(one: tree.Quote) -> Html:
    """Numbered lines, the one that decides marked."""
    rows = []
    for number, text in one.lines:
        hit = number == one.hit
        line = el("code", el("mark", text) if hit else text)
        place = el("span", str(number), class_="number")
        rows.append(el("li", place, line, class_="hit" if hit else None))
    return el("ol", *rows, class_="quote")


def bar(one: tree.Bar) -> Html:
    """Parts of a whole."""
    needed = sum(parts for _, parts in one.parts)
    rows = [el("li", f"{name} ", el("b", size(parts))) for name, parts in one.parts]
    said = f"{one.label or 'in all'}: {size(needed)} of {size(one.whole)}"
    return el("figure", el("figcaption", said), el("ul", *rows, el("li", one.rest)))
