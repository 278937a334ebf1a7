"""The forms that people look at and pass on: `--html FILE` and `--markdown`, the same for every command."""

from __future__ import annotations

import argparse
import os

from gpuwhy.cli import UsageError, say


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--html", default="", metavar="FILE", help="write a page to look at: one file, no network")
    parser.add_argument("--markdown", action="store_true", help="print Markdown for an issue: folded, without secrets")


def ready(options: argparse.Namespace) -> None:
    """Refuse a page that could not be written, before the work begins."""
    path = options.html
    if options.markdown and getattr(options, "json", False):
        raise UsageError("--json or --markdown: one of them can be printed")
    if not path:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise UsageError(f"--html {path}: {folder} is not a folder that can be written to")


def shown(options: argparse.Namespace, answer: object, log: str = "") -> bool:
    """Write the page and print the Markdown, as asked for; whether the Markdown stands for the usual text."""
    from gpuwhy import showing
    from gpuwhy.cli.terminal import write

    if options.html:
        keep_page(options.html, showing.html(answer, log))
    if options.markdown:
        write(showing.markdown(answer, log))
    return bool(options.markdown)


def asked(options: argparse.Namespace) -> bool:
    """Whether any of them is wanted."""
    return bool(options.html or options.markdown)


def keep_page(path: str, text: str, *, new: bool = False) -> None:
    """Write a page; `new` refuses to write over anything."""
    from gpuwhy.border.writing import create, keep

    data = text.encode("utf-8", "replace")
    try:
        (create if new else keep)(path, data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    say(f"gpuwhy: wrote {path} ({len(data):,} bytes); read it before you send it")
