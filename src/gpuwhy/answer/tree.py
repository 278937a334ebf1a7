"""The document tree that every answer becomes and every writer reads.

What is left out was left out of the Answer.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from gpuwhy.answer.text import size

Mark = Literal["", "ok", "bad", "warn", "unknown", "none"]
"""✓ ✗ ! ? –"""

Language = Literal["sh", "bat", "powershell", "python", "text"]
"""What a command is typed into; "text" is for a file, or where it is not known."""


class Code(msgspec.Struct, frozen=True):
    """Words to type, a name as a program prints it."""

    text: str
    copy: bool = False  # it is a whole command: the page offers to copy it


class Soft(msgspec.Struct, frozen=True):
    """Sources, hints, what may be skipped."""

    text: str


class Link(msgspec.Struct, frozen=True):
    """A place to read on: a page's address."""

    text: str
    to: str


Span = Union[str, Code, Soft, Link]
Line = tuple[Span, ...]


class Heading(msgspec.Struct, frozen=True):
    """The answer, or the title of a part; the first of a document has level 1."""

    line: Line
    mark: Mark = ""
    level: int = 1
    under: Line = ()  # a second line, softer: the cause and how certain it is


class Paragraph(msgspec.Struct, frozen=True):
    """A sentence or two."""

    line: Line


class Command(msgspec.Struct, frozen=True):
    """Something to copy; several lines are typed one after another."""

    text: str
    language: Language = "sh"


class Quote(msgspec.Struct, frozen=True):
    """Lines of the user's own text; `hit` is the one that decides."""

    lines: tuple[tuple[int, str], ...]  # number, text
    hit: int = 0


Part = Union[Line, Command]
"""What may stand beside a label, or in a row of a list."""


class Pair(msgspec.Struct, frozen=True):
    """A label and what belongs to it."""

    label: str
    body: tuple[Part, ...]
    mark: Mark = ""
    wide: bool = False  # the label is a sentence: it gets a line of its own


class Pairs(msgspec.Struct, frozen=True):
    """Rows of label and value, in one column each."""

    rows: tuple[Pair, ...]
    stack: bool = False  # they are layers, the GPU's first: HTML draws them, the program on top


class Item(msgspec.Struct, frozen=True):
    """A row of a list; of a list of steps, ✓ is only for what was done."""

    body: tuple[Part, ...]
    mark: Mark = ""


class Items(msgspec.Struct, frozen=True):
    """A list."""

    rows: tuple[Item, ...]
    numbered: bool = False


class Table(msgspec.Struct, frozen=True):
    """Columns; the last one wraps."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    marks: tuple[Mark, ...] = ()  # one a row


class Bar(msgspec.Struct, frozen=True):
    """Parts of a whole, in bytes."""

    parts: tuple[tuple[str, int], ...]
    whole: int
    label: str = ""

    @property
    def rest(self) -> str:
        """What is left of the whole, or missing."""
        left = self.whole - sum(count for _, count in self.parts)
        return f"free {size(left)}" if left >= 0 else f"{size(-left)} too much"


class Fold(msgspec.Struct, frozen=True):
    """A part for those who want more: text prints it below the rest, HTML and Markdown fold it."""

    title: str
    body: tuple[Block, ...]
    open: bool = False


Block = Union[Heading, Paragraph, Command, Quote, Pairs, Items, Table, Bar, Fold]


class Document(msgspec.Struct, frozen=True):
    """Blocks from top to bottom, with what an HTML page needs for its head."""

    blocks: tuple[Block, ...]
    title: str = ""
    made_by: str = ""  # "gpuwhy 1.0.0"
    made_on: str = ""  # a day
    about: str = ""  # the file or machine it is about
