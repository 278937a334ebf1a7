"""Words: what a text without any known message is most like, by the words that it has.

A second opinion for texts of which no clue says anything. It ranks causes; it never finds one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.model.symptom import Likeness
from gpuwhy.model.threshold import LEAST
from gpuwhy.reason.tally import Score

NOTHING = "healthy"
"""The class of texts in which nothing failed."""
CERTAINTY = 0.45
"""What all causes together are given: so none is found (0.5) by words alone."""
SHARPER = 1.5
"""Multiplies the log-odds; with it the confidence is below the share of right answers everywhere (docs/explain.md)."""
"""A share below which a cause counts as not spoken for."""
FEWEST = 3
"""Known words below which a text is not judged."""
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


def words_of(text: str) -> Iterator[str]:
    """The words in lower case; of a path the last part, of a number nothing."""
    for chunk in _CUT.split(text.lower()):
        last = chunk.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        yield from (word.strip("_") for word in _WORD.findall(last))


def unspoken(scores: Sequence[Score]) -> bool:
    """Whether no clue gives any cause a share worth telling."""
    return all(score.confidence < LEAST for score in scores)


def complains(text: str) -> bool:
    """Whether a text says in any way that something failed."""
    return not COMPLAINTS.isdisjoint(words_of(text))


def likened(lexicon: Mapping[str, Likeness], text: str) -> tuple[Score, ...]:
    """The causes whose usual words a text has, best first; none where it reads like a success or says too little."""
    known = {word for one in lexicon.values() for word in one.words}.intersection(words_of(text))
    if len(known) < FEWEST:
        return ()
    odds = {name: SHARPER * _odds(one, known) for name, one in lexicon.items()}
    best = sorted(odds, key=lambda name: (-odds[name], name))
    if best[0] == NOTHING:
        return ()
    whole = sum(math.exp(value) for value in odds.values())
    return tuple(
        Score(name, odds[name], CERTAINTY * math.exp(odds[name]) / whole, (), _strongest(lexicon[name], known))
        for name in best
        if name != NOTHING
    )


def _odds(one: Likeness, known: set[str]) -> float:
    return one.usual + sum(one.words.get(word, 0.0) for word in known) / math.sqrt(len(known))


def _strongest(one: Likeness, known: set[str]) -> tuple[str, ...]:
    return tuple(sorted(known & one.words.keys(), key=lambda word: (-one.words[word], word))[:TOLD])
