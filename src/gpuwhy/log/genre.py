"""Genre: what a text is by its form: output, a person's words, a question, source, a listing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gpuwhy.log.document import is_document, is_guide, is_printed, somebody_asks, tells_an_end
from gpuwhy.log.expressions import Expression
from gpuwhy.log.log import Genre

SHARE, FEWEST = 0.6, 5
PLAINLY, DEPTHS = 0.9, 3
"""Which part of a file of settings is settings, and how deep they are nested."""
CODES = 4
"""Numbers explained one below the other: nobody prints so many ends of one program."""
_CODE = Expression("genre.code")
_DOCSTRING = Expression("genre.docstring")
_BEGINS = Expression("genre.begins")
_RAN = Expression("genre.ran")
_ASKS = Expression("genre.asks")
_PATCH = Expression("genre.patch")
_HISTORY = Expression("genre.history")
_WONDERS = Expression("genre.wonders")
_LETTER = Expression("genre.letter")
_MANUAL = Expression("genre.manual")
_CODES = Expression("genre.codes")
_USAGE = Expression("genre.usage")
_OPTION = Expression("genre.option")
_REFUSED = Expression("genre.refused")
_SETTING = Expression("genre.setting")
_REPORTED = Expression("genre.reported")
_RECORDS = Expression("genre.records")
LISTING = "Collecting environment information"
_LISTINGS = Expression("genre.listings")


def genre_of(text: str, printed: bool) -> Genre:
    """What a text is; `printed`: a program is known to have printed it."""
    if not text.strip():
        return "empty"
    if printed:
        return "output"
    if _ASKS.match(text) and len(text) < 400:
        return "question"
    if any(written(text) for written in (_is_manual, _is_object, is_document, is_guide)):
        return "source"
    if is_over(text):
        return "words"
    if _RAN.search(text):
        return _output(text)
    if _HISTORY.search(text) or _PATCH.search(text):
        return "source"
    if _LETTER.match(text.split(",", 1)[0]) and _WONDERS.search(text):
        return "question"
    lines = list(filter(str.strip, text.splitlines()[:400]))
    if _is_code(lines) or (_are_settings(lines) and not _REPORTED.search(text)):
        return "source"
    return _output(text)


def _output(text: str) -> Genre:
    return "listing" if _LISTINGS.search(text[:4096]) else "output"


def _is_object(text: str) -> bool:
    """Whether it is one value in JSON that reports nothing."""
    if not text.lstrip().startswith(("{", "[")) or _RECORDS.search(text):
        return False
    try:
        return isinstance(msgspec.json.decode(text.encode()), (dict, list))
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_manual(text: str) -> bool:
    """Whether it is a manual, or what a program says when it is asked how to use it."""
    if _REFUSED.search(text):
        return False
    if len(set(_CODES.findall(text))) >= CODES:
        return True
    usage = bool(_USAGE.match(text)) and len(_OPTION.findall(text)) > 1
    return len(_MANUAL.findall(text)) > 1 or usage


def _are_settings(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are nested settings."""
    depths = {len(line) - len(line.lstrip()) for line in lines}
    found = sum(bool(_SETTING.match(line)) for line in lines)
    return len(lines) >= FEWEST and len(depths) >= DEPTHS and found >= PLAINLY * len(lines)


def _is_code(lines: Sequence[str]) -> bool:
    """Whether it begins as a program does, and most of its lines are code."""
    if len(lines) < FEWEST or not any(_BEGINS.match(line) for line in lines[:2]):
        return False
    if tells_an_end(lines):
        return False
    bare = _DOCSTRING.sub("", "\n".join(lines)).splitlines()
    return sum(bool(_CODE.match(line)) for line in bare) >= SHARE * len(bare)


# ---------------------------------------------------------------- failures of the past

MOST = 1 << 13
"""Characters above which nobody only tells that something is over."""
HEAD = 400
_TITLE = Expression("genre.title")
_OVER = Expression("genre.over")
_STILL = Expression("genre.still")
_TO_MANY = Expression("genre.to_many")
_SENTENCES = Expression("genre.sentences")
_AGAIN = Expression("genre.again")


def is_over(text: str) -> bool:
    """Whether only a person speaks, who says that the failure is over, or informs many."""
    if len(text) > MOST or any(map(is_printed, text.splitlines())):
        return False
    if _TO_MANY.search(text[:HEAD]) and not somebody_asks(text):
        return True
    if _TITLE.match(text) and "?" not in text:
        return True
    told = [one for one in _SENTENCES.split(text) if one.strip()]
    over = [at for at, one in enumerate(told) if _OVER.search(one) and not _STILL.search(one)]
    return bool(over) and not any(map(_AGAIN.search, told[over[-1] + 1 :]))
