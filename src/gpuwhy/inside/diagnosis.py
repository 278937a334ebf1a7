"""From an exception on its way to a note on it: read its text, look at the machine, explain. Never raises."""

from __future__ import annotations

import re
import sys
import threading
import time
from typing import TYPE_CHECKING

from gpuwhy.api.suspects import target

if TYPE_CHECKING:
    from collections.abc import Callable
    from traceback import TracebackException

    from gpuwhy.app import Run
    from gpuwhy.answer.answer import Answer

MARK = "gpuwhy: "
LONGEST = 12_000
FRESH = 10.0
"""Seconds for which a look is used again: a loop that fails and goes on must not look at the machine each time."""
_INNOCENT = "other.not_gpu"
_SOURCE = re.compile(r'^( *File ".*\n)(?: {4}.*\n)+', re.MULTILINE)

_seen: tuple[float, Run] | None = None


def annotate(
    error: Exception, *, machine: bool = True, seconds: float = 5.0, told: Callable[[Answer], None] | None = None
) -> str:
    """Add the diagnosis of a GPU error to it as a note and return the note; "" and untouched where there is none.

    `told` gets the whole report behind it.
    Nothing escapes, not even Ctrl-C while we look: the error that is on its way must arrive.
    """
    try:
        carrier = target(error)
        if carrier is None or noted(carrier):
            return ""
        note = note_on(_text(error), machine=machine, seconds=seconds, told=told)
        if note:
            _add(carrier, note)
    except BaseException:
        return ""
    return note


def noted(error: BaseException) -> str:
    """The note that an exception carries from us, or ""."""
    notes = getattr(error, "__notes__", ())
    return next((n for n in notes if isinstance(n, str) and n.startswith(MARK)), "")


def _add(error: BaseException, note: str) -> None:
    if sys.version_info >= (3, 11):
        error.add_note(note)
        return
    vars(error)["__notes__"] = [*getattr(error, "__notes__", ()), note]
    from gpuwhy.inside import hook

    hook.show_notes()


def _text(error: BaseException) -> str:
    """The chain as Python prints it, without lines of source; of a very long one the beginning and the end."""
    import traceback

    whole = traceback.TracebackException(type(error), error, error.__traceback__)
    _shorten(whole)
    text = "".join(whole.format())
    return _shortened(_SOURCE.sub(r"\1", _shortened(text, 4 * LONGEST)), LONGEST)


def _shorten(whole: TracebackException, left: int = 40) -> None:
    """Cut the messages of a chain before Python lays them out line by line: one may have millions."""
    said = getattr(whole, "_str", None)
    if isinstance(said, str) and len(said) > LONGEST:
        whole._str = _shortened(said, LONGEST)  # type: ignore[attr-defined]
    for one in (whole.__cause__, whole.__context__):
        if one is not None and left:
            _shorten(one, left - 1)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"


def note_on(
    text: str,
    *,
    machine: bool,
    seconds: float,
    where: str = "exception",
    told: Callable[[Answer], None] | None = None,
) -> str:
    """The note on a text; "" where it tells of no GPU problem."""
    report = explained(text, machine=machine, seconds=seconds)
    if report is None:
        return ""
    if told is not None:
        told(report)
    from gpuwhy.inside.own import own_view
    from gpuwhy.render.note import render

    return MARK + render(report, own_view())


def explained(text: str, *, machine: bool, seconds: float) -> Answer | None:
    """The report on a text, with this machine's facts; None where the text tells of no GPU problem."""
    from gpuwhy.api.seen import seen
    from gpuwhy.api.text import answer_of
    from gpuwhy.log.read import read

    log = read(text)
    alone = answer_of(log)
    run = look(seconds) if machine and _tells(alone) else None
    if run is None:
        return alone if _tells(alone) else None
    whole = answer_of(log, seen(run.report()))
    return _contradicted(alone, whole, run) if _tells(whole) else None


def _tells(answer: Answer) -> bool:
    named = answer.verdict in ("found", "undecided")
    return named and bool(answer.causes) and answer.causes[0].id != _INNOCENT


def _contradicted(alone: Answer, whole: Answer, run: Run) -> Answer:
    """Where this machine rules out what the message means, that alone is told: the text is surely from here."""
    from msgspec.structs import replace

    if whole.verdict == "found" or alone.verdict != "found":
        return whole
    meant = alone.causes[0].id
    because = next((row.because for row in run.report().ruled_out if row.id == meant), "")
    if not because:
        return whole
    headline = f"{because[:1].upper()}{because[1:]}: that rules out {meant}, which the message usually means"
    return replace(whole, headline=headline, causes=())


def look(seconds: float) -> Run | None:
    """A look at this machine and this Python; None where it takes too long or fails."""
    global _seen
    if _seen is not None and time.monotonic() - _seen[0] < FRESH:
        return _seen[1]
    found: list[Run] = []
    looker = threading.Thread(target=_look, args=(found,), daemon=True)
    looker.start()
    looker.join(seconds)
    if not found:
        return None
    _seen = (time.monotonic(), found[0])
    return found[0]


def _look(found: list[Run]) -> None:
    try:
        from gpuwhy.app import Options, Run, live_host

        found.append(Run(live_host(), Options(python=sys.executable or "")))
    except Exception:  # nothing seen: the text alone then decides
        return
