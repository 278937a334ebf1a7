"""Room: the half of a cause that reads texts, as a value: messages, weights, remedies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from gpuwhy.knowledge.codes import meaning
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import Signature
from gpuwhy.model.symptom import Clue, Condition, Reading, Symptom, always
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.calls import by_call
from gpuwhy.rooms.text.meant import Meant

Row = tuple[str, float] | tuple[str, float, str] | tuple[str, float, str, Condition]
"""(signature, weight[, sentence[, condition]]); see model.symptom.Clue. A status may say what it means itself."""


def _nothing(*_: object) -> Iterator[Fix]:
    return iter(())


class Text(msgspec.Struct, frozen=True):
    """What one cause has to do with texts."""

    cause: str
    clues: tuple[Row, ...]  # which messages speak for it, and how much
    remedies: tuple[Meant, ...]  # what to do, by message and by who speaks
    signatures: tuple[Signature, ...] = ()  # messages that speak for this cause alone
    admitted_by: tuple[str, ...] = ()  # messages that do not speak for it and that it may end in: the facts decide
    ladder: Callable[[Asked], Iterator[Fix]] = _nothing  # by who speaks, where and of what, after those for the message
    first: Callable[[Asked], Iterator[Fix]] = (
        _nothing  # by figures and names that the text tells, before those for the message
    )
    made: Callable[[Asked], Iterator[Fix]] = _nothing  # remedies made for what was asked for
    rather: Callable[[Reading, bool], Iterator[Fix]] = _nothing  # which, where there are any, stand for the rows' own
    named: Callable[[Sequence[Symptom], Reading], Iterator[Fix]] = _nothing  # with what the text names, put first

    def weighed(self) -> tuple[Clue, ...]:
        """The clues: its own, and those by a status and the call that returned it."""
        return (*(_clue(self.cause, *row) for row in self.clues), *by_call(self.cause))


def _clue(cause: str, signature: str, weight: float, text: str = "", when: Condition = always) -> Clue:
    return Clue(cause, signature, weight, text or meaning(signature), when)
