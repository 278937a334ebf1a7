"""Questions: the one observation that separates the causes which fit, with what to do then."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from gpuwhy.advise.fill import MissingNameError, filled
from gpuwhy.advise.names import Around, Names
from gpuwhy.advise.place import Place
from gpuwhy.advise.places import place_of
from gpuwhy.advise.remedies import remedies
from gpuwhy.advise.remedy import Action, Look, Remedy
from gpuwhy.advise.say import can_be_typed
from gpuwhy.advise.when import holds
from gpuwhy.causes.load import catalogue
from gpuwhy.causes.schema import Outcome, QuestionRow
from gpuwhy.diagnose.diagnosis import Diagnosis, Ranked
from gpuwhy.log.log import Log

if TYPE_CHECKING:
    from gpuwhy.facts.facts import Facts

_LOOKED_AT = 6
"""The causes, from the best on, that a question may be about."""


class Seen(msgspec.Struct, frozen=True):
    """What one may see, the cause that it points to, and what to do then."""

    sees: str
    means: str
    says: str = ""  # in the row's own words
    remedy: Remedy | None = None
    is_said: bool = False  # `says` has all that is to be done, in words


class Observation(msgspec.Struct, frozen=True):
    """What to run, and what each outcome means."""

    look: Look
    outcomes: tuple[Seen, ...]
    when_to_run: str = ""
    source: str = ""


def question_for(diagnosis: Diagnosis, log: Log, facts: Facts | None = None) -> Observation | None:
    """The observation that separates the most of the causes which fit; None where no row does."""
    if not diagnosis.causes:
        return None
    place = place_of(log.case, facts)
    known = {one.cause: at for at, one in enumerate(diagnosis.causes[:_LOOKED_AT])}
    first = diagnosis.causes[0]
    message = next((log.messages[one.message] for one in first.because if one.message >= 0), None)
    names = Names(Around(first, log, facts, place), message)
    best: tuple[float, Observation] | None = None
    for row in _rows():
        # the nearer to the top its causes stand, the more a question tells apart
        places = [known[one] for one in row.between if one in known]
        value = sum(1 / (1 + at) for at in places) if len(places) > 1 and 0 in places else 0.0
        if value <= 0 or not holds(row.when, names) or (best and value <= best[0]):
            continue
        made = _made(row, names, log, facts, place)
        if made is not None:
            best = (value, made)
    return best[1] if best else None


@lru_cache(maxsize=1)
def _rows() -> tuple[QuestionRow, ...]:
    return tuple(row for cause in catalogue().causes.values() for row in cause.question)


def _made(
    row: QuestionRow,
    names: Names,
    log: Log,
    facts: Facts | None,
    place: Place,
) -> Observation | None:
    try:
        run = filled(row.run, names.get)
        command = run if isinstance(run, str) else run["any"] if set(run) == {"any"} else run
        look = Look(command)
        if not can_be_typed(Remedy((look,)), place):
            return None
        seen = tuple(_seen(one, names, log, facts, place) for one in row.answers)
    except MissingNameError:
        return None
    return Observation(look, seen, row.when_to_run, row.source)


def _seen(outcome: Outcome, names: Names, log: Log, facts: Facts | None, place: Place) -> Seen:
    sees, says = filled(outcome.sees, names.get), filled(outcome.says, names.get)
    step = _step(outcome, names, place)
    if step is not None:
        return Seen(sees, outcome.means, says, Remedy((step,)), is_said=bool(says))
    found = remedies(Ranked(outcome.means, 0.0), log, facts, place)
    changing = (one for one in found if one.changes)
    return Seen(sees, outcome.means, says, next(changing, None))


def _step(outcome: Outcome, names: Names, place: Place) -> Action | None:
    """What the row itself says to do; None where the text does not state a name that it needs."""
    if outcome.do is None:
        return None
    try:
        step = msgspec.convert(filled(outcome.do, names.get), Action)
    except MissingNameError:
        return None
    return step if can_be_typed(Remedy((step,)), place) else None
