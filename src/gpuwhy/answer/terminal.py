"""The terminal writer: a document as text of 80 columns, with colour where there is colour."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

import msgspec

from gpuwhy.answer import tree
from gpuwhy.answer.text import GLYPHS, as_ascii, lines_of, plain, size, width

COLUMNS = 80
INDENT, MARK = 2, 2
LABEL, LONG_LABEL = 9, 18
"""The widths of a column of labels ("Worked if"), so that several groups stand in line."""
CELL, NARROW = 28, 24
"""The most columns of a table's column that is not the last one, and the least of that."""
BOLD, SOFT = "1", "2"
COLOURS = {"": "", "ok": "32", "bad": "31", "warn": "33", "unknown": "36", "none": SOFT}
STYLES: dict[type, str] = {tree.Code: "", tree.Soft: SOFT, tree.Link: "4"}
SHADES = "█▓▒░"


class Piece(NamedTuple):
    """A text and its style, as the parameters of an escape sequence."""

    text: str
    style: str = ""
    typed: bool = False  # it is copied, and not broken


Row = list[Piece]


class Paper(msgspec.Struct, frozen=True):
    """What is written on: how wide it is, and whether it shows colour and more than ASCII."""

    width: int = COLUMNS
    colour: bool = False
    unicode: bool = True


def write(document: tree.Document, paper: Paper | None = None) -> str:
    """A document as text that ends with a newline."""
    paper = paper or Paper()
    lines = _Writer(paper).blocks(document.blocks, INDENT)
    text = "\n".join(_obeyed_by_nobody(line.rstrip()) for line in lines) + "\n"
    return text if paper.unicode else as_ascii(text)


def height(document: tree.Document) -> int:
    """How many lines that are not empty a document takes."""
    return sum(bool(line) for line in write(document).split("\n"))


def _obeyed_by_nobody(line: str) -> str:
    """A line that a build server does not take for one of its commands (::error, ##[group])."""
    line = re.sub(r"##(?=[a-z]*\[)", "# ", line)
    bare = line.lstrip()
    return line[: -len(bare)] + "." + bare[1:] if bare.startswith("::") else line


