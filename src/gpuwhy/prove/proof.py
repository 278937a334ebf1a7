"""What is asked for, what was changed for a rerun, and the answer of `gpuwhy prove`."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from gpuwhy.answer.answer import CauseFound, RuledOut
from gpuwhy.log.ending import Ending

SCHEMA = "gpuwhy.proof/1"
"""docs/proof.schema.json."""
FRESH = "{fresh}"
"""In the value of a variable: an empty folder that the trial makes and removes."""

Outcome = Literal["passes", "same", "other", "unclear"]
"""passes: a success as it was defined. same: it failed as before. other: it failed otherwise, or
ran without the GPU that it used before: a finding, no success. unclear: it was stopped before
anything was decided."""
Status = Literal["proven", "open", "flaky", "not_failing"]
Kind = Literal["unset", "drop", "set", "limit", "hide", "process"]
End = dict[str, Any]
"""How a run ended: kind, type, message, frame, line, exit_code."""


class Plan(msgspec.Struct, frozen=True):
    """One call: the program, what counts as a success, and how much may be spent."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    folder: str
    budget: float = 0.0  # seconds; 0: by the first run's length
    runs: int = 60
    ok: str = ""  # a run that prints this succeeded
    seconds: float = 0.0  # still running then is a success
    timeout: float = 0.0  # still running then is a failure
    quiet: float = 60.0  # so long without output and without work: it hangs
    limits: Mapping[str, tuple[int, int]] = {}  # as the user has them; ours are raised
    may_exceed: bool = False  # a hard limit may be raised
    gpu: bool = False  # there is a GPU to be opened


class Tweak(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that a rerun can do otherwise than the user did, and the causes it speaks for."""

    id: str
    kind: Kind = "set"
    text: str = ""  # "without XLA_FLAGS"
    name: str = ""  # the variable, the limit
    value: str = ""  # the entry that is dropped, the path that is hidden
    causes: tuple[str, ...] = ()  # the usual one first
    weight: float = 0.0  # how likely it is what matters, against the others
    command: str = ""  # how the user does the same for good
    sets: dict[str, str] = {}
    limit: tuple[int, int] = (0, 0)
    joins: bool = True  # may be tried together with everything else
    gpus: int = 0  # where so many GPUs are

    @property
    def removes(self) -> bool:
        """Whether it takes something away."""
        return self.kind in ("unset", "drop", "hide")


class Once(NamedTuple):
    """One run: what was applied, and what came of it."""

    tweaks: tuple[Tweak, ...]
    outcome: Outcome
    ending: Ending
    seconds: float = 0.0
    purpose: str = ""  # "as it is", "search", "confirm"
    note: str = ""

    @property
    def key(self) -> frozenset[str]:
        """The ids of what was applied."""
        return frozenset(one.id for one in self.tweaks)


class Trial(msgspec.Struct, frozen=True):
    """One experiment as it was carried out, all its repetitions together."""

    change: str
    tweaks: tuple[str, ...]  # ids; () is the program as it is
    outcome: Outcome
    n: int
    seconds: float  # of one run, on average
    ending: End | None
    outcomes: tuple[Outcome, ...]  # of each repetition
    note: str
    purpose: str


class Change(msgspec.Struct, frozen=True):
    """The smallest change that makes the program run."""

    text: str
    unset: tuple[str, ...]
    set: dict[str, str]
    drop: dict[str, tuple[str, ...]]  # entries taken out of a variable that is a list
    limits: dict[str, str]
    hide: tuple[str, ...]  # files that stand in for a module
    command: str
    packages: dict[str, str] = {}  # no release is changed any more


class Counts(msgspec.Struct, frozen=True):
    """How often it failed as it is, and ran with the change; and how sure that makes it."""

    failed: tuple[int, int] = (0, 0)
    passed: tuple[int, int] = (0, 0)
    chance: float = 1.0  # that the change does nothing, and the program is flaky


class Cause(CauseFound, frozen=True):
    """A cause as in the report; proven where runs with and without a change are the proof."""

    proven: bool = False


class Proof(msgspec.Struct, frozen=True, tag_field="schema", tag=SCHEMA):
    """The answer of `gpuwhy prove`."""

    status: Status
    headline: str
    causes: tuple[Cause, ...]
    ruled_out: tuple[RuledOut, ...]
    change: Change | None
    runs: int
    experiments: tuple[Trial, ...]
    ending: End
    counts: Counts
    rate: str  # "fails 7 of 10", for a flaky program
    notes: tuple[str, ...]
    left: tuple[str, ...]  # what was not tried, and why
    seconds: float
    interrupted: bool
