"""Weighs what decides in a Log, and findings of the machine, into a Diagnosis.

Each clue adds its log-odds to its cause. The first error counts in full and later ones less; a
second message for the same cause counts half, a third a quarter.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.load import catalogue as own_catalogue
from gpuwhy.causes.schema import Clue
from gpuwhy.diagnose.conditions import holds, said
from gpuwhy.diagnose.diagnosis import Because, Diagnosis, Ranked
from gpuwhy.diagnose.facts import from_findings, ruled_out, without_text
from gpuwhy.diagnose.precedents import alike
from gpuwhy.diagnose.view import View
from gpuwhy.facts.finding import Finding
from gpuwhy.knowledge.codes import meaning
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message, Standing

LATER, LEAST = 0.85, 0.5
"""A later error counts this much of the one before it, and never less than the second number."""
AGAIN = 0.5
"""What a further message adds to a cause that has one already."""
ECHO = 0.3
"""What a message that only repeats that something failed counts beside an error that says what."""
ASIDE = ("title", "packages", "python", "remark")
"""Families whose messages do not make a later error a later one."""
LEAST_SHARE = 0.02
"""Below it a cause is not named at all."""
NOT_GPU = "other.not_gpu"
OWN_END = 3.0
"""What an ending that has nothing to do with the GPU stack says for NOT_GPU."""
OTHERS, NEXT = 3.0, 0.8
"""What the closest precedent says where only general words were found, and of that the next one."""
SAYS_LITTLE = ("title", "python", "ending")
"""Families of which every message may be of any program."""
RETRIED = ("memory.", "cuda.out_of_memory", "title.oom", "cudnn.", "torch.dynamo")
"""What a program tries again with less, or in another way: noted only, it is no guess either."""
MOST_NOTICED = 6
MOST_SAID = 160
DECIDING = (Standing.DECIDES,)
FEW_LINES = 12
"""A text of more lines shows how a program went on."""
GUESS = 0.45
"""The most that a cause can have which only messages speak for that decide nothing."""
LIKELY = 0.8
"""The same where others whose program ended with these very words had the cause."""
TEMPERATURE = 1.15
"""Divides the log-odds before they are compared."""
NOTHING = 1.0
"""The log-odds of what is none of the causes."""
TABLE = (
    (0.0, 0.0),
    (0.3, 0.33),
    (0.5, 0.53),
    (0.6, 0.7),
    (0.7, 0.83),
    (0.76, 0.9),
    (0.9, 0.97),
    (1.0, 0.99),
)
"""Share of the odds, share of right answers; made by tools/calibrate.py."""

Index = Mapping[str, Sequence[tuple[str, Clue]]]


class Point(NamedTuple):
    """One clue that holds: for which message, and how much it counts."""

    cause: str
    clue: Clue
    place: int  # of the message in Log.messages
    counted: float


def diagnose(
    log: Log | None, findings: Sequence[Finding] = (), catalogue: Catalogue | None = None
) -> Diagnosis:
    """The causes that fit, best first; empty where nothing is recognised."""
    if log is None:
        return without_text(findings, catalogue)
    data = catalogue or own_catalogue()
    view, clues = View(log, data), _indexed(catalogue) if catalogue else _own_clues()
    points = _points(view, clues, DECIDING)
    elsewhere = log.ending.own and bool(log.ending.message)
    counted = (log.messages[one.place] for of in points.values() for one in of if one.counted > 0)
    failed = any(one.role in ("error", "echo") for one in counted)
    silenced = not failed and not (log.ending.well or elsewhere)
    if silenced:  # nothing else explains the ending: what was silenced is given back, as a guess
        points = _points(view, clues, _silenced(log)) or points
    odds = {cause: _sum([one.counted for one in found]) for cause, found in points.items()}
    odds = {cause: value + data.causes[cause].likely for cause, value in odds.items() if value > 0}
    because = {cause: [_because(one, view) for one in found] for cause, found in points.items()}
    if not any(value > 0 for value in odds.values()) and _ends_elsewhere(log):
        odds[NOT_GPU] = OWN_END
        because[NOT_GPU] = [_of_ending(log)]
    most = GUESS if silenced or _only_warned(log, points) else 1.0
    spoken = {log.messages[one.place].family for of in points.values() for one in of}
    if not log.ending.well and spoken <= {*SAYS_LITTLE}:
        others = tuple(_of_others(log, data))
        if others and (not log.ending.own or any(ends for _, _, ends in others)):
            odds = {cause: why.weight for cause, why, _ in others}
            because = {cause: [why] for cause, why, _ in others}
            most = LIKELY if others[0][2] else GUESS
    ids = {one.id for one in log.messages if one.standing is not Standing.NOTED}
    for cause, (more, reasons) in from_findings(findings, odds, ids, data).items():
        odds[cause] = odds.get(cause, 0.0) + more
        because[cause] = [*because.get(cause, ()), *reasons]
    causes = tuple(_ranked(odds, because, most))
    return Diagnosis(
        causes=causes,
        ruled_out=ruled_out(findings, {one.cause for one in causes}),
        noticed=tuple(_noticed(view, clues))[:MOST_NOTICED],
        healthy=not causes and any(one.role == "healthy" for one in log.messages),
    )


def _only_warned(log: Log, points: Mapping[str, Sequence[Point]]) -> bool:
    """Whether a program that shows no end printed nothing but warnings."""
    places = {one.place for of in points.values() for one in of}
    said = [log.messages[place] for place in places]
    said = [one for one in said if one.role in ("error", "echo")]
    long = log.lines > FEW_LINES and log.ending.kind == "none"
    return long and bool(said) and all(one.warning for one in said)


def _silenced(log: Log) -> tuple[Standing, ...]:
    """What may be given back: a program's output is quoted by whoever pasted it without an end."""
    pasted = log.genre == "output" and log.ending.kind == "none"
    return (Standing.NOTED, Standing.QUOTED) if pasted else (Standing.NOTED,)


