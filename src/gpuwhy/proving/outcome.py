"""What came of one trial: a success as it was defined, the same failure, another one, or nothing that can be told."""

from __future__ import annotations

import re
import signal as signals
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gpuwhy.log.read import read
from gpuwhy.log.ending import Ending
from gpuwhy.prove.endings import alike, name, place
from gpuwhy.prove.proof import Outcome
from gpuwhy.proving.plan import Plan
from gpuwhy.proving.trial import Ran

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.:]\d+)*")
_PATH = re.compile(r"(?:/[\w.+@~-]+)+/")
SENTENCE = 12
SILENT = ("exit", "signal", "none", "timeout")


class Judged(NamedTuple):
    """An outcome with its ending and a note for the reader."""

    outcome: Outcome
    ending: Ending
    note: str = ""


def ending_of_run(ran: Ran, ok: str = "") -> Ending:
    """How it ended; without a word of its own, its last line is kept as the message."""
    if ran.cannot:
        return Ending("fatal", "cannot be started", ran.cannot)
    if ran.stopped in ("time", "hangs"):
        said = "it hung: no output and no work" if ran.stopped == "hangs" else "it had not ended"
        return Ending("timeout", "", said)
    if ran.code == 0 and not ran.signal:
        return Ending("exit", "", f"it never printed {ok}", exit_code=0) if ok else Ending(exit_code=0)
    log = read(ran.output, exit_code=None if ran.signal else ran.code, signal=_signal(ran))
    found = log.ending
    if found.kind in SILENT and not found.message:
        return msgspec.structs.replace(found, message=_last_line(ran.output))
    return found


def _signal(ran: Ran) -> str:
    """The signal that ended it; a shell tells it as 128 and its number."""
    number = ran.signal or (ran.code - 128 if 128 < ran.code <= 128 + 31 else 0)
    return signals.Signals(number).name if number else ""


def _last_line(output: str) -> str:
    return next((line.strip()[:300] for line in reversed(output.splitlines()) if line.strip()), "")


def same(first: Ending, other: Ending) -> bool:
    """Whether two failures are one: as `alike`, and where there is no message by the last line."""
    if not alike(first, other):
        return _same_sentence(first, other)
    return first.kind not in SILENT or first.chain != () or _bare(first.message) == _bare(other.message)


def _same_sentence(first: Ending, other: Ending) -> bool:
    """One exception at one place that begins with the same sentence: the rest tells of the moment (who holds what)."""
    if first.kind != "exception" or name(first) != name(other):
        return False
    if not first.frame or place(first) != place(other):
        return False
    begins, again = (_bare(one.message).split(". ")[0] for one in (first, other))
    return begins == again and len(begins) > SENTENCE


def _bare(text: str) -> str:
    return _NUMBER.sub("#", _PATH.sub("", text))


_UNDECIDED = "stopped before anything was decided"


def judge(ran: Ran, plan: Plan, bases: Sequence[Ending], away: str = "") -> Judged:
    """The outcome of a trial; `bases` are the ways in which it failed as it is, none for the first run itself."""
    base = bases[0] if bases else None
    ending = ending_of_run(ran, plan.ok)
    if ran.cannot:
        return Judged("other", ending, f"cannot be started: {ran.cannot}")
    won = _success(ran, plan, base)
    if won:
        return Judged("other", ending, away) if away else Judged("passes", Ending(exit_code=0), _how(ran, plan))
    if ran.stopped and base is not None and base.kind != "timeout":
        hung = ran.stopped == "hangs"
        return Judged("other", ending, "it hung") if hung else Judged("unclear", ending, _UNDECIDED)
    if base is None or any(same(one, ending) for one in bases):
        return Judged("same", ending)
    return Judged("other", ending)


def _success(ran: Ran, plan: Plan, base: Ending | None) -> bool:
    if plan.ok:
        return ran.stopped == "ok"
    if ran.stopped == "time":
        return ran.busy and (bool(plan.seconds) or (base is not None and base.kind != "timeout" and not plan.timeout))
    return not ran.stopped and ran.code == 0 and not ran.signal


def _how(ran: Ran, plan: Plan) -> str:
    if ran.stopped == "time":
        return f"still running after {ran.seconds:.0f} s"
    return "it printed what --ok asks for" if ran.stopped == "ok" else ""
