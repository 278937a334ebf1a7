"""Shows an Answer in the form that was asked for: text, JSON, HTML, Markdown, JUnit, annotations."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, TextIO

from gpuwhy.api.text import shareable
from gpuwhy.cli.forms import keep_page
from gpuwhy.cli.terminal import write

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.terminal import Paper


def show(answer: Answer, options: argparse.Namespace) -> None:
    """Print it, and write the files."""
    if _told_ci(answer, options) or _drawn(answer, options):
        return
    if options.json:
        write(json(answer))
        return
    write(text(answer, getattr(options, "verbose", 0)))


def text(answer: Answer, detail: int = 0, stream: TextIO | None = None) -> str:
    """The answer for a terminal."""
    from gpuwhy.answer import blocks, terminal

    return terminal.write(blocks.document(answer, detail), _paper(terminal.Paper, stream or sys.stdout))


def json(answer: Answer) -> str:
    """The answer as `gpuwhy.report/1`."""
    from gpuwhy.answer.contract import as_json

    return as_json(shareable(answer))


def markdown(answer: Answer) -> str:
    """The answer to paste into a bug report."""
    from gpuwhy.answer import blocks
    from gpuwhy.answer import markdown as writer

    return writer.write(blocks.document(shareable(answer), 1))


def html(answer: Answer) -> str:
    """The answer as a page that works offline."""
    from gpuwhy.answer import blocks
    from gpuwhy.answer import html as writer

    return writer.page(blocks.document(shareable(answer), 2))


def _paper(paper: type[Paper], stream: TextIO) -> Paper:
    """80 columns or the terminal's; colour and signs where it has them."""
    import shutil

    colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    try:
        "✓✗·–…→".encode(stream.encoding or "utf-8")
        signs = True
    except UnicodeEncodeError:
        signs = False
    columns = min(shutil.get_terminal_size((80, 24)).columns, 100)
    return paper(columns, colour or bool(os.environ.get("FORCE_COLOR")), signs)


def _told_ci(answer: Answer, options: argparse.Namespace) -> bool:
    """Write JUnit's XML and GitHub's annotations; whether the annotations stand for the usual text."""
    if not (options.junit or options.github):
        return False
    from gpuwhy.answer import ci

    notes = ci.notes(shareable(answer))
    if options.junit:
        keep_page(options.junit, ci.junit(notes, seconds=answer.took))
    if options.github:
        write(ci.github(notes), orders=True)
    return bool(options.github)


def _drawn(answer: Answer, options: argparse.Namespace) -> bool:
    """Write the page and print the Markdown; whether the Markdown stands for the usual text."""
    if options.html:
        keep_page(options.html, html(answer))
    if options.markdown:
        write(markdown(answer))
    return bool(options.markdown)
