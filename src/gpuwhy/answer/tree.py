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


class _Node(msgspec.Struct, frozen=True):
    """A part of a document."""


class Code(_Node, frozen=True):
    """Words to type, a name as a program prints it."""

    text: str
    copy: bool = False  # it is a whole command: the page offers to copy it


class Strong(_Node, frozen=True):
    """What the sentence is about."""

    text: str


class Soft(_Node, frozen=True):
    """Sources, hints, what may be skipped."""

    text: str


class Link(_Node, frozen=True):
    """A place to read on: a page's address, or "#id" in this document."""

    text: str
    to: str


Span = Union[str, Code, Strong, Soft, Link]
Line = tuple[Span, ...]


class Heading(_Node, frozen=True):
    """The answer, or the title of a part; the first of a document has level 1."""

    line: Line
    mark: Mark = ""
    level: int = 1
    under: Line = ()  # a second line, softer: the cause and how certain it is
    id: str = ""  # what a Link or a Layer leads to


class Paragraph(_Node, frozen=True):
    """A sentence or two."""

    line: Line


class Command(_Node, frozen=True):
    """Something to copy; several lines are typed one after another."""

    text: str
    language: Language = "sh"


class Quote(_Node, frozen=True):
    """Lines of the user's own text; `hit` is the one that decides."""

    lines: tuple[tuple[int, str], ...]  # number, text
    hit: int = 0


Part = Union[Line, Command]
"""What may stand beside a label, or in a row of a list."""


class Pair(_Node, frozen=True):
    """A label and what belongs to it."""

    label: str
    body: tuple[Part, ...]
    mark: Mark = ""
    wide: bool = False  # the label is a sentence: it gets a line of its own


class Pairs(_Node, frozen=True):
    """Rows of label and value, in one column each."""

    rows: tuple[Pair, ...]


class Item(_Node, frozen=True):
    """A row of a list; of a list of steps, ✓ is only for what was done."""

    body: tuple[Part, ...]
    mark: Mark = ""


class Items(_Node, frozen=True):
    """A list."""

    rows: tuple[Item, ...]
    numbered: bool = False


class Table(_Node, frozen=True):
    """Columns; the last one wraps."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    marks: tuple[Mark, ...] = ()  # one a row


class Bar(_Node, frozen=True):
    """Parts of a whole, in bytes."""

    parts: tuple[tuple[str, int], ...]
    whole: int
    label: str = ""

    @property
    def rest(self) -> str:
        """What is left of the whole, or missing."""
        left = self.whole - sum(count for _, count in self.parts)
        return f"free {size(left)}" if left >= 0 else f"{size(-left)} too much"


class Layer(_Node, frozen=True):
    """One layer of the stack, from the GPU to the program."""

    name: str
    line: Line
    mark: Mark = ""
    cause: str = ""  # what marks it, where that is told in this document: an anchor


class Stack(_Node, frozen=True):
    """The layers; HTML draws them, text lists them."""

    layers: tuple[Layer, ...]


class Fold(_Node, frozen=True):
    """A part for those who want more: text prints it below the rest, HTML and Markdown fold it."""

    title: str
    body: tuple[Block, ...]
    open: bool = False
    id: str = ""  # what a Link or a Layer leads to


Block = Union[Heading, Paragraph, Command, Quote, Pairs, Items, Table, Bar, Stack, Fold]


class Document(_Node, frozen=True):
    """Blocks from top to bottom, with what an HTML page needs for its head."""

    blocks: tuple[Block, ...]
    title: str = ""
    made_by: str = ""  # "gpuwhy 1.0.0"
    made_on: str = ""  # a day
    about: str = ""  # the file or machine it is about
