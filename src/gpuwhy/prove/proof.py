"""What was changed for a rerun, what came of it, and the answer of `gpuwhy prove`."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.answer.answer import CauseFound, RuledOut
from gpuwhy.log.ending import Ending

SCHEMA = "gpuwhy.proof/1"
"""docs/proof.schema.json."""
RERUN = "rerun"
"""The source of what reruns of the program show."""

Outcome = Literal["passes", "same", "other", "unclear"]
"""passes: a success as it was defined. same: it failed as before. other: it failed otherwise, or
ran without the GPU that it used before: a finding, no success. unclear: it was stopped before
anything was decided."""
Status = Literal["proven", "open", "flaky", "not_failing"]
Kind = Literal["unset", "drop", "set", "limit", "hide", "folder", "package", "process"]


class Tweak(msgspec.Struct, frozen=True):
    """One thing that a rerun can do otherwise than the user did, and the causes it speaks for."""

    id: str
    kind: Kind
    text: str  # "without XLA_FLAGS"
    name: str = ""  # the variable, the limit, the package
    value: str = ""  # the entry that is dropped, the path that is hidden, the release
    sets: dict[str, str] = {}  # variables; {fresh} in a value is an empty folder of ours
    limit: tuple[int, int] = (0, 0)
    causes: tuple[str, ...] = ()  # the usual one first
    weight: float = 0.0  # how likely it is what matters, against the others
    joins: bool = True  # may be tried together with everything else
    seconds: float = 0.0  # what it costs beside the run itself
    heals: bool = True  # False: a run that passes so says something, but is no remedy (on the CPU)
    command: str = ""  # how the user does the same for good
    asks: dict[str, str] = {}  # outcome → answer to one of explain's questions


class Trial(msgspec.Struct, frozen=True):
    """One experiment as it was carried out, all its repetitions together."""

    text: str
    tweaks: tuple[str, ...]  # ids; () is the program as it is
    outcome: Outcome
    n: int
    seconds: float  # of one run, on average
    ending: Ending | None = None
    outcomes: tuple[Outcome, ...] = ()  # of each repetition
    note: str = ""
    purpose: str = ""  # "as it is", "loud", "search", "confirm", "look"


class Change(msgspec.Struct, frozen=True):
    """The smallest change that makes the program run."""

    text: str
    unset: tuple[str, ...] = ()
    set: dict[str, str] = {}
    drop: dict[str, tuple[str, ...]] = {}  # entries taken out of a variable that is a list
    limits: dict[str, str] = {}
    packages: dict[str, str] = {}
    hide: tuple[str, ...] = ()  # files that stand in for a module
    folder: str = ""
    command: str = ""


class Arms(msgspec.Struct, frozen=True):
    """How often it failed as it is, and ran with the change; and how sure that makes it."""

    failed: int = 0
    of_failed: int = 0
    passed: int = 0
    of_passed: int = 0
    chance: float = 1.0  # the most that these outcomes could be due to chance


class Proof(msgspec.Struct, frozen=True):
    """The answer of `gpuwhy prove`."""

    status: Status
    headline: str
    causes: tuple[CauseFound, ...]
    ruled_out: tuple[RuledOut, ...]
    change: Change | None
    runs: int
    experiments: tuple[Trial, ...]
    ending: Ending
    arms: Arms = Arms()
    rate: str = ""  # "fails 7 of 10", for a flaky program
    notes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()  # experiments that the budget did not allow
    seconds: float = 0.0
    interrupted: bool = False

    def proven(self, cause: CauseFound) -> bool:
        """Whether runs of the program, with and without a change, are the proof of a cause."""
        seen = cause.because[0].saw if cause.because else ()
        return self.status == "proven" and any(one.source.startswith(RERUN) for one in seen)
