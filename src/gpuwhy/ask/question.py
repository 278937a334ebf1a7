"""Question: what a person asks, as a value."""

from __future__ import annotations

import msgspec

from gpuwhy.log.case import Case


class Question(msgspec.Struct, frozen=True):
    """The intent, what it is about, and what the question states."""

    intent: str  # a row of knowledge/intents.toml: "requires", "runs_on", "decode" …
    about: tuple[str, ...] = ()  # ids of messages, variables, statuses, causes
    case: Case = Case()
    text: str = ""
