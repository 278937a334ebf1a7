"""Genre: what a text is by its form: output, a person's words, a question, source, a listing."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.log.document import is_document, is_guide, is_printed, somebody_asks
from gpuwhy.log.expressions import Expressions
from gpuwhy.log.log import Genre

_E = Expressions("genre")

FEWEST = 5
PLAINLY, DEPTHS = 0.9, 3
"""Which part of a file of settings is settings, and how deep they are nested."""
CODES = 4
"""Numbers explained one below the other: nobody prints so many ends of one program."""


def genre_of(text: str, printed: bool) -> Genre:
    """What a text is; `printed`: a program is known to have printed it."""
    if not text.strip():
        return "empty"
    if printed:
        return "output"
    if _E.asks.match(text) and len(text) < 400:
        return "question"
    if any(written(text) for written in (_is_manual, is_document, is_guide)):
        return "source"
    if is_over(text):
        return "words"
    if _E.ran.search(text):
        return _output(text)
    if _E.history.search(text) or _E.patch.search(text):
        return "source"
    if _E.letter.match(text.split(",", 1)[0]) and _E.wonders.search(text):
        return "question"
    lines = list(filter(str.strip, text.splitlines()[:400]))
    if _are_settings(lines) and not _E.reported.search(text):
        return "source"
    return _output(text)


def _output(text: str) -> Genre:
    return "listing" if _E.listings.search(text[:4096]) else "output"


def _is_manual(text: str) -> bool:
    """Whether it is a manual, or what a program says when it is asked how to use it."""
    if _E.refused.search(text):
        return False
    if len(set(_E.codes.findall(text))) >= CODES:
        return True
    usage = bool(_E.usage.match(text)) and len(_E.option.findall(text)) > 1
    return len(_E.manual.findall(text)) > 1 or usage


def _are_settings(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are nested settings."""
    depths = {len(line) - len(line.lstrip()) for line in lines}
    found = sum(bool(_E.setting.match(line)) for line in lines)
    return len(lines) >= FEWEST and len(depths) >= DEPTHS and found >= PLAINLY * len(lines)


# ---------------------------------------------------------------- failures of the past

MOST = 1 << 13
"""Characters above which nobody only tells that something is over."""
HEAD = 400


def is_over(text: str) -> bool:
    """Whether only a person speaks, who says that the failure is over, or informs many."""
    if len(text) > MOST or any(map(is_printed, text.splitlines())):
        return False
    if _E.to_many.search(text[:HEAD]) and not somebody_asks(text):
        return True
    if _E.title.match(text) and "?" not in text:
        return True
    told = [one for one in _E.sentences.split(text) if one.strip()]
    over = [at for at, one in enumerate(told) if _E.over.search(one) and not _E.still.search(one)]
    return bool(over) and not any(map(_E.again.search, told[over[-1] + 1 :]))
