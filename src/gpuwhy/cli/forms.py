"""The forms that people look at and pass on: `--html FILE` and `--markdown`, the same for every command."""

from __future__ import annotations

import argparse
import os

from gpuwhy.cli import UsageError, say


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--html", default="", metavar="FILE", help="write the answer as a web page: one file that works offline"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown to paste into a bug report, without secrets"
    )


def add_ci(parser: argparse.ArgumentParser) -> None:
    """Declare what machines that run tests read."""
    parser.add_argument("--junit", default="", metavar="FILE", help="write JUnit's XML too: a test case for each cause")
    parser.add_argument("--github", action="store_true", help="print annotations of GitHub Actions instead")


def ready(options: argparse.Namespace) -> None:
    """Refuse a page that could not be written, before the work begins."""
    printed = [name for name in ("json", "markdown", "github") if getattr(options, name, False)]
    if len(printed) > 1:
        raise UsageError(f"--{' or --'.join(printed)}: one of them can be printed")
    for name in ("html", "junit"):
        path = getattr(options, name, "")
        folder = os.path.dirname(os.path.abspath(path))
        if path and (os.path.isdir(path) or not os.access(folder, os.W_OK)):
            raise UsageError(f"--{name} {path}: {folder} is not a folder that can be written to")


def asked(options: argparse.Namespace) -> bool:
    """Whether any of them is wanted."""
    return bool(options.html or options.markdown)


def keep_page(path: str, text: str, *, new: bool = False) -> None:
    """Write a page; `new` refuses to write over anything."""
    from gpuwhy.machine.writing import create, keep

    data = text.encode("utf-8", "replace")
    try:
        (create if new else keep)(path, data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    say(f"gpuwhy: wrote {path} ({len(data):,} bytes); read it before you send it")
