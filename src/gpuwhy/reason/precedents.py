"""Precedents: that others whose program said the same had this cause is a clue where no message of it is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.deeds import destroys
from gpuwhy.model.facts import Facts
from gpuwhy.model.precedent import Alike
from gpuwhy.model.report import Shown
from gpuwhy.model.steps import in_steps
from gpuwhy.model.symptom import Clue, Reading, Symptom
from gpuwhy.model.threshold import FOUND, SURE
from gpuwhy.reason.hedge import CLOSE
from gpuwhy.reason.rules import Rules
from gpuwhy.reason.settle import PRECEDENT
from gpuwhy.reason.tally import Odds, Point, Score

NOT_OURS = "other.not_gpu"
UNTOLD = frozenset({"python.runtime", "ending.own", "ending.usage"})
"""Messages that tell no more than that a program ended, and in which words."""
TITLE = "title."
"""The family of words that name no message: a precedent that knows the whole line knows more."""
WEIGHT = 1.5
"""Log-odds of the cause that the closest precedents had, beside messages that say something."""
FIRM = 3.0
"""The same beside messages that say hardly anything."""
VAGUE = 0.25
"""A share of the best cause below which messages, though known, say hardly anything."""
ENOUGH = 40
"""Characters of a phrase by which its line is found."""


def with_precedents(odds: Odds, alike: Callable[[str], Sequence[Alike]], reading: Reading) -> Odds:
    """The odds, and what precedents add to them where the messages themselves find no cause."""
    found, own = alike(reading.excerpt), _own_words(odds)
    named = [one for one in found if own and _knows(one, own)]
    surest = max((one.confidence for one in odds.scores() if not _hardly_speaks(one, bool(named))), default=0.0)
    if surest >= FOUND:
        return odds
    points = _points(named or found, reading, surest < VAGUE)
    return _outspoken(odds, points, bool(named)).heard(points) if points else odds


def _points(found: Sequence[Alike], reading: Reading, vague: bool) -> dict[str, Point]:
    """What precedents say, the closest of each cause; beside messages that say something those of other lines."""
    said = [one for one in reading.symptoms if not vague and not one.signature.startswith(TITLE)]
    known = [" ".join(one.text.lower().split()) for one in said]
    points: dict[str, Point] = {}
    for one in found:
        if not any(_start(one) in line for line in known):
            points.setdefault(one.row.cause, _point(one, reading, FIRM if vague else WEIGHT))
    return points


def _own_words(odds: Odds) -> str:
    """The words in which a program says of itself why it ends, where nothing else speaks for its own fault.

    What a test compares are values, no words of the stack.
    """
    score = next((one for one in odds.scores() if one.cause == NOT_OURS and _says_nothing(one, own=True)), None)
    texts = [point.symptom.text for point in score.points] if score else []
    compared = any(text.startswith("AssertionError") for text in texts)
    return "" if compared else " ".join(" ".join(texts).lower().split())


def _knows(one: Alike, words: str) -> bool:
    """Whether a phrase of a precedent stands in some words."""
    return any(" ".join(one.filled(said).split("*")[0].lower().split()) in words for said in one.row.says)


def _outspoken(odds: Odds, points: Mapping[str, Point], named: bool) -> Odds:
    """The odds, without what only says that the program ended in words of its own, where others knew these words."""
    return odds.plus({NOT_OURS: -odds.whole[NOT_OURS]}) if named and NOT_OURS not in points else odds


def _hardly_speaks(score: Score, own: bool) -> bool:
    """Whether a cause has nothing for it but that something ended, or words that anybody may use of it."""
    titles = score.confidence < FOUND and all(p.symptom.signature.startswith(TITLE) for p in score.points)
    return titles or _says_nothing(score, own)


def _says_nothing(score: Score, own: bool) -> bool:
    """Whether a cause has nothing for it but that an error names no GPU: of Python, or in the program's own words."""
    untold = UNTOLD if own else UNTOLD - {"ending.own", "ending.usage"}
    return score.cause == NOT_OURS and all(p.symptom.signature in untold for p in score.points)


def with_their_cure(rules: Rules, shown: Sequence[Shown], reading: Reading, facts: Facts | None) -> tuple[Shown, ...]:
    """The causes; where the closest precedent had another one, not far behind, its cure is the second thing to try.

    Never the first: it is the cure of another cause. One that takes something away is told under its condition.
    """
    if not shown or shown[0].confidence >= SURE or not shown[0].fixes or not shown[0].stops:
        return tuple(shown)
    closest = next(iter(rules.alike(reading.excerpt)), None)
    if closest is None or not _in_reach(closest.row.cause, shown):
        return tuple(shown)
    first, *others = shown
    cures = rules.cured(closest.row.cause, reading, facts)[:1]
    if not cures or _told_already(cures[0], first.fixes) or _made_of(first.fixes[0], reading.excerpt):
        return tuple(shown)
    cure = _as_theirs(cures[0], closest.row.cause, rules.causes[closest.row.cause].title)
    at = len(next(in_steps(first.fixes)))  # behind the first one with its steps
    return (structs.replace(first, fixes=(*first.fixes[:at], cure, *first.fixes[at:])), *others)


def _in_reach(cause: str, shown: Sequence[Shown]) -> bool:
    """Whether it is another cause than the first one, and about as likely: else its cure leads away."""
    if NOT_OURS in (cause, shown[0].id):
        return False
    return any(one.id == cause and one.confidence >= CLOSE * shown[0].confidence for one in shown[1:])


def _as_theirs(cure: Fix, cause: str, title: str) -> Fix:
    """The cure of another cause, said as such."""
    words = f"Only if {title}: " if destroys(cure.text, cure.command) else f"Or, as for others who saw this ({title}): "
    return structs.replace(cure, text=on.after(words, cure.text), of=cause)


_PATH = re.compile(r"(?:[A-Za-z]:\\|/)[\w.\\/ -]{10,}")


def _made_of(fix: Fix, text: str) -> bool:
    """Whether a fix is made of what this very text tells: it names a folder or a file of it."""
    return any(found[0].strip() in text for found in _PATH.finditer(fix.command))


def _told_already(cure: Fix, fixes: Sequence[Fix]) -> bool:
    """Whether one of the first two says the same, or does."""
    same = (str(cure.text) in fix.text or (cure.command and cure.command == fix.command) for fix in fixes[:2])
    return any(same)


def _start(one: Alike) -> str:
    """The words by which the first phrase of a precedent is found."""
    plain = one.filled(one.row.says[0]).split("*")[0]
    return " ".join(plain.lower().split())[:ENOUGH]


def _point(one: Alike, reading: Reading, weight: float) -> Point:
    source = f" ({one.row.source})" if one.row.source else ""
    clue = Clue(one.row.cause, PRECEDENT, weight, f"others whose program said this had it{source}")
    return Point(clue, _said(one, reading), weight)


def _said(one: Alike, reading: Reading) -> Symptom:
    """The line that the precedent knows, as a message."""
    lines = reading.excerpt.splitlines()
    line = next((n for n, text in enumerate(lines, 1) if _start(one) in text.lower()), len(lines))
    return Symptom(PRECEDENT, line, lines[line - 1][:400] if lines else "")
