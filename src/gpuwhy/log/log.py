"""Log: what was read of a text, once."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from gpuwhy.log.case import Case
from gpuwhy.log.ending import Ending
from gpuwhy.log.message import Message

Genre = Literal["output", "words", "question", "source", "listing", "binary", "empty"]
"""What a text is by its form: a program's output, a person's words, a typed question, source code,
a listing of an environment, no text at all, nothing."""


class Log(msgspec.Struct, frozen=True):
    """Lines → messages, ending and Case. No part of gpuwhy reads the text again."""

    messages: tuple[Message, ...] = ()
    ending: Ending = Ending()
    case: Case = Case()
    genre: Genre = "output"
    lines: int = 0
    notes: tuple[str, ...] = ()  # how it was read: gzip, UTF-16, sampled in the middle
    mentions_gpu: bool = False  # any word of the GPU stack stands in it
    last_line: str = ""  # the last line that says something, cleaned and cut: for "not recognised"
    complaint: tuple[int, str] = (0, "")
    """The last line that calls itself an error, and that no message reads as harmless."""
    excerpt: str = ""  # its beginning and end, cleaned: only advise/precedents looks at it

    @property
    def deciding(self) -> tuple[Message, ...]:
        """The messages that may find a cause, in order."""
        return tuple(one for one in self.messages if one.decides)

    def has(self, *ids: str) -> bool:
        """Whether a message of these ids, or families ("cudnn."), was found, however it stands."""
        return any(one.id.startswith(ids) for one in self.messages)

    def all(self, *ids: str) -> Iterator[Message]:
        """The messages of these ids or families, in order."""
        return (one for one in self.messages if one.id.startswith(ids))
