"""Origins: where no message that is known decides, what the program that printed the last complaint means by it.

A label is one reader's word on a message, and a module's habit is less: neither makes a cause certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gpuwhy.model.ending import USER, Ending
from gpuwhy.model.origin import Origin
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.threshold import LEAST
from gpuwhy.reason.tally import Score
from gpuwhy.reason.words import complains

LABELLED = 0.75
"""What the causes of a label are given together (docs/accuracy.md)."""
VAGUE = ("python", "title")
"""Speakers whose messages tell the type of an exception and little else."""
ENDED = ("ending.own", "ending.inside")
"""What says no more than where an exception was raised."""
Tracer = Callable[[str, frozenset[str]], Origin | None]
"""From a line, and the words of the text it stands in, to its origin."""
_BY_HAND = re.compile(r"(?:raise|assert)\b|self\.assert")
LINES = 60
MOST = 8
_NAME = re.compile(r"[a-z][a-z0-9]{1,40}")
_FRAME = re.compile(r'\s*(?:File "|at |frame #|\^|~|During handling|The above exception|Traceback )|\s{4,}\w.*[(=]')


def vague(scores: Sequence[Score]) -> bool:
    """Whether nothing speaks for a cause but the type of an exception."""
    return all(
        score.confidence < LEAST or all(_vague(p.symptom) for p in score.points if p.counted > 0) for score in scores
    )


def _vague(symptom: Symptom) -> bool:
    return symptom.speaker in VAGUE or symptom.signature in ENDED


def foremost(found: Sequence[Origin]) -> Origin | None:
    """The origin of the last complaint that has a label, else of the last."""
    return next((one for one in found if one.label), found[0] if found else None)


def traced(origin: Tracer, reading: Reading) -> Origin | None:
    """The origin that decides."""
    return foremost(traces(origin, reading))


def traces(origin: Tracer, reading: Reading) -> list[Origin]:
    """The origins of the complaints, the last first; a warning counts only as the last word."""
    around = frozenset(_NAME.findall(reading.excerpt.lower()))
    asked = [origin(line, around) for line in _complaints(_last_words(reading))]
    return [one for place, one in enumerate(asked) if one and (not place or not _warns(one)) and _there(one, reading)]


def releases(bounds: Mapping[str, tuple[str, ...]], reading: Reading) -> Iterator[str]:
    """Which releases of a program print what the text holds, where the text does not tell its release."""
    for name, some in bounds.items():
        if name not in reading.told.versions:
            span = f"{some[0]} to {some[-1]}" if len(some) > 1 else some[0]
            yield f"the text does not tell the release of {name}; of those read, {span} print its lines"


def _last_words(reading: Reading) -> str:
    """The message that ended the program, where it raised one: what was printed before has no link to it."""
    ending = reading.ending
    if ending.own and _by_user(ending):
        return ""
    alone = ending.own or (ending.kind == "exception" and ending.busy > 0)
    return f"{ending.type}: {ending.message}" if alone else reading.excerpt


def _by_user(ending: Ending) -> bool:
    """Whether the user's own code said it by a statement: no framework's words."""
    if ending.frame is None:
        return ending.name == "AssertionError"
    return ending.owner == USER and _BY_HAND.match(ending.frame.code) is not None


def _there(origin: Origin, reading: Reading) -> bool:
    """Whether the stack leads through a package that says it, as it must for Python; compiled code has no frames.

    An ending of its own that shows no frames needs at least that package's name in the text.
    """
    owners = {frame.owner for one in (reading.ending, *reading.ending.chain) for frame in one.stack}
    folders = {place.module.partition("/")[0] for place in origin.places if place.module.endswith(".py")}
    if not owners and reading.ending.own:
        return any(
            place.module.partition("/")[0].partition("_")[0] in reading.excerpt.lower() for place in origin.places
        )
    return not owners or len(folders) < len(origin.places) or not folders.isdisjoint(owners)


def _warns(origin: Origin) -> bool:
    return origin.kind.lower().endswith("warning")


def _complaints(text: str) -> Iterator[str]:
    """The lines at the end of a text that complain, last first; no frames of a stack."""
    given = 0
    for line in reversed(text.splitlines()[-LINES:]):
        if not _FRAME.match(line) and complains(_split(line)) and given < MOST:
            given += 1
            yield line


def _split(line: str) -> str:
    """A line with the name of an exception taken apart: ValueError has the word error in it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", line)


def by_origin(origin: Origin | None) -> tuple[Score, ...]:
    """The causes that a message's label names, or that its module's labels agree on, best first."""
    if origin is None or not origin.label:
        return ()
    whole = LABELLED
    ranked = sorted(origin.prior.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Score(cause, 1.0, whole * share, (), origin=origin) for cause, share in ranked)
