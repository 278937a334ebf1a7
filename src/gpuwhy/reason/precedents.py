"""Precedents: that others whose program said the same had this cause is a clue where no message of it is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

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
WEIGHT = 1.5
"""Log-odds of the cause that the closest precedents had, beside messages that say something."""
FIRM = 3.0
"""The same beside messages that say hardly anything."""
NEXT = 0.8
"""The part of it for the cause of one that is less close."""
VAGUE = 0.25
"""A share of the best cause below which messages, though known, say hardly anything."""
TELLING = 14
"""Characters of a phrase from which on it tells more than the name of an error does."""
ENOUGH = 40
"""Characters of a phrase by which its line is found."""


def with_precedents(odds: Odds, alike: Callable[[str], Sequence[Alike]], reading: Reading) -> Odds:
    """The odds, and what precedents add to them where the messages themselves find no cause."""
    found = alike(reading.excerpt)
    ended = any(_ends_so(one, reading) for one in found)
    surest = max((score.confidence for score in odds.scores() if not _hardly_speaks(score, ended)), default=0.0)
    if surest >= FOUND:
        return odds
    vague = surest < VAGUE
    points = _points(found, reading, vague)
    return (_of_messages(odds, ended, points) if vague else odds).heard(points) if points else odds


def _points(found: Sequence[Alike], reading: Reading, vague: bool) -> dict[str, Point]:
    """What precedents say, the closest of each cause; beside messages that say something those of other lines."""
    said = [one for one in reading.symptoms if not vague and not _names_none(one) and not _is_title(one)]
    known = [" ".join(one.text.lower().split()) for one in said]
    points: dict[str, Point] = {}
    for one in found:
        if not any(_start(one) in line for line in known):
            weight = (FIRM if vague else WEIGHT) * (NEXT if points else 1.0)
            points.setdefault(one.row.cause, _point(one, reading, weight))
    return points


_NO_MORE = ("title.trouble", "container.generic", "container.cli")
"""Messages that name no cause, or tell no more than that a container did not start."""
_OWN = ("python.runtime", "ending.own", "ending.usage", "loader.cannot_open")
"""Those by which a program's own error is held for no matter of the GPU."""


def _names_none(symptom: Symptom) -> bool:
    return symptom.signature.startswith(_NO_MORE)


def _is_title(symptom: Symptom) -> bool:
    """Whether it is words that name no message: a precedent that knows the whole line knows more."""
    return symptom.signature.startswith("title.")


def _hardly_speaks(score: Score, ended: bool) -> bool:
    """Whether a cause has nothing for it but what names none, or words that anybody may use of it."""
    titles = score.confidence < FOUND and all(_is_title(point.symptom) for point in score.points)
    return titles or _says_nothing(score.points, ended)


def _says_nothing(points: Sequence[Point], ended: bool) -> bool:
    """Whether a cause has nothing for it but messages that name none, or as no matter of the GPU an error of its own.

    Such an error counts, unless it is Python's plainest or a precedent knows the words it ended with.
    """
    if not points:
        return False
    own = _OWN if ended else _OWN[:1]
    mine = all(one.clue.cause == NOT_OURS and one.symptom.signature.startswith(own) for one in points)
    return mine or all(_names_none(one.symptom) for one in points)


def _ends_so(one: Alike, reading: Reading) -> bool:
    """Whether a precedent of a cause of ours knows the words by which the program ended, or one of the messages.

    What a test compares are values, no words of the stack.
    """
    if reading.ending.type == "AssertionError":
        return False
    said = [str(reading.ending), *(symptom.text for symptom in reading.symptoms if symptom.signature.startswith(_OWN))]
    lines = [" ".join(line.lower().split()) for line in said]
    known = [plain for words in one.row.says if len(plain := _plain(words)) >= TELLING]
    return one.row.cause != NOT_OURS and any(words in line for words in known for line in lines)


def _plain(words: str) -> str:
    """The longest part of a phrase that is words only."""
    return max(re.split(r"<[a-z_]+>|\*", " ".join(words.lower().split())), key=len).strip()


def _of_messages(odds: Odds, ended: bool, named: Collection[str]) -> Odds:
    """The odds without what names no cause: it speaks a little for many, and together would outweigh a precedent."""
    kept = {cause: said for cause, said in odds.points.items() if cause in named or not _says_nothing(said, ended)}
    return Odds(kept, {cause: value for cause, value in odds.whole.items() if cause in kept})


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
    harmless = one.row.cause == NOT_OURS and one.row.do.startswith(_HARMLESS)
    return Symptom(PRECEDENT, line, lines[line - 1][:400] if lines else "", role="harmless" if harmless else "error")


_HARMLESS = ("Ignore", "Go on", "Nothing", "No action", "Leave the line", "Leave it")
"""How a cure begins that says that there is nothing to cure."""
