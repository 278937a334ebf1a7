"""Bridge: facts moved to gpuwhy.facts.fact; goes with model/."""

from gpuwhy.facts.fact import (
    NOT_OBSERVED,
    Absent,
    Fact,
    Known,
    Source,
    SourceKind,
    Undetermined,
    Unknown,
    Why,
    absent,
    known,
    or_unknown,
    source_of,
    value_or,
)

__all__ = [
    "NOT_OBSERVED",
    "Absent",
    "Fact",
    "Known",
    "Source",
    "SourceKind",
    "Undetermined",
    "Unknown",
    "Why",
    "absent",
    "known",
    "or_unknown",
    "source_of",
    "value_or",
]