@cache
def _own_clues() -> Index:
    return _indexed(own_catalogue())


def _indexed(data: Catalogue) -> Index:
    """The clues of every cause by message id or family."""
    index: dict[str, list[tuple[str, Clue]]] = defaultdict(list)
    for cause in data.causes.values():
        for clue in cause.clues:
            for name in clue.on:
                index[name].append((cause.id, clue))
    for row in data.messages:
        for one in row.for_:
            clue = Clue((row.id,), one.weight, one.says, one.when, one.unless)
            index[row.id].append((one.cause, clue))
    return index


def _points(view: View, clues: Index, standings: Container[Standing]) -> dict[str, list[Point]]:
    """The clues that hold, by cause, strongest first; of one message and cause only the best."""
    best: dict[tuple[str, str], Point] = {}
    for place, message, factor in _counting(view, standings):
        for cause, clue in _about(clues, message.id):
            counted = clue.weight * factor if clue.weight > 0 else clue.weight
            if message.role == "harmless" and cause == NOT_GPU and view.errors:
                continue  # beside an error a harmless note says nothing
            known = best.get((cause, message.id))
            if known is not None and counted <= known.counted:
                continue
            if holds(clue.when, clue.unless, message, view):
                best[cause, message.id] = Point(cause, clue, place, counted)
    found: dict[str, list[Point]] = {}
    for point in sorted(best.values(), key=lambda one: -one.counted):
        found.setdefault(point.cause, []).append(point)
    return found


def _about(clues: Index, name: str) -> Iterator[tuple[str, Clue]]:
    """The clues on a message, or on a family that it belongs to."""
    yield from clues.get(name, ())
    for place, letter in enumerate(name):
        if letter in "._":
            yield from clues.get(name[: place + 1], ())


def _counting(view: View, standings: Container[Standing]) -> Iterator[tuple[int, Message, float]]:
    """How much each message counts: what does not decide only counts beside what does."""
    places: dict[str, int] = {}
    decided, troubled = bool(view.errors), bool(view.failing)
    for place, one in enumerate(view.log.messages):
        if one.role in ("error", "echo"):
            retried = one.warning and one.id.startswith(RETRIED)
            if one.standing not in standings or (retried and not one.decides):
                continue
            if one.role == "echo":
                yield place, one, ECHO if decided else 1.0
            elif one.family == "remark":
                yield place, one, 1.0
            else:
                if one.family not in ASIDE:
                    places.setdefault(one.id, len(places))
                yield place, one, max(LEAST, LATER ** places.get(one.id, len(places)))
        elif one.standing in (Standing.NOTED, Standing.QUOTED):
            continue
        elif one.role == "harmless" or (troubled and not (view.ending.own and one.role == "fact")):
            yield place, one, 1.0


