"""The terminal writer: a document as text of 80 columns, with colour where there is colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from gpuwhy.answer import tree
from gpuwhy.answer.text import (
    ASCII_GLYPHS,
    GLYPHS,
    as_ascii,
    lines_of,
    plain,
    size,
    width,
)

Piece = tuple[str, str]
"""A text and its style, as the parameters of an escape sequence."""
Row = list[Piece]
Word = tuple[Row, bool]
"""Its pieces, and whether it may be broken: a command to copy may not."""

COLUMNS = 80
INDENT = 2
LABEL = 9
"""The least width of a column of labels ("Worked if"), so that several groups stand in line."""
LONG_LABEL = 18
NARROW = 24
"""A last column of a table that has less room than this is put below the others."""
BOLD, SOFT = "1", "2"
COLOURS: dict[tree.Mark, str] = {
    "": "",
    "ok": "32",
    "bad": "31",
    "warn": "33",
    "unknown": "36",
    "none": SOFT,
}
STYLES: dict[type, str] = {tree.Code: "", tree.Strong: BOLD, tree.Soft: SOFT, tree.Link: "4"}
SHADES, ASCII_SHADES = "█▓▒░", "#=+-"
BREAKS = frozenset("/\\,;=&?:")
"""A word that is too long for a line is broken after one of these."""


_ORDER = re.compile(r"##(?=[a-z]*\[)")


class Paper(msgspec.Struct, frozen=True):
    """What is written on: how wide it is, and whether it shows colour and more than ASCII."""

    width: int = COLUMNS
    colour: bool = False
    unicode: bool = True


def write(document: tree.Document, paper: Paper | None = None) -> str:
    """A document as text that ends with a newline."""
    lines = _Writer(paper or Paper()).blocks(document.blocks, INDENT)
    return "\n".join(_obeyed_by_nobody(line.rstrip()) for line in lines) + "\n"


def height(document: tree.Document, columns: int = COLUMNS) -> int:
    """How many lines that are not empty a document takes."""
    return sum(bool(line) for line in write(document, Paper(columns)).split("\n"))


def _obeyed_by_nobody(line: str) -> str:
    """A line that a build server does not take for one of its commands (::error, ##[group])."""
    if "##" in line:
        line = _ORDER.sub("# ", line)
    bare = line.lstrip()
    return line[: -len(bare)] + "." + bare[1:] if bare.startswith("::") else line


class _Writer:
    """Writes blocks as lines; `indent` is where their text begins."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.room = max(40, paper.width)
        self.glyphs = GLYPHS if paper.unicode else ASCII_GLYPHS
        self.mark_room = 2 if paper.unicode else 3
        self.writers: dict[type, Callable[[Any, int], list[str]]] = {
            tree.Heading: self.heading,
            tree.Paragraph: lambda one, at: self.indented(self.line(one.line, at), at),
            tree.Command: lambda one, at: self.indented(self.command(one, at), at),
            tree.Quote: lambda one, at: self.indented(self.quote(one, at), at),
            tree.Pairs: self.pairs,
            tree.Items: self.items,
            tree.Table: self.table,
            tree.Bar: self.bar,
            tree.Stack: self.stack,
            tree.Fold: self.fold,
        }

    # pieces

    def safe(self, text: str) -> str:
        """A text of one line as this paper can show it."""
        return plain(text) if self.paper.unicode else as_ascii(plain(text))

    def ink(self, row: Row) -> str:
        """Pieces as text."""
        if not self.paper.colour:
            return "".join(text for text, _ in row)
        return "".join(f"\x1b[{style}m{text}\x1b[0m" if style else text for text, style in row)

    def glyph(self, mark: tree.Mark) -> Row:
        """A mark with the space after it."""
        shown = self.glyphs[mark]
        return [(shown, COLOURS[mark]), (" ", "")] if shown else []

    def words(self, line: tree.Line, style: str = "") -> list[Word]:
        """A line as words; pieces of several styles without a space between them are one word."""
        out: list[Word] = []
        word: Row = []
        breaks = True
        for span in line:
            text = self.safe(span if isinstance(span, str) else span.text)
            own = style if isinstance(span, str) else STYLES[type(span)] or style
            typed = isinstance(span, tree.Code) and span.copy
            for place, part in enumerate(text.split(" ")):
                if place and word:
                    out.append((word, breaks))
                if place:
                    word, breaks = [], True
                if part:
                    word, breaks = [*word, (part, own)], breaks and not typed
        return [*out, (word, breaks)] if word else out

    def wrap(self, line: tree.Line, room: int, style: str = "") -> list[Row]:
        """A line in rows of at most `room` columns."""
        rows: list[Row] = []
        row: Row = []
        used = 0
        for word, breaks in self.words(line, style):
            parts = _fitting(word, room) if breaks else [word]
            for place, part in enumerate(parts):
                wide = _wide(part)
                gap = 1 if row and not place else 0
                if row and used + gap + wide > room:
                    rows.append(row)
                    row, used, gap = [], 0, 0
                if gap:
                    same = row[-1][1] == part[0][1]
                    row.append((" ", part[0][1] if same else ""))
                row += part
                used += gap + wide
        return [*rows, row] if row else rows

    # parts: rows of text, without an indent

    def line(self, line: tree.Line, at: int, style: str = "") -> list[str]:
        """A sentence in rows that fit beside an indent."""
        return [self.ink(_joined(row)) for row in self.wrap(line, max(16, self.room - at), style)]

    def command(self, one: tree.Command, at: int) -> list[str]:
        """A command; a shell's goes on in the next line after a backslash."""
        lines = lines_of(one.text) if self.paper.unicode else lines_of(as_ascii(one.text))
        if one.language == "sh" and not any("<<" in line or _words(line) is None for line in lines):
            lines = [part for line in lines for part in _continued(line, self.room - at)]
        return [self.ink([(line, BOLD)]) for line in lines]

    def quote(self, one: tree.Quote, at: int) -> list[str]:
        """Numbered lines; an arrow stands at the one that decides."""
        digits = max((len(str(number)) for number, _ in one.lines), default=1)
        out = []
        for number, text in one.lines:
            hit = number == one.hit
            rows = self.line((text,), at + digits + 5, BOLD if hit else "")
            lead = f"{'>' if hit else ' '} {number:>{digits}} | "
            rest = " " * (digits + 3) + "| "
            out += [self.ink([(lead, SOFT)]) + row for row in rows[:1] or [""]]
            out += [self.ink([(rest, SOFT)]) + row for row in rows[1:]]
        return out

    def parts(self, body: Sequence[tree.Part], at: int) -> list[str]:
        """What stands beside a label."""
        out: list[str] = []
        for part in body:
            if isinstance(part, tuple):
                out += self.line(part, at)
            elif isinstance(part, tree.Command):
                out += self.command(part, at)
            else:
                out += self.quote(part, at)
        return out

    @staticmethod
    def indented(rows: Sequence[str], at: int) -> list[str]:
        """Rows behind an indent."""
        return [" " * at + row for row in rows]

    # blocks: lines

    def blocks(self, blocks: Sequence[tree.Block], at: int) -> list[str]:
        """Blocks with an empty line between them; a title and its part stand together."""
        out: list[str] = []
        tight = True
        for block in blocks:
            lines = self.writers[type(block)](block, at)
            if lines:
                out += lines if tight else ["", *lines]
                tight = isinstance(block, tree.Heading) and block.level > 1
        return out

    def heading(self, one: tree.Heading, at: int) -> list[str]:
        """The answer with its mark, or a title."""
        at = at - INDENT if one.level < 3 else at
        mark = self.glyph(one.mark) if one.mark else []
        deep = at + _wide(mark)
        rows = self.line(one.line, deep, BOLD)
        out = [" " * at + self.ink(mark) + row for row in rows[:1]]
        out += self.indented(rows[1:], deep)
        return out + self.indented(self.line(one.under, deep), deep)

    def pairs(self, one: tree.Pairs, at: int) -> list[str]:
        """Labels in one column; a label that is a sentence has a line of its own."""
        marked = any(row.mark for row in one.rows)
        labels = [self.safe(row.label) for row in one.rows]
        column = max(
            LABEL - self.mark_room * marked,
            *(
                width(label)
                for label, row in zip(labels, one.rows, strict=True)
                if not row.wide and width(label) <= LONG_LABEL
            ),
            0,
        )
        begin = at + column + 2 + self.mark_room * marked
        out: list[str] = []
        for label, row in zip(labels, one.rows, strict=True):
            rows = self.parts(row.body, begin)
            if row.wide or width(label) > column:
                out += self._wide_label(row, at)
            else:
                lead = " " * at + self._mark(row.mark, marked) + label
                out.append(lead + " " * (column + 2 - width(label)) + "".join(rows[:1]))
                rows = rows[1:]
            out += self.indented(rows, begin)
        return out

    def _wide_label(self, row: tree.Pair, at: int) -> list[str]:
        mark = self.ink(self.glyph(row.mark))
        lines = self.line((row.label,), at + INDENT)
        return [" " * (at + INDENT) + mark + line for line in lines]

    def _mark(self, mark: tree.Mark, room: bool) -> str:
        """A mark, or the room that it would take."""
        shown = self.ink(self.glyph(mark))
        return shown or " " * self.mark_room * room

    def items(self, one: tree.Items, at: int) -> list[str]:
        """A list: marks, numbers or dots before its rows."""
        marked = any(row.mark for row in one.rows)
        digits = len(str(len(one.rows)))
        dot = "·" if self.paper.unicode else "-"
        out: list[str] = []
        for number, row in enumerate(one.rows, 1):
            count = f"{number:>{digits}}  " if one.numbered else "" if marked else f"{dot} "
            lead = self._mark(row.mark, marked) + count
            begin = at + self.mark_room * marked + len(count)
            rows = self.parts(row.body, begin)
            out += [" " * at + lead + text for text in rows[:1]]
            out += self.indented(rows[1:], begin)
        return out

    def table(self, one: tree.Table, at: int) -> list[str]:
        """Columns as wide as they need; the last one wraps, or stands below the others."""
        marked = any(one.marks)
        begin = at + self.mark_room * marked
        head = [tuple((tree.Soft(title),) for title in one.head)] if any(one.head) else []
        rows = [*head, *one.rows]
        if not rows:
            return []
        needs = [
            max(_wide(self.flat(row[place])) for row in rows if place < len(row))
            for place in range(max(map(len, rows)))
        ]
        widths = [min(28, need) for need in needs[:-1]]
        last = self.room - begin - sum(widths) - 2 * len(widths)
        below = last < min(NARROW, needs[-1])
        none: list[tree.Mark] = [""]
        marks = [*none * len(head), *(one.marks or none * len(one.rows))]
        out: list[str] = []
        for row, mark in list(zip(rows, marks, strict=False))[bool(below and head) :]:
            lead = " " * at + self._mark(mark, marked)
            body = self._stacked(row, begin) if below else self._row(row, [*widths, last])
            out += [lead + body[0], *self.indented(body[1:], begin)]
        return out

    def flat(self, line: tree.Line) -> Row:
        """A line as one row."""
        return [piece for row in self.wrap(line, 10_000) for piece in row]

    def _row(self, row: Sequence[tree.Line], widths: Sequence[int]) -> list[str]:
        cells = [self.wrap(cell, wide) for cell, wide in zip(row, widths, strict=False)]
        return [
            "".join(
                self.ink(_joined(part or [])) + " " * (wide + 2 - _wide(part or []))
                for part, wide in zip(parts, widths, strict=False)
            ).rstrip()
            for parts in zip_longest(*cells)
        ] or [""]

    def _stacked(self, row: Sequence[tree.Line], begin: int) -> list[str]:
        first, *others = row
        out = self.line(first, begin)
        for cell in others:
            out += self.indented(self.line(cell, begin + INDENT), INDENT)
        return out or [""]

    def bar(self, one: tree.Bar, at: int) -> list[str]:
        """Parts of a whole, and below it what each of them is; "|" is the end of the whole."""
        shades, free = (SHADES, "·") if self.paper.unicode else (ASCII_SHADES, ".")
        needed = sum(count for _, count in one.parts)
        full, long = max(one.whole, needed, 1), min(48, self.room - at - 1)
        drawn, total = "", 0
        said = self.line((one.label, f" of {size(one.whole)}"), at)
        legend: list[str] = []
        for place, (name, count) in enumerate(one.parts):
            shade = shades[place % len(shades)]
            total += count
            drawn += shade * (round(total / full * long) - len(drawn))
            legend += self.line((f"{shade} {name} {size(count)}",), at)
        left, end = one.whole - needed, round(one.whole / full * long)
        if left < 0:
            drawn = f"{drawn[:end]}|{drawn[end:]}"
        last = f"{free} free {size(left)}" if left >= 0 else f"| {size(-left)} too much"
        return self.indented([*said, drawn + free * (long - len(drawn)), *legend, last], at)

    def stack(self, one: tree.Stack, at: int) -> list[str]:
        """One line per layer."""
        rows = (tree.Pair(layer.name, (layer.line,), layer.mark) for layer in one.layers)
        return self.pairs(tree.Pairs(tuple(rows)), at)

    def fold(self, one: tree.Fold, at: int) -> list[str]:
        """A part below the rest."""
        body = self.blocks(one.body, at)
        return [*self.heading(tree.Heading((one.title,), level=2), at), *body] if body else []


def _wide(row: Row) -> int:
    return sum(width(text) for text, _ in row)


def _joined(row: Row) -> Row:
    """Neighbours of one style as one piece."""
    out: Row = []
    for text, style in row:
        if out and out[-1][1] == style:
            out[-1] = (out[-1][0] + text, style)
        else:
            out.append((text, style))
    return out


def _fitting(word: Row, room: int) -> list[Row]:
    """A word, in parts where it is longer than a line: after a slash where there is one."""
    if _wide(word) <= room:
        return [word]
    out: list[Row] = []
    for text, style in word:
        begin = 0
        for place, sign in enumerate(text, 1):
            if sign in BREAKS or place == len(text):
                out += [[(part, style)] for part in _cut(text[begin:place], room)]
                begin = place
    return out


def _cut(text: str, room: int) -> list[str]:
    """A text in parts of at most so many columns."""
    if width(text) <= room:
        return [text]
    parts: list[str] = []
    part = ""
    for sign in text:
        if width(part + sign) > room:
            parts, part = [*parts, part], ""
        part += sign
    return [*parts, part]


def _words(line: str) -> list[str] | None:
    """A shell's line at its spaces outside quotes; None where a quote stays open or a comment
    begins.
    """
    words: list[str] = []
    word, quote, escaped = "", "", False
    for sign in line:
        if sign == " " and not quote and not escaped:
            words, word = [*words, word], ""
            continue
        if sign == "#" and not word and not quote:
            return None
        word += sign
        if escaped or (sign == "\\" and quote != "'"):
            escaped = not escaped
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
    return None if quote or escaped else [*words, word]


_READS_ON = ("&&", "||", "|")
"""A shell reads on in the next line after these, so that no backslash is needed."""


def _continued(line: str, room: int) -> list[str]:
    """A shell's line in several: one per part of a chain, a longer part with backslashes."""
    if width(line) <= room:
        return [line]
    rows: list[str] = []
    for word in _words(line) or ():
        if rows and not rows[-1].endswith(_READS_ON) and width(rows[-1] + word) + 3 <= room:
            rows[-1] += " " + word
        else:
            rows.append("  " + word if rows else word)
    return [*(row if row.endswith(_READS_ON) else row + " \\" for row in rows[:-1]), *rows[-1:]]
