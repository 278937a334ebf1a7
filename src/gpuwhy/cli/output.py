"""Prints an answer in the form that was asked for: text, JSON, Markdown, a page, notes for CI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpuwhy.cli import forms
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from typing import TextIO

    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.ci import Note
    from gpuwhy.answer.tree import Document


def put(
    options: argparse.Namespace,
    document: Document,
    values: Any,
    notes: Sequence[Note] = (),
    stream: TextIO | None = None,
) -> None:
    """Write the files that were asked for, then print the one form that was."""
    from gpuwhy.answer import ci, html, markdown, terminal
    from gpuwhy.answer.contract import as_json

    if getattr(options, "html", ""):
        forms.keep_page(options.html, html.page(document))
    if getattr(options, "junit", ""):
        forms.keep_page(options.junit, ci.junit(notes))
    if getattr(options, "github", False):
        write(ci.github(notes), stream, orders=True)
    elif getattr(options, "markdown", False):
        write(markdown.write(document), stream)
    elif options.json:
        write(as_json(values), stream)
    else:
        write(terminal.write(document, _sheet(stream)), stream)


def put_answer(options: argparse.Namespace, answer: Answer, stream: TextIO | None = None) -> None:
    """The same for the Answer of check, explain and run."""
    from gpuwhy.answer import ci
    from gpuwhy.answer.blocks import document

    wanted = options.verbose or (1 if getattr(options, "html", "") else 0)
    put(options, document(answer, int(wanted)), answer, ci.notes(answer), stream)


def _sheet(stream: TextIO | None) -> Any:
    from gpuwhy.answer.terminal import Paper

    old = paper(stream)
    return Paper(old.width, old.colour)
