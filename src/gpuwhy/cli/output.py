"""Prints an answer in the form that was asked for: text, JSON, Markdown, a page, notes for CI.

What can be passed on goes through the redactor; the terminal shows the reader's own names.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import msgspec

from gpuwhy.cli import ASKED, UsageError, refused, say
from gpuwhy.cli.terminal import has_signs, write
from gpuwhy.machine import FORM

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.ci import Note
    from gpuwhy.answer.tree import Document
    from gpuwhy.machine.redact import Redactor

T = TypeVar("T")
_PRINTED = ("json", "markdown", "github", "sarif", "gitlab", "diff", "fix")
_WRITTEN = ("html", "junit")


def ready(options: argparse.Namespace) -> None:
    """Refuse a form that could not be printed or written, before the work begins."""
    printed = [name for name in _PRINTED if getattr(options, name, False)]
    if len(printed) > 1:
        raise UsageError(f"--{' or --'.join(printed)}: one of them can be printed")
    for path in filter(None, (getattr(options, name, "") for name in _WRITTEN)):
        writable(path)


def writable(path: str) -> None:
    """Refuse a file whose folder cannot be written to."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write {path}: {folder} is not a folder that can be written to")


def keep(path: str, data: str | bytes, *, new: bool = False) -> None:
    """Write a file for somebody else; `new` refuses to write over anything."""
    from gpuwhy.machine import writing

    written = data.encode("utf-8", "replace") if isinstance(data, str) else data
    with refused(OSError, f"cannot write {path}: "):
        (writing.create if new else writing.keep)(path, written)
    say(f"gpuwhy: wrote {path} ({len(written):,} bytes); read it before you send it")


def detail(options: argparse.Namespace) -> int:
    """How much is shown: -v, and in a page or Markdown its first level."""
    shared: bool = options.html or options.markdown
    return max(int(options.verbose), int(bool(shared)))


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
    given = vars(options).get
    shared = FORM in ASKED or any(given(one) for one in ("json", "markdown", "github", *_WRITTEN))
    if not shared:
        write(text(document) if printed is None else printed, orders=printed is not None)
        return
    from gpuwhy.answer import ci, contract, html, markdown, terminal
    from gpuwhy.machine.redact import of_this_machine

    hide = of_this_machine(nodes=nodes)
    if FORM in ASKED:  # by gpuwhy mcp
        words = terminal.write(hidden(document, hide), terminal.Paper())
        made = hide.values(msgspec.to_builtins(values))
        write(contract.as_json({"text": words, "values": made}))
        return
    if given("html"):
        made_on = document.made_on or time.strftime("%Y-%m-%d")
        keep(
            options.html,
            html.page(msgspec.structs.replace(hidden(document, hide), made_on=made_on)),
        )
    if given("junit"):
        keep(options.junit, ci.junit(hidden(notes(), hide)))
    if printed is not None or given("github"):
        write(printed or ci.github(hidden(notes(), hide)), orders=True)
    elif given("markdown"):
        write(markdown.write(hidden(document, hide)))
    elif given("json"):
        write(contract.as_json(hide.values(msgspec.to_builtins(values))))
    else:
        write(text(document))


def put_answer(options: argparse.Namespace, answer: Answer, *, checked: bool = False) -> int:
    """The same for an Answer; returns its exit code.

    Of a machine that was `checked` the terminal shows real paths below `~`, and no secret.
    """
    from gpuwhy.answer.blocks import document

    def notes() -> Sequence[Note]:
        from gpuwhy.answer import ci

        return ci.notes(answer)

    if checked and (answer.causes or options.verbose):
        from gpuwhy.machine.redact import of_this_machine

        answer = hidden(answer, of_this_machine(paths=True))
    home = os.path.expanduser("~").rstrip("/")
    if checked and len(home) > 1:
        answer = _mapped(answer, lambda text: text.replace(f"{home}/", "~/"))
    put(options, document(answer, detail(options)), answer, notes)
    return answer.exit_code


def shareable(value: T) -> T:
    """An answer, a document or a text, as it may be passed on."""
    from gpuwhy.machine.redact import of_this_machine

    return hidden(value, of_this_machine())


def hidden(value: T, hide: Redactor | None) -> T:
    """A value with every text in it hidden; secrets that were learnt on the way last."""
    if hide is None:
        return value
    changed: T = _mapped(_mapped(value, hide.hide), hide.again)
    return changed


def text(document: Document, stream: TextIO | None = None) -> str:
    """A document for a terminal: up to 100 columns; colour and signs where it has them."""
    from gpuwhy.answer import terminal

    stream = stream or sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = (stream.isatty() and not plain) or bool(os.environ.get("FORCE_COLOR"))
    columns = min(shutil.get_terminal_size((80, 24)).columns, 100)
    return terminal.write(document, terminal.Paper(columns, colour, has_signs(stream)))


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
