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

NOT_TRIED = Unknown("not tried: gpuwhy check --import", kind="not tried")
"""What only a process of the environment under diagnosis tells: none is started unless that is asked for."""
NOT_YET = Unknown("not tried: what was found has to be fixed first", kind="not tried")
"""Of imports that were asked for, where something else was found that stops GPU work."""

__all__ = [
    "NOT_OBSERVED",
    "NOT_TRIED",
    "NOT_YET",
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
