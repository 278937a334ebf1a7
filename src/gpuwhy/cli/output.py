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

from gpuwhy.cli import ASKED, UsageError, say
from gpuwhy.cli.terminal import has_signs, write
from gpuwhy.machine import FORM

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.ci import Note
    from gpuwhy.answer.terminal import Paper
    from gpuwhy.answer.tree import Document
    from gpuwhy.machine.redact import Redactor

T = TypeVar("T")


def ready(options: argparse.Namespace) -> None:
    """Refuse a form that could not be printed or written, before the work begins."""
    printed = [name for name in ("json", "markdown", "github") if getattr(options, name, False)]
    if len(printed) > 1:
        raise UsageError(f"--{' or --'.join(printed)}: one of them can be printed")
    for name in ("html", "junit"):
        if getattr(options, name, ""):
            writable(getattr(options, name), f"--{name} ")


def writable(path: str, said: str = "cannot write ") -> None:
    """Refuse a file whose folder cannot be written to."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise UsageError(f"{said}{path}: {folder} is not a folder that can be written to")


def shares(options: argparse.Namespace) -> bool:
    """Whether a page or Markdown is wanted."""
    return bool(options.html or options.markdown)


def keep(path: str, data: str | bytes, *, new: bool = False) -> None:
    """Write a file for somebody else; `new` refuses to write over anything."""
    from gpuwhy.cli import refused
    from gpuwhy.machine import writing

    written = data.encode("utf-8", "replace") if isinstance(data, str) else data
    with refused(OSError, f"cannot write {path}: "):
        (writing.create if new else writing.keep)(path, written)
    say(f"gpuwhy: wrote {path} ({len(written):,} bytes); read it before you send it")


def put(
    options: argparse.Namespace,
    document: Document,
    values: Any,
    notes: Callable[[], Sequence[Note]] = tuple,
    *,
    nodes: bool = False,
    printed: str | None = None,
) -> None:
    """Write the files that were asked for, then print the one form that was.

    `notes` makes those of a build server; `nodes` for answers whose point is which machine it was;
    `printed` is a form that the command itself made, for a build server.
    """
    if FORM in ASKED:
        write(_both(document, values, nodes))
        return
    hide = _redactor(options, nodes)
    if options.html:
        from gpuwhy.answer import html

        keep(options.html, html.page(_without(document, hide)))
    if getattr(options, "junit", ""):
        from gpuwhy.answer import ci

        keep(options.junit, ci.junit(_without(notes(), hide)))
    if printed is not None:
        write(printed, orders=True)
    elif getattr(options, "github", False):
        from gpuwhy.answer import ci

        write(ci.github(_without(notes(), hide)), orders=True)
    elif options.markdown:
        from gpuwhy.answer import markdown

        write(markdown.write(_without(document, hide)))
    elif options.json:
        write(as_json(values, hide))
    else:
        write(text(document))


def put_checked(options: argparse.Namespace, answer: Answer) -> None:
    """The answer of a machine: the terminal shows real paths below `~`, and no secret."""
    if answer.causes or options.verbose:
        from gpuwhy.machine.redact import of_this_machine

        answer = _without(answer, of_this_machine(paths=True))
    home = os.path.expanduser("~").rstrip("/")
    if len(home) > 1:
        answer = _mapped(answer, lambda text: text.replace(f"{home}/", "~/"))
    put_answer(options, answer)


def put_answer(options: argparse.Namespace, answer: Answer) -> None:
    """The same for the Answer of check, explain and run."""
    from gpuwhy.answer.blocks import document

    def notes() -> Sequence[Note]:
        from gpuwhy.answer import ci

        return ci.notes(answer)

    detail = max(options.verbose, int(shares(options)))
    put(options, document(answer, detail), answer, notes)


def shareable(value: T) -> T:
    """An answer, a document or notes, as they may be passed on."""
    from gpuwhy.machine.redact import of_this_machine

    return _without(value, of_this_machine())


def text(document: Document, stream: TextIO | None = None) -> str:
    """A document for a terminal."""
    from gpuwhy.answer import terminal

    return terminal.write(document, paper(stream or sys.stdout))


def as_json(values: Any, hide: Redactor | None = None) -> str:
    """An answer's contract, without secrets and names."""
    from gpuwhy.answer import contract

    built = msgspec.to_builtins(values)
    return contract.as_json(hide.values(built) if hide else built)


def paper(stream: TextIO) -> Paper:
    """The terminal's width up to 100 columns; colour and signs where it has them."""
    from gpuwhy.answer.terminal import Paper

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = (stream.isatty() and not plain) or bool(os.environ.get("FORCE_COLOR"))
    columns = min(shutil.get_terminal_size((80, 24)).columns, 100)
    return Paper(columns, colour, has_signs(stream))


def _both(document: Document, values: Any, nodes: bool) -> str:
    """The plain text and the contract, for `gpuwhy mcp`."""
    from gpuwhy.answer import contract, terminal
    from gpuwhy.machine.redact import of_this_machine

    hide = of_this_machine(nodes=nodes)
    words = terminal.write(_without(document, hide), terminal.Paper())
    return contract.as_json({"text": words, "values": hide.values(msgspec.to_builtins(values))})


def _redactor(options: argparse.Namespace, nodes: bool) -> Redactor | None:
    """What hides this machine's secrets and people; None where nothing is passed on."""
    forms = ("json", "html", "junit", "github", "markdown")
    if not any(getattr(options, one, False) for one in forms):
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
    if isinstance(value, (tuple, list)):
        mapped = [_mapped(one, change) for one in value]
        return tuple(mapped) if isinstance(value, tuple) else mapped
    if isinstance(value, dict):
        return {name: _mapped(one, change) for name, one in value.items()}
    return value
