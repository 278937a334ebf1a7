"""The opt-in hooks: uncaught GPU errors of any thread are explained where Python prints them."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from gpuwhy.api.note import annotate, noted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]

PRINTS_NOTES = sys.version_info >= (3, 11)

_before: Hook | None = None
_before_in_threads: Callable[[threading.ExceptHookArgs], Any] | None = None
_explains = False
_busy = threading.local()
"""A hook that was put over ours may call ours in turn: then Python's own is used."""


def install() -> None:
    """Put our hooks before those that are there; once."""
    global _explains
    _explains = True
    show_notes()
    install_in_threads()


def install_in_threads() -> None:
    """The hook for threads alone."""
    global _before_in_threads
    if threading.excepthook is not _in_thread:
        _before_in_threads, threading.excepthook = threading.excepthook, _in_thread


def show_notes() -> None:
    """Put our hook in place without explaining: Python 3.10 keeps notes and does not print them."""
    global _before
    if sys.excepthook is not _uncaught:
        _before, sys.excepthook = sys.excepthook, _uncaught


def uninstall() -> None:
    """Put back what was there, unless somebody else has put a hook over ours."""
    global _before, _before_in_threads, _explains
    _explains = False
    if sys.excepthook is _uncaught:
        sys.excepthook, _before = _before or sys.__excepthook__, None
    if threading.excepthook is _in_thread:
        threading.excepthook, _before_in_threads = (
            _before_in_threads or threading.__excepthook__,
            None,
        )


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if getattr(_busy, "main", False):
        sys.__excepthook__(kind, error, trace)
        return
    _busy.main = True
    try:
        if _explains and isinstance(error, Exception):
            annotate(error)
        (_before or sys.__excepthook__)(kind, error, trace)
        _print_notes(error)
    finally:
        _busy.main = False


def _in_thread(args: threading.ExceptHookArgs) -> None:
    if getattr(_busy, "thread", False):
        threading.__excepthook__(args)
        return
    _busy.thread = True
    try:
        if isinstance(args.exc_value, Exception):
            annotate(args.exc_value)
        (_before_in_threads or threading.__excepthook__)(args)
        _print_notes(args.exc_value)
    finally:
        _busy.thread = False


def _print_notes(error: BaseException | None) -> None:
    """Print our note where Python itself does not."""
    if not PRINTS_NOTES and error is not None and sys.stderr is not None and noted(error):
        print(noted(error), file=sys.stderr)
