"""Rules: what reasoning on a text needs besides the text itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from gpuwhy.model.cause import Cause, Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.origin import Origin
from gpuwhy.model.precedent import Alike
from gpuwhy.model.symptom import Question, Reading, Symptom
from gpuwhy.reason.origins import Tracer
from gpuwhy.reason.stranger import Strange
from gpuwhy.reason.tally import Index
from gpuwhy.reason.words import Likeness


class Rules(msgspec.Struct, frozen=True):
    """What explain needs besides the text: clues, causes, remedies and questions."""

    clues: Index
    causes: Mapping[str, Cause]
    remedies: Callable[[str, Sequence[Symptom], Reading, Facts | None], tuple[Fix, ...]]
    question_for: Callable[[str, str], Question | None]
    questions: Mapping[str, Question]
    admitted: Callable[[Sequence[Symptom]], frozenset[str]]
    likeness: Callable[[], Likeness]
    origin: Tracer = lambda line, around: None
    bounded: Callable[[Sequence[Origin]], Mapping[str, tuple[str, ...]]] = lambda _: {}
    claims: Callable[[str], tuple[str, ...]] = lambda _: ()
    strange: Callable[[str], Strange] = lambda _: Strange()
    alike: Callable[[str], Sequence[Alike]] = lambda _: ()  # the precedents of a text
    cured: Callable[[str, Reading, Facts | None], tuple[Fix, ...]] = lambda *_: ()  # what cured those of a cause
