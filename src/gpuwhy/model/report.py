"""Verdict and Report: what was decided, in the one object that every renderer reads."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gpuwhy.model.cause import Cause, Finding, Fix
from gpuwhy.model.ending import Ending
from gpuwhy.model.fact import NOT_TRIED, NOT_YET
from gpuwhy.model.guide import Guide
from gpuwhy.model.origin import Origin
from gpuwhy.model.rich import Rich
from gpuwhy.model.symptom import Question, Symptom
from gpuwhy.model.threshold import CERTAIN, FOUND, LIKELY

State = Literal["shown", "possible", "ruled_out", "undetermined", "crashed"]
Status = Literal["healthy", "broken", "degraded", "unknown"]
Mark = Literal["ok", "bad", "warn", "unknown", "none"]

SCHEMA = "gpuwhy.report/1"
NOT_IMPORTED = "not tried: importing the packages (gpuwhy check --import)"
NOT_IMPORTED_YET = "not tried: importing the packages; what was found has to be fixed first"


def certainty(confidence: float) -> str:
    """A confidence in a word."""
    return "certain" if confidence >= CERTAIN else "likely" if confidence >= LIKELY else "possible"


class Verdict(msgspec.Struct, frozen=True):
    """One cause judged for one subject (the machine, a framework, a device)."""

    cause: Cause
    state: State
    confidence: float
    subject: str = ""  # "TensorFlow 2.21.0", "GPU 0"; "" for the machine
    findings: tuple[Finding, ...] = ()  # those that speak for it; for ruled_out, those against
    fixes: tuple[Fix, ...] = ()
    missing: str = ""  # for undetermined: what could not be seen
    how: str = ""  # and what would tell
    error: str = ""  # for crashed: the exception
    about: str = ""  # the framework it was judged for: "torch"


class Shown(msgspec.Struct, frozen=True):
    """A cause in the report."""

    id: str
    title: str
    confidence: float
    subject: str
    because: tuple[Finding, ...]
    explains: tuple[str, ...]  # symptoms, and causes it hides
    fixes: tuple[Fix, ...]
    stops: bool
    with_gpu: bool = False  # nothing is wrong here, without a GPU: it would show on a machine like this that has one

    @property
    def said(self) -> str:
        """The first finding in words; the title where there is none."""
        return self.because[0].text if self.because else self.title

    @property
    def noted(self) -> bool:
        """Whether it is true, and nothing that was tried fails by it."""
        return bool(self.because) and all(one.noted for one in self.because)

    @property
    def found(self) -> bool:
        """Whether it is the answer: more likely than all else together."""
        return self.confidence >= FOUND


class RuledOut(msgspec.Struct, frozen=True):
    """A cause that an observation excludes."""

    id: str
    because: str


class Open(msgspec.Struct, frozen=True):
    """A cause that could not be decided, and what would decide it."""

    id: str
    missing: str
    how: str


class Layer(msgspec.Struct, frozen=True):
    """One row of the picture from GPU to program."""

    name: str
    text: str
    mark: Mark
    note: str = ""
    cause: str = ""  # the cause that marks it; the note names it


class Noticed(msgspec.Struct, frozen=True):
    """Something that is true and has no link to how the program ended."""

    id: str  # the cause that it would be; "" where it is none
    text: str
    shown: Shown | None = None  # that cause, for who finds the link after all


class Report(msgspec.Struct, Rich, frozen=True):
    """The answer. Its JSON form (`render/json.py`) is the contract `gpuwhy.report/1`."""

    status: Status
    headline: str
    causes: tuple[Shown, ...]
    ruled_out: tuple[RuledOut, ...]
    undetermined: tuple[Open, ...]
    crashed: tuple[Open, ...]
    layers: tuple[Layer, ...]
    unseen: tuple[str, ...]  # facts that could not be observed, as sentences
    facts: dict[str, Any]  # Facts in builtins
    gpuwhy: str  # our version
    took: float  # seconds
    symptoms: tuple[Symptom, ...] = ()  # explain: what was found in the text, in order
    asides: tuple[Shown, ...] = ()  # merely possible, stopping nothing: told where there is nothing else
    stairs: tuple[Layer, ...] = ()  # --probe: a row per stage, with its time and what broke
    as_if: str = ""  # the machine that was described and judged instead of this one: "A100, driver 550"
    noticed: tuple[
        Noticed, ...
    ] = ()  # what is true, and not why the program ended; check: nothing that was tried fails by it
    ending: Ending = Ending()  # explain, run: how the program ended
    question: Question | None = None  # explain: the one test that separates the likeliest causes
    knows_until: str = ""  # the newest published file behind what gpuwhy knows of releases: 2026-11-04
    origin: Origin | None = None  # explain: the program that printed a complaint which no signature knows
    guide: Guide | None = None  # explain: plain words, answered as a question

    @property
    def not_tried(self) -> str:
        """What was left out unless it is asked for, in one line; "" where nothing was."""
        reason = self.facts.get("target", {}).get("imports", {}).get("reason", "")
        return {NOT_TRIED.reason: NOT_IMPORTED, NOT_YET.reason: NOT_IMPORTED_YET}.get(reason, "")
