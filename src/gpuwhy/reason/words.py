"""Words: what a text is most like, by the words and pairs of neighbouring words that it has.

A second opinion for texts of which no clue says anything, or hardly anything. It ranks causes; it never finds one. It
was learnt (`tools/learn.py`) from texts with their causes.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.model.threshold import GUESS, LEAST
from gpuwhy.reason.stranger import marked, places, spelt
from gpuwhy.reason.tally import Score

NOTHING = "healthy"
"""The class of texts in which nothing failed."""
CERTAINTY = 0.45
"""What all causes together are given: so none is found (0.5) by words alone."""
SHARPER = 1.5
"""Multiplies the log-odds: the shares are below how often they are right without it (docs/explain.md)."""
BITS = 15
"""Words and pairs share 2**BITS places, by their checksum."""
FEWEST = 3
"""Words below which a text is not judged."""
UNHEARD = 0.05
"""What a cause has beside the shares of clues that say hardly anything (docs/explain.md)."""
CLEAR = 0.25
"""A share of the best cause below which the words say as little as the clues."""
ZERO = 128
"""The byte of a word that says nothing for or against a cause."""
TOLD = 5
COMPLAINTS = frozenset(
    """abort aborted aborting broken cannot cant corrupt crash crashed crashes crashing dead denied error errors
    exception fail failed failing fails failure fatal freezes hang hangs impossible inability incompatible invalid
    killed mismatch mismatching missing problem refused stuck traceback unable undefined unexpected unsupported wrong
    """.split()  # noqa: SIM905
)
"""Words of which a text that tells of a failure has one."""
_CUT = re.compile(r"[\s'\"`,:;()\[\]<>=|]+")
_WORD = re.compile(r"[a-z][a-z_]{1,40}")


class Likeness(msgspec.Struct, frozen=True):
    """What was learnt: for each cause how usual it is, and a byte for each place, all in one scale."""

    scale: float
    names: tuple[str, ...]
    usual: tuple[float, ...]
    columns: tuple[bytes, ...]


class _Packed(msgspec.Struct, frozen=True):
    scale: float
    names: tuple[str, ...]
    usual: tuple[float, ...]
    columns: bytes


def opened(raw: bytes) -> Likeness:
    """The weights of a file."""
    kept = msgspec.msgpack.decode(raw, type=_Packed)
    every, size = zlib.decompress(kept.columns), 1 << BITS
    columns = tuple(every[at * size : (at + 1) * size] for at in range(len(kept.names)))
    return Likeness(kept.scale, kept.names, kept.usual, columns)


def shut(likeness: Likeness) -> bytes:
    """The file of weights."""
    columns = zlib.compress(b"".join(likeness.columns), 9)
    return msgspec.msgpack.encode(_Packed(likeness.scale, likeness.names, likeness.usual, columns))


def words_of(text: str) -> Iterator[str]:
    """The words in lower case; of a path the last part, of a number nothing."""
    for chunk in _CUT.split(text.lower()):
        last = chunk.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        yield from (word.strip("_") for word in _WORD.findall(last))


def unspoken(scores: Sequence[Score]) -> bool:
    """Whether no clue gives any cause a share worth telling; one that facts only speak against keeps a little, too."""
    return all(score.confidence < LEAST or (score.odds < 0 and not score.points) for score in scores)


def complains(text: str) -> bool:
    """Whether a text says in any way that something failed."""
    return not COMPLAINTS.isdisjoint(words_of(text))


def likened(likeness: Likeness, text: str) -> tuple[Score, ...]:
    """The causes that a text is like, best first; none where it reads like a success or says too little."""
    odds = _odds(likeness, text)
    best = sorted(odds, key=lambda name: (-odds[name], name))
    if not best or best[0] == NOTHING:
        return ()
    shares = _shares(odds)
    return tuple(
        Score(name, odds[name], CERTAINTY * shares[name], (), _strongest(likeness, name, text))
        for name in best
        if shares.get(name, 0.0) >= LEAST
    )


def blended(likeness: Likeness, text: str, scores: tuple[Score, ...]) -> tuple[Score, ...]:
    """The scores of clues that say hardly anything, weighed by what the text is like; together they get no more."""
    if not scores or scores[0].confidence >= GUESS or unspoken(scores):
        return scores
    shares = _shares(_odds(likeness, text))
    if max(shares.values(), default=0.0) < CLEAR:
        return scores
    found = {score.cause: score for score in scores}
    heard = {name: (found[name].confidence if name in found else 0.0) + UNHEARD for name in {*shares, *found}}
    both = {name: value * shares.get(name, 0.0) for name, value in heard.items()}
    whole = max(sum(both.values()), 1e-9) / max(CERTAINTY / 2, sum(score.confidence for score in scores))
    best = [name for name in sorted(both, key=lambda name: (-both[name], name)) if both[name] / whole >= LEAST]
    return tuple(_again(found.get(name), name, both[name] / whole, likeness, text) for name in best)


def _again(score: Score | None, name: str, share: float, likeness: Likeness, text: str) -> Score:
    """A score with another share; one that only the words speak for names them."""
    share = min(share, CERTAINTY)
    if score is not None:
        return msgspec.structs.replace(score, confidence=share)
    return Score(name, 0.0, share, (), _strongest(likeness, name, text))


def _odds(likeness: Likeness, text: str) -> dict[str, float]:
    """How much all words of a text speak for each cause; nothing where it has too few."""
    if len(set(words_of(text))) < FEWEST:
        return {}
    found = {place & ((1 << BITS) - 1) for place in places(text)}
    root = likeness.scale / math.sqrt(len(found))
    rows = zip(likeness.names, likeness.usual, likeness.columns, strict=True)
    return {name: usual + root * (sum(map(byte.__getitem__, found)) - ZERO * len(found)) for name, usual, byte in rows}


def _shares(odds: dict[str, float]) -> dict[str, float]:
    """The shares of the causes among one another."""
    causes = {name: value for name, value in odds.items() if name != NOTHING}
    most = max(causes.values(), default=0.0)
    raised = {name: math.exp(SHARPER * (value - most)) for name, value in causes.items()}
    return {name: value / sum(raised.values()) for name, value in raised.items()}


def _strongest(likeness: Likeness, name: str, text: str) -> tuple[str, ...]:
    """The words of a text that speak most for a cause."""
    column = likeness.columns[likeness.names.index(name)]
    weight = {word: column[marked(word) & ((1 << BITS) - 1)] for word in set(spelt(text)) if len(word) > 2}
    return tuple(sorted((w for w in weight if weight[w] > ZERO), key=lambda w: (-weight[w], w))[:TOLD])
