"""The lines of a child of the probe as stages and rates; no line is trusted."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpuwhy.facts.probe import Call, Stage, StageOutcome

MAX_TEXT = 400
MAX_CALLS = 200
MAX_STAGES = 400
MAX_DEVICE = 1024
LAST_LINES = 3  # of what libraries printed
UNNAMED = ""  # a stage that stands for what happened before any began
SIGNALS = {4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL"}
SIGNALS |= {11: "SIGSEGV", 31: "SIGSYS"}
EXCEPTIONS = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC00000FD: "stack overflow",
    0xC0000135: "a DLL was not found",
    0xC0000139: "a DLL lacks a function",
    0xC0000409: "it ended itself",
}
"""The codes with which Windows ends a process."""

_KINDS = ("stage", "calling", "call", "library", "end", "said", "ended")
_CONTROL = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")

Line = Mapping[str, Any]


class Said(NamedTuple):
    """What a child said."""

    stages: tuple[Stage, ...]
    broke: bool = False  # it died or hung; the last stage says how


def read(lines: Iterable[Line]) -> Said:
    """Turn the lines of one child into stages; a stage without an end crashed, hung or failed."""
    reader = _Reader()
    for line in lines:
        reader.take(line)
    reader.finish()
    return Said(tuple(reader.stages), reader.broke)


class _Reader:
    """The state between lines: the stage that is open, and the call that was named last."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self.broke = False
        self._calls: list[Call] = []
        self._name = self._calling = self._library = ""
        self._device: int | None = None
        self._open = False
        self._said = ""

    def take(self, line: Line) -> None:
        """Dispatch on the one key that names a line's kind; a line of no kind is passed over."""
        for kind in [one for one in _KINDS if one in line][:1]:
            getattr(self, kind)(line)

    def finish(self) -> None:
        """The child has ended; a stage that is still open took it down."""
        if self._open:
            self._break("crashed", "the process ended in the middle of it")
        last = self.stages[-1] if self.stages else None
        failing = last.failing if last else None
        if last and last.outcome == "failed" and self._said and not (failing and failing.text):
            said = replace(failing, text=self._said) if failing else None
            calls = tuple(said if said and one is failing else one for one in last.calls)
            self.stages[-1] = replace(last, calls=calls, why=_text(f"{last.why}: {self._said}"))

    def stage(self, line: Line) -> None:
        """A stage begins; to the first belong the calls that were made before it."""
        if self._open:
            self._end("failed", "it did not say how it ended")
        before = [] if self.stages else self._calls
        self._begin(_text(line["stage"]), _device(line.get("device")))
        self._calls = before

    def calling(self, line: Line) -> None:
        """A call is about to be made."""
        self._calling = _text(line["calling"])

    def call(self, line: Line) -> None:
        """A call has answered."""
        self._calling = ""
        name, status, text = (_text(line.get(key)) for key in ("call", "status", "text"))
        code, ms = _whole(line.get("code")), _number(line.get("ms"))
        self._add(Call(name, line.get("ok") is True, code, status, text, ms))

    def library(self, line: Line) -> None:
        """The file that is really mapped; the first of a stage is its own."""
        self._library = self._library or _text(line["library"])

    def end(self, line: Line) -> None:
        """The open stage is done."""
        if not self._open:
            return
        why, passed = _text(line.get("why")), line.get("ok") is True
        outcome: StageOutcome = "passed" if passed else "failed"
        self._end(outcome, why if passed else why or self._failure(), _number(line.get("ms")))

    def said(self, line: Line) -> None:
        """What libraries printed; it comes when the child has ended."""
        text = str(line["said"])[-10 * MAX_TEXT :]
        lines = [one for one in text.split("\n") if one.strip()]
        self._said = _text(" · ".join(lines[-LAST_LINES:]))

    def ended(self, line: Line) -> None:
        """The child died or hung: the call named last did it, if any call is under way."""
        if not self._open and not self._calling and not self._calls:
            return  # after its last stage, or before it did anything
        how = line.get("how")
        how = how if isinstance(how, Mapping) else {}
        if how.get("late") is True:
            self._break("hung", "no answer in time")
            return
        code = _whole(how.get("code")) or 0
        why = _text(how.get("why")) or _crash(code)
        words = self._said or _text(how.get("last"))
        self._break("crashed", f"{why}: {words}" if words else why, max(0, -code))

    def _begin(self, name: str, device: int | None) -> None:
        self._name, self._device, self._library, self._calling = name, device, "", ""
        self._calls = []
        self._open = True

    def _add(self, call: Call) -> None:
        if len(self._calls) < MAX_CALLS:
            self._calls.append(call)

    def _failure(self) -> str:
        call = next((call for call in self._calls if not call.ok), None)
        if call is None:
            return "it did not say why"
        code = "" if call.code is None else str(call.code)
        answer = " ".join(filter(None, (code, call.status))) or "an error"
        return _text(": ".join(filter(None, (f"{call.name} gave {answer}", call.text))))

    def _break(self, outcome: StageOutcome, how: str, signal: int = 0) -> None:
        self.broke = True
        name = self._calling
        if name:
            self._calls = self._calls[: MAX_CALLS - 1]
            self._add(Call(name, False, text=_text(how)))
        self._end(outcome, f"{name}: {how}" if name else how, signal=signal)

    def _end(self, outcome: StageOutcome, why: str, ms: float = 0.0, signal: int = 0) -> None:
        taken = ms or round(sum(call.ms for call in self._calls), 3)
        made = Stage(self._name, outcome, tuple(self._calls), taken, self._device, _text(why))
        if len(self.stages) < MAX_STAGES:
            self.stages.append(replace(made, library=self._library, signal=signal))
        self._begin(UNNAMED, None)
        self._open = False


def _crash(code: int) -> str:
    """How a process crashed, in words; a negative code is a signal's number."""
    known = SIGNALS.get(-code) or EXCEPTIONS.get(code)
    how = f"died by signal {-code}" if code else "died"
    how = f"ended the process with code {code}" if code > 0 else how
    return f"{how} ({known})" if known else how


def _text(value: object) -> str:
    """One line of at most MAX_TEXT characters, of a str; nothing else is text."""
    if not isinstance(value, str):
        return ""
    value = _CONTROL.sub(" ", value[: 2 * MAX_TEXT])
    return value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…"


def _whole(value: object) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and isinstance(value, int) and abs(value) < 1 << 63 else None


def _number(value: object) -> float:
    """A finite number that is not negative; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e300:
        return 0.0
    return float(value) if math.isfinite(value) else 0.0


def _device(value: object) -> int | None:
    index = _whole(value)
    return index if index is not None and 0 <= index < MAX_DEVICE else None
