"""What came of one run: a success, the same failure, another one, or nothing that can be told."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from gpuwhy.log.ending import Ending
from gpuwhy.log.read import read
from gpuwhy.prove.proof import Outcome, Plan
from gpuwhy.run.observed import name as signal_name
from gpuwhy.run.trial import Ran

_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/][\w.+@~-]+)*[\\/]([\w.+@~-]+)")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|\d+(?:[.:]\d+)*")
SENTENCE = 12
"""Letters from which on the same first sentence means the same failure."""


def said(ending: Ending) -> str:
    """The type and the message: "KeyError: 'x'"."""
    return ": ".join(filter(None, (ending.type, ending.message)))


def same(first: Ending, other: Ending) -> bool:
    """Whether two runs ended the same way: kind, type, place, and message but for numbers and
    paths. Of one exception at one place the first sentence is enough: what follows tells of the
    moment (who holds what).
    """
    places, messages = [], []
    for one in (first, other):
        frame = one.frame
        at = (frame.file.replace("\\", "/").rpartition("/")[2], frame.function) if frame else ()
        places.append((one.kind, one.type.rpartition(".")[2], one.exit_code, at))
        line = one.message.split("\n", 1)[0]
        messages.append(_NUMBER.sub("#", _PATH.sub(r"\1", line))[:300])
    if places[0] != places[1] or messages[0] == messages[1]:
        return places[0] == places[1]
    begins, again = (message.split(". ")[0] for message in messages)
    raised = first.kind == "exception" and first.frame is not None
    return raised and begins == again and len(begins) > SENTENCE


def _ending_of(ran: Ran, ok: str) -> Ending:
    """How a run ended; without a word of its own, its last line is kept as the message."""
    ended = ran.ended
    if ran.cannot:
        return Ending("fatal", "cannot be started", ran.cannot)
    if ran.stopped:
        hung = "it hung: no output and no work"
        return Ending("timeout", "", hung if ran.stopped == "hangs" else "it had not ended")
    if not ended.failed:
        return Ending("exit", "", f"it never printed {ok}" if ok else "", exit_code=0)
    number = ended.signal or (ended.code - 128 if 128 < ended.code <= 128 + 31 else 0)
    signal = signal_name(number) if number else ""
    found = read(ran.output, exit_code=None if ended.signal else ended.code, signal=signal).ending
    if found.kind in ("exit", "signal", "none") and not found.message:
        lines = (line.strip() for line in reversed(ran.output.splitlines()))
        return replace(found, message=next(filter(None, lines), "")[:300])
    return found


Judged = tuple[Outcome, Ending, str]
"""An outcome with its ending and a note for the reader."""


def judge(ran: Ran, plan: Plan, bases: Sequence[Ending], away: str) -> Judged:
    """The outcome of a run; `bases` are the ways in which it failed as it is, none for the first
    run; `away` says why a success would be none.
    """
    ending = _ending_of(ran, plan.ok)
    if ran.cannot:
        return "other", ending, f"cannot be started: {ran.cannot}"
    if ran.stopped == "budget":
        return "unclear", ending, "stopped: the budget is spent"
    hung = bool(bases) and bases[0].kind == "timeout"
    outlives = bool(plan.seconds) or (bool(bases) and not hung and not plan.timeout)
    if plan.ok:
        succeeds = ran.stopped == "ok"
    elif ran.stopped == "time":
        succeeds = ran.busy and outlives
    else:
        succeeds = not ran.stopped and not ran.ended.failed
    if succeeds:
        still = f"still running after {ran.ended.seconds:.0f} s" if ran.stopped == "time" else ""
        note = "it printed what --ok asks for" if ran.stopped == "ok" else still
        return ("other", ending, away) if away else ("passes", Ending(), note)
    if ran.stopped and bases and not hung:
        if ran.stopped == "hangs":
            return "other", ending, "it hung"
        return "unclear", ending, "stopped before anything was decided"
    alike = not bases or any(same(one, ending) for one in bases)
    return "same" if alike else "other", ending, ""
