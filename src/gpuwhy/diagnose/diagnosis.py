"""Diagnosis: the causes that fit, best first, each with what speaks for it."""

import msgspec

from gpuwhy.facts.finding import Effect, Evidence, Value


class Because(msgspec.Struct, frozen=True):
    """One reason for a cause: a clue with its message, or a finding with its evidence."""

    text: str  # the sentence, its fields filled in
    weight: float  # natural log-odds; negative: speaks against
    message: int = -1  # the place in Log.messages; -1: it comes from facts
    line: int = 0
    evidence: tuple[Evidence, ...] = ()
    values: dict[str, Value] = {}  # of a finding: what its sentence was filled with


class Ranked(msgspec.Struct, frozen=True):
    """A cause with its calibrated confidence."""

    cause: str
    confidence: float
    because: tuple[Because, ...] = ()
    subject: str = ""  # the framework or GPU that it concerns
    effect: Effect = Effect.STOPS
    with_gpu: bool = False  # it would show only on a machine that has a GPU


class RuledOut(msgspec.Struct, frozen=True):
    """A cause that an observation excludes."""

    cause: str
    because: str


class Open(msgspec.Struct, frozen=True):
    """A cause that could not be decided: what is missing, and what would show it."""

    cause: str
    missing: str
    how: str = ""


class Diagnosis(msgspec.Struct, frozen=True):
    """What the facts and the text say together."""

    causes: tuple[Ranked, ...] = ()  # best first
    ruled_out: tuple[RuledOut, ...] = ()
    undetermined: tuple[Open, ...] = ()
    noticed: tuple[Because, ...] = ()  # true, and without a link to how the program ended
    healthy: bool = False  # the text shows success, or the facts show nothing wrong

    @property
    def first(self) -> Ranked | None:
        """The best one."""
        return self.causes[0] if self.causes else None