class _Writer:
    """Writes blocks as lines; `at` is where their text begins."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.room = max(40, paper.width)
        self.writers: dict[type, Callable[[Any, int], list[str]]] = {
            tree.Heading: self.heading,
            tree.Paragraph: lambda one, at: _indented(self.line(one.line, at), at),
            tree.Command: lambda one, at: _indented(self.command(one, at), at),
            tree.Quote: self.quote,
            tree.Pairs: self.pairs,
            tree.Items: self.items,
            tree.Table: self.table,
            tree.Bar: self.bar,
            tree.Fold: self.fold,
        }

    # parts: rows of text, without an indent

    def ink(self, *pieces: Piece) -> str:
        """Pieces as text; neighbours of one style are one."""
        if not self.paper.colour:
            return "".join(one.text for one in pieces)
        styles = groupby(pieces, key=lambda one: one.style)
        same = ((style, "".join(one.text for one in group)) for style, group in styles)
        return "".join(f"\x1b[{style}m{text}\x1b[0m" if style else text for style, text in same)

    def mark(self, mark: tree.Mark, among_others: bool = False) -> str:
        """A mark with the space after it; where others have one, the room that it would take."""
        shown = GLYPHS[mark]
        if shown:
            return self.ink(Piece(shown, COLOURS[mark])) + " "
        return " " * MARK * among_others

    def wrap(self, line: tree.Line, room: int, style: str = "") -> list[Row]:
        """A line in rows of at most `room` columns."""
        words: list[Row] = [[]]  # pieces of several styles without a space between them are a word
        for span in line:
            text = plain(span if isinstance(span, str) else span.text)
            own = style if isinstance(span, str) else STYLES[type(span)] or style
            typed = isinstance(span, tree.Code) and span.copy
            first, *rest = text.split(" ")
            words[-1].append(Piece(first, own, typed))
            words += [[Piece(part, own, typed)] for part in rest]
        rows: list[Row] = [[]]
        used = 0
        for word in ([piece for piece in one if piece.text] for one in words):
            whole = _wide(word) <= room or any(piece.typed for piece in word)
            for place, part in enumerate([word] if whole else _broken(word, room)):
                wide, gap = _wide(part), bool(rows[-1]) and not place
                if not part:
                    continue
                if rows[-1] and used + gap + wide > room:
                    rows.append([])
                    used, gap = 0, False
                if gap:
                    last = rows[-1][-1].style
                    rows[-1].append(Piece(" ", last if last == part[0].style else ""))
                rows[-1] += part
                used += gap + wide
        return rows if rows[0] else []

    def line(self, line: tree.Line, at: int, style: str = "") -> list[str]:
        return [self.ink(*row) for row in self.wrap(line, max(16, self.room - at), style)]

    def command(self, one: tree.Command, at: int) -> list[str]:
        """A command; a shell's goes on in the next line after a backslash."""
        lines = lines_of(one.text)
        typed = not any("<<" in line for line in lines) and all(map(_words, lines))
        if one.language == "sh" and typed:
            lines = [part for line in lines for part in _continued(line, self.room - at)]
        return [self.ink(Piece(line, BOLD)) for line in lines]

    def parts(self, body: Sequence[tree.Part], at: int) -> list[str]:
        return [
            row
            for part in body
            for row in (self.line(part, at) if isinstance(part, tuple) else self.command(part, at))
        ]

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
        deep = at + (width(GLYPHS[one.mark]) + 1 if one.mark else 0)
        rows = [*self.line(one.line, deep, BOLD), *self.line(one.under, deep)]
        return _behind(self.mark(one.mark), rows, at, deep)

    def quote(self, one: tree.Quote, at: int) -> list[str]:
        """Numbered lines; an arrow stands at the one that decides."""
        digits = max((len(str(number)) for number, _ in one.lines), default=1)
        out = []
        for number, text in one.lines:
            hit = number == one.hit
            lead = self.ink(Piece(f"{'>' if hit else ' '} {number:>{digits}} | ", SOFT))
            rest = self.ink(Piece(" " * (digits + 3) + "| ", SOFT))
            first, *more = self.line((text,), at + digits + 5, BOLD if hit else "") or [""]
            out += [lead + first, *(rest + row for row in more)]
        return _indented(out, at)

    def pairs(self, one: tree.Pairs, at: int) -> list[str]:
        """Labels in one column; a label that is a sentence has a line of its own."""
        marked = any(row.mark for row in one.rows)
        labels = [(plain(row.label), row) for row in one.rows]
        short = [width(label) for label, row in labels if not row.wide]
        least = LABEL - MARK * marked
        column = max([least, *(wide for wide in short if wide <= LONG_LABEL)])
        begin = at + column + 2 + MARK * marked
        out: list[str] = []
        for label, row in labels:
            rows = self.parts(row.body, begin)
            if row.wide or width(label) > column:
                lines = self.line((row.label,), at + INDENT)
                out += _indented((self.mark(row.mark) + line for line in lines), at + INDENT)
                out += _indented(rows, begin)
            else:
                lead = self.mark(row.mark, marked) + label + " " * (column + 2 - width(label))
                out += _behind(lead, rows or [""], at, begin)
        return out

    def items(self, one: tree.Items, at: int) -> list[str]:
        marked = any(row.mark for row in one.rows)
        digits = len(str(len(one.rows)))
        dot = "" if marked else "· "
        out: list[str] = []
        for number, row in enumerate(one.rows, 1):
            count = f"{number:>{digits}}  " if one.numbered else dot
            begin = at + MARK * marked + len(count)
            lead = self.mark(row.mark, marked) + count
            out += _behind(lead, self.parts(row.body, begin), at, begin)
        return out

    def table(self, one: tree.Table, at: int) -> list[str]:
        """Columns as wide as they need; the last one wraps."""
        head: list[tuple[tree.Line, ...]] = [tuple((tree.Soft(title),) for title in one.head)]
        rows = [*(head if any(one.head) else []), *one.rows]
        if not rows:
            return []
        marked = any(one.marks)
        no_mark: list[tree.Mark] = [""]
        marks = no_mark * (len(rows) - len(one.rows)) + [*(one.marks or no_mark * len(one.rows))]
        begin, count = at + MARK * marked, max(map(len, rows))
        needs = []
        for place in range(count):
            lines = [row[place] for row in rows if place < len(row)]
            needs.append(max(sum(map(_wide, self.wrap(line, 10_000))) for line in lines))
        room = self.room - begin - 2 * (count - 1)
        widths = [min(CELL, need) for need in needs[:-1]]
        if room - sum(widths) < min(NARROW, needs[-1]):  # an equal part for each
            widths = [min(room // count, wide) for wide in widths]
        widths.append(room - sum(widths))
        out: list[str] = []
        for row, mark in zip(rows, marks, strict=False):
            cells = [self.wrap(cell, wide) for cell, wide in zip(row, widths, strict=False)]
            texts = [
                "".join(
                    self.ink(*(part or [])) + " " * (wide + 2 - _wide(part or []))
                    for part, wide in zip(parts, widths, strict=False)
                )
                for parts in zip_longest(*cells)
            ]
            out += _behind(self.mark(mark, marked), texts or [""], at, begin)
        return out

    def bar(self, one: tree.Bar, at: int) -> list[str]:
        """Parts of a whole, and below it what each of them is; "|" is the end of the whole."""
        needed = sum(count for _, count in one.parts)
        full, long = max(one.whole, needed, 1), min(48, self.room - at - 1)
        drawn, total = "", 0
        rows = self.line((one.label, f" of {size(one.whole)}"), at)
        legend: list[str] = []
        for place, (name, count) in enumerate(one.parts):
            shade = SHADES[place % len(SHADES)]
            total += count
            drawn += shade * (round(total / full * long) - len(drawn))
            legend += self.line((f"{shade} {name} {size(count)}",), at)
        drawn += "·" * (long - len(drawn))
        end = round(one.whole / full * long)
        over = needed > one.whole
        rows.append(f"{drawn[:end]}|{drawn[end:]}" if over else drawn)
        return _indented([*rows, *legend, f"{'|' if over else '·'} {one.rest}"], at)

    def fold(self, one: tree.Fold, at: int) -> list[str]:
        body = self.blocks(one.body, at)
        return [*self.heading(tree.Heading((one.title,), level=2), at), *body] if body else []


def _wide(row: Row) -> int:
    return sum(width(piece.text) for piece in row)


def _indented(rows: Iterable[str], at: int) -> list[str]:
    return [" " * at + row for row in rows]


def _behind(lead: str, rows: Sequence[str], at: int, begin: int) -> list[str]:
    """Rows, the first behind what leads it; they begin in one column."""
    return [*(" " * at + lead + row for row in rows[:1]), *_indented(rows[1:], begin)]


_PARTS = re.compile(r"[^/\\,;=&?:]*[/\\,;=&?:]|[^/\\,;=&?:]+")


def _broken(word: Row, room: int) -> list[Row]:
    """A word that is longer than a line in parts: after a slash where there is one."""
    out: list[Row] = []
    for piece in word:
        for part in _PARTS.findall(piece.text):
            begun = ""
            for sign in part:
                if width(begun + sign) > room:
                    out.append([Piece(begun, piece.style)])
                    begun = ""
                begun += sign
            out.append([Piece(begun, piece.style)])
    return out


_WORD = re.compile(r"""(?:[^\s'"`\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)+""")
_READS_ON = ("&&", "||", "|")
"""A shell reads on in the next line after these, so that no backslash is needed."""


def _words(line: str) -> list[str]:
    """A shell's line at its spaces outside quotes; none where a quote stays open, a comment begins,
    or spaces stand together.
    """
    words = _WORD.findall(line)
    safe = " ".join(words) == line and not any(word.startswith("#") for word in words)
    return words if safe else []


def _continued(line: str, room: int) -> list[str]:
    """A shell's line in several: one per part of a chain, a longer part with backslashes."""
    if width(line) <= room:
        return [line]
    rows: list[str] = []
    for word in _words(line):
        if rows and not rows[-1].endswith(_READS_ON) and width(rows[-1] + word) + 3 <= room:
            rows[-1] += " " + word
        else:
            rows.append("  " + word if rows else word)
    return [*(row if row.endswith(_READS_ON) else row + " \\" for row in rows[:-1]), *rows[-1:]]
