"""Prints an answer in the form that was asked for: text, JSON, Markdown, a page, notes for CI.

What can be passed on goes through the redactor; the terminal shows the reader's own names.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import msgspec

from gpuwhy.cli import forms
from gpuwhy.cli.terminal import write
from gpuwhy.machine.asking import FORM

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.ci import Note
    from gpuwhy.answer.terminal import Paper
    from gpuwhy.answer.tree import Document
    from gpuwhy.machine.redact import Redactor

T = TypeVar("T")


def put(
    options: argparse.Namespace,
    document: Document,
    values: Any,
    notes: Sequence[Note] = (),
    stream: TextIO | None = None,
    *,
    nodes: bool = False,
) -> None:
    """Write the files that were asked for, then print the one form that was.

    `nodes` for answers whose point is which machine it was.
    """
    from gpuwhy.answer import ci, html, markdown

    if os.environ.get(FORM) == "both":
        write(_both(document, values, nodes), stream)
        return
    hide = _redactor(options, nodes)
    page = getattr(options, "html", "")
    if page:
        forms.keep_page(page, html.page(_without(document, hide)))
    if getattr(options, "junit", ""):
        forms.keep_page(options.junit, ci.junit(_without(tuple(notes), hide)))
    if getattr(options, "github", False):
        write(ci.github(_without(tuple(notes), hide)), stream, orders=True)
    elif getattr(options, "markdown", False):
        write(markdown.write(_without(document, hide)), stream)
    elif options.json:
        write(as_json(values, hide), stream)
    else:
        write(text(document, stream), stream)


def put_checked(options: argparse.Namespace, answer: Answer) -> None:
    """The answer of a machine: the terminal shows real paths below `~`, and no secret."""
    if answer.causes or options.verbose:
        from gpuwhy.machine.redact import of_this_machine

        answer = _without(answer, of_this_machine(paths=True))
    home = os.path.expanduser("~").rstrip("/")
    if len(home) > 1:
        answer = _mapped(answer, lambda text: text.replace(f"{home}/", "~/"))
    put_answer(options, answer)


def put_answer(options: argparse.Namespace, answer: Answer, stream: TextIO | None = None) -> None:
    """The same for the Answer of check, explain and run."""
    from gpuwhy.answer import ci
    from gpuwhy.answer.blocks import document

    shared = bool(getattr(options, "html", "") or getattr(options, "markdown", False))
    detail = max(int(options.verbose), int(shared))
    put(options, document(answer, detail), answer, ci.notes(answer), stream)


def shared(answer: Answer) -> Answer:
    """An answer as it may be passed on."""
    from gpuwhy.machine.redact import of_this_machine

    hide = of_this_machine()
    values = hide.values(msgspec.to_builtins(answer))
    return msgspec.convert(values, type(answer))


def shareable(value: T) -> T:
    """A document, or notes, as they may be passed on."""
    from gpuwhy.machine.redact import of_this_machine

    return _without(value, of_this_machine())


def text(document: Document, stream: TextIO | None = None) -> str:
    """A document for a terminal."""
    from gpuwhy.answer import terminal

    return terminal.write(document, paper(stream or sys.stdout))


def as_json(values: Any, hide: Redactor | None = None) -> str:
    """An answer's contract, without secrets and names."""
    from gpuwhy.answer import contract

    plain = msgspec.to_builtins(values)
    return contract.as_json(hide.values(plain) if hide else plain)


def _both(document: Document, values: Any, nodes: bool) -> str:
    """The plain text and the contract, for `gpuwhy mcp`."""
    from gpuwhy.answer import contract, terminal
    from gpuwhy.machine.redact import of_this_machine

    hide = of_this_machine(nodes=nodes)
    words = terminal.write(_without(document, hide), terminal.Paper())
    plain = hide.values(msgspec.to_builtins(values))
    return contract.as_json({"text": words, "values": plain})


def _redactor(options: argparse.Namespace, nodes: bool) -> Redactor | None:
    """What hides this machine's secrets and people; None where nothing is passed on."""
    forms_asked = ("json", "html", "junit", "github", "markdown")
    if not any(getattr(options, one, False) for one in forms_asked):
        return None
    from gpuwhy.machine.redact import of_this_machine

    return of_this_machine(nodes=nodes)


def _without(value: T, hide: Redactor | None) -> T:
    """A value with every text in it hidden."""
    if hide is None:
        return value
    hidden: T = _mapped(_mapped(value, hide.hide), hide.again)
    return hidden


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {name: _mapped(one, change) for name, one in fields.items()}
        return msgspec.structs.replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(_mapped(one, change) for one in value)
    if isinstance(value, (dict, list)):
        if isinstance(value, list):
            return [_mapped(one, change) for one in value]
        return {name: _mapped(one, change) for name, one in value.items()}
    return value


def paper(stream: TextIO) -> Paper:
    """The terminal's width up to 100 columns; colour and signs where it has them."""
    from gpuwhy.answer.terminal import Paper

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = stream.isatty() and not plain
    try:
        "✓✗·–…→".encode(stream.encoding or "utf-8")
        signs = True
    except UnicodeEncodeError:
        signs = False
    columns = min(shutil.get_terminal_size((80, 24)).columns, 100)
    return Paper(columns, colour or bool(os.environ.get("FORCE_COLOR")), signs)
