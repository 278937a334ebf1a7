"""Finding: what one sign concludes from the facts, before anything is ranked or put into words."""

from enum import Enum
from typing import Literal, Union

import msgspec

from gpuwhy.facts.fact import Fact, Source, T, source_of

Value = Union[str, int, float, tuple[str, ...]]


class Weight(Enum):
    """How much a finding says about its cause."""

    PROOF = "proof"  # the facts leave no other reading
    STRONG = "strong"  # very likely; another reading exists
    WEAK = "weak"  # fits, and so do other causes
    AGAINST = "against"  # rules the cause out


class Effect(Enum):
    """What the finding does to a program that wants the GPU."""

    PREVENTS_START = "prevents start"  # Python or the program does not even start
    STOPS = "stops"  # GPU work fails
    SLOWS = "slows"  # GPU work goes on, slower or on fewer GPUs
    NOTED = "noted"  # true, and nothing that was tried fails by it


class Evidence(msgspec.Struct, frozen=True):
    """One checkable thing behind a finding: seen here, known in general, or stated by the log."""

    kind: Literal["saw", "know", "told"]
    text: str
    source: Source


def saw(text: str, where: Fact[T] | Source) -> Evidence:
    """Evidence read on this machine; the source is taken from the fact."""
    return Evidence("saw", text, where if isinstance(where, Source) else source_of(where))


def know(text: str, source: Source) -> Evidence:
    """Evidence known in general, with its table row."""
    return Evidence("know", text, source)


class Finding(msgspec.Struct, frozen=True):
    """A cause with its weight, a sentence, and the evidence."""

    cause: str  # "cudnn.missing"
    weight: Weight
    says: str  # "TensorFlow 2.21.0 opens libcudnn.so.9; it is not on this machine"
    values: dict[str, Value] = {}  # the names that remedies may ask for
    evidence: tuple[Evidence, ...] = ()
    subject: str = ""  # the framework or device it was judged for: "TensorFlow 2.21.0", "GPU 0"
    effect: Effect = Effect.STOPS
    matches_crash: bool = False  # it names what the ending names: the path, limit or variable
    with_gpu: bool = False  # nothing fails on this machine, which has no GPU; it would with one
