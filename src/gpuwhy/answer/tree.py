"""The document tree that every answer becomes and every writer reads.

What is left out was left out of the Answer.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

Mark = Literal["", "ok", "bad", "warn", "unknown"]
"""✓ ✗ ! ?"""


class _Node(msgspec.Struct, frozen=True):
    """A part of a document."""


class Code(_Node, frozen=True):
    """Words to type, a name as a program prints it."""

    text: str


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


class Paragraph(_Node, frozen=True):
    """A sentence or two."""

    line: Line


class Command(_Node, frozen=True):
    """Something to copy; several lines are typed one after another."""

    text: str
    language: Literal["sh", "bat", "powershell", "python", "text"] = "sh"


class Quote(_Node, frozen=True):
    """Lines of the user's own text; `hit` is the one that decides."""

    lines: tuple[tuple[int, str], ...]  # number, text
    hit: int = 0


class Pair(_Node, frozen=True):
    """A label and what belongs to it."""

    label: str
    body: tuple[Line | Command | Quote, ...]
    mark: Mark = ""


class Pairs(_Node, frozen=True):
    """Rows of label and value, in one column each."""

    rows: tuple[Pair, ...]


class Table(_Node, frozen=True):
    """Columns; the last one wraps."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    marks: tuple[Mark, ...] = ()  # one a row


class Bar(_Node, frozen=True):
    """Parts of a whole, in bytes."""

    parts: tuple[tuple[str, int], ...]
    whole: int


class Series(_Node, frozen=True):
    """Values over time, in bytes: a sparkline or a small drawing."""

    label: str
    points: tuple[tuple[float, int], ...]  # seconds, value
    most: int


class Layer(_Node, frozen=True):
    """One layer of the stack, from the GPU to the program."""

    name: str
    line: Line
    mark: Mark = ""
    cause: str = ""  # where the joint is broken, the cause: an anchor


class Stack(_Node, frozen=True):
    """The layers; HTML draws them, text lists them."""

    layers: tuple[Layer, ...]


class Fold(_Node, frozen=True):
    """What is shown at this detail or above: 0 always, 1 with -v, 2 with -vv.

    HTML folds it instead.
    """

    title: str
    body: tuple[Block, ...]
    detail: int = 1


Block = Union[Heading, Paragraph, Command, Quote, Pairs, Table, Bar, Series, Stack, Fold]


class Document(_Node, frozen=True):
    """Blocks from top to bottom, with what an HTML page needs for its head."""

    blocks: tuple[Block, ...]
    title: str = ""
    made_by: str = ""  # "gpuwhy 1.0.0"
    made_on: str = ""  # a day
    about: str = ""  # the file or machine it is about