def _sum(counted: Sequence[float]) -> float:
    speaks = sorted((one for one in counted if one > 0), reverse=True)
    against = sum(one for one in counted if one <= 0)
    return sum(value * AGAIN**place for place, value in enumerate(speaks)) + against


# ---------------------------------------------------------------- in words


def _because(point: Point, view: View) -> Because:
    message = view.log.messages[point.place]
    says = said(point.clue.says, message, view) or meaning(message.id) or message.text
    return Because(says, point.counted, point.place, message.line)


def _ends_elsewhere(log: Log) -> bool:
    """The program ended badly, and neither its end nor the text has to do with the GPU stack."""
    ending = log.ending
    if ending.kind == "none" or ending.well:
        return False
    return not log.mentions_gpu or (ending.kind == "exception" and ending.own and not ending.gpu)


def _of_others(log: Log, data: Catalogue) -> Iterator[tuple[str, Because, bool]]:
    """The causes of others whose program said the same, the closest first, with the line that
    tells, and whether it is what this program ended with.
    """
    heard: set[str] = set()
    ending, lines = " ".join(log.ending.message.lower().split()), log.excerpt.splitlines()
    for one in alike(log, tuple(data.causes)):
        if one.cause in heard:
            continue
        ends = one.cause != NOT_GPU and one.is_in(ending)
        ended = log.ending.message.split("\n")[0] if ends else ""
        stands = lines[one.line - 1].strip() if 0 < one.line <= len(lines) else log.last_line
        at, weight = log.ending.line if ended else one.line, OTHERS * NEXT ** len(heard)
        yield one.cause, Because((ended or stands)[:MOST_SAID], weight, line=at), ends
        heard.add(one.cause)


def _of_ending(log: Log) -> Because:
    ending, frame = log.ending, log.ending.user_frame or log.ending.frame
    where = f" at {frame.file}:{frame.line}" if frame and frame.line else ""
    what = ending.type.rsplit(".", 1)[-1] or ending.message or "the program ended"
    return Because(f"{what}{where}", OWN_END, line=ending.line)


def _noticed(view: View, clues: Index) -> Iterator[Because]:
    """What is true, and after which the program went on."""
    for place, one in enumerate(view.log.messages):
        if one.standing is not Standing.NOTED:
            continue
        for _, clue in _about(clues, one.id):
            if clue.weight > 0 and clue.says and holds(clue.when, clue.unless, one, view):
                text = said(clue.says, one, view) or one.text
                yield Because(text, 0.0, place, one.line)
                break


def _ranked(
    odds: Mapping[str, float], because: Mapping[str, Sequence[Because]], most: float
) -> Iterator[Ranked]:
    share = shares(odds)
    for cause in sorted(odds, key=lambda one: (-odds[one], one)):
        if odds[cause] > 0 and share[cause] >= LEAST_SHARE:
            yield Ranked(cause, min(most, calibrated(share[cause])), tuple(because.get(cause, ())))


# ---------------------------------------------------------------- how sure


def shares(odds: Mapping[str, float]) -> dict[str, float]:
    """The softmax over all causes and "nothing"."""
    raised = {cause: math.exp(min(60.0, value / TEMPERATURE)) for cause, value in odds.items()}
    whole = math.exp(NOTHING / TEMPERATURE) + sum(raised.values())
    return {cause: value / whole for cause, value in raised.items()}


def calibrated(share: float) -> float:
    """The confidence that a share stands for."""
    place = min(bisect_right(TABLE, (share, 2.0)), len(TABLE) - 1)
    (x0, y0), (x1, y1) = TABLE[place - 1], TABLE[place]
    return round(y0 + (y1 - y0) * (share - x0) / (x1 - x0), 3)
