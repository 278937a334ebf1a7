"""Amounts: sizes of memory that a text tells in words of its own, each by what it is an amount of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gpuwhy.model.symptom import Reading, Symptom

_NUMBER = re.compile(
    r"(?<![\w.])(?P<number>\d{1,3}(?:,\d{3}){2,4}|\d{1,13}(?:\.\d{1,6})?) ?(?P<unit>[kmgt]i?b?|bytes|b)?(?![\w.]\w)",
    re.IGNORECASE,
)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
NEAR = 44
"""How many characters before and after a number say what it is of."""
_KINDS = {
    "largest": r"largest|biggest|contiguous",
    "pool": r"reserved|\bpool\b|acquired|cached|\bholds?\b|\bowns?\b|\bheld\b|\bkeeps\b|region_allocated|\blimit|total_bytes",
    "used": r"(?<!max)in[- ]?use\b|(?<![a-z])used(?![a-z])|\buses\b|\bneeds?\b|\busage\b|(?<![a-z_])allocated(?![a-z])|memory_allocated|\blive\b",
    "free": r"(?<![a-z])free(?![a-z])|\bavailable\b",
    "wanted": r"to allocate|allocating|requested|cannot allocate",
    "total": r"\bdevice limit|\bcard\b|\bcapacity\b|\btotal\b|\bgpu has\b",
}
_LABEL = re.compile("|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items()), re.IGNORECASE)
_TAIL = re.compile(
    rf"\s*(?:is |are |was )?(?:{'|'.join(_KINDS.values())})\w*(?=[,;.)]|\s+(?:and|but|while|on|of|in)\b)", re.IGNORECASE
)
"""What is said of a number behind it, and not of the next one."""
_END = re.compile(r"[,;\n)]|\. ")
BYTES = 1 << 22
"""A number without a unit is one of bytes from here on."""


@lru_cache(maxsize=8)
def amounts(text: str) -> dict[str, float]:
    """The sizes that a text tells, in bytes, by kind; of several of a kind the last."""
    return dict(_amounts(text))


def _amounts(text: str) -> Iterator[tuple[str, float]]:
    found = [one for one in _NUMBER.finditer(text) if _size(one) > 0]
    ends = [0, *(one.end() for one in found)]
    starts = [*(one.start() for one in found), len(text)][1:]
    for one, end, start in zip(found, ends, starts, strict=False):
        tail = _TAIL.match(text, end) if end else None
        before = text[tail.end() if tail else end : one.start()]
        kind = _before(before[-NEAR:]) or _after(text[one.end() : start][:NEAR])
        if kind:
            yield kind, _size(one)


def _size(match: re.Match[str]) -> float:
    """The bytes of a number; 0 for one that is none of memory."""
    number, unit = float(match["number"].replace(",", "")), (match["unit"] or "").lower()
    if unit in ("b", "bytes", ""):
        return number if unit or number >= BYTES else 0.0
    return number * float(2 ** _UNITS[unit[0]])


def _before(words: str) -> str:
    last = _END.split(words.replace("()", ""))[-1]
    kinds = [one.lastgroup or "" for one in _LABEL.finditer(last)]
    return "largest" if "largest" in kinds else kinds[-1] if kinds else ""


def _after(words: str) -> str:
    found = _LABEL.search(_END.split(words.replace(" and ", ", "))[0])
    return found.lastgroup or "" if found else ""


_OWN_WORDS = re.compile(r"but unallocated|already allocated", re.IGNORECASE)
"""PyTorch's own figures, which its message's fields have."""
_PIECES = re.compile(r"free[^\n]{0,40} in \d+ (?:pieces|chunks|blocks|parts)|differently sized", re.IGNORECASE)


LEAST_POOL = 256 << 20
"""Below it a pool is not in pieces: it got what little the card had left."""


MOST_POOL = 2.0**41
"""Above it a figure is no pool, but that there is no limit."""


def pool_idle(s: Symptom, r: Reading) -> bool:
    """The text tells that the program's own pool has much more than it uses, or no piece as large as what was asked."""
    told = amounts(r.excerpt)
    wanted, pool, used = told.get("wanted", 0.0), told.get("pool", 0.0), told.get("used", -1.0)
    free, largest = told.get("free", 0.0), told.get("largest", -1.0)
    if _OWN_WORDS.search(r.excerpt):
        return False
    if 0 < pool < LEAST_POOL or pool > MOST_POOL:
        return False
    idle = pool - used if used >= 0 else 0.0
    if idle > max(1.2 * wanted, 0.3 * pool):
        return True
    return (0 <= largest < (wanted or free / 1.5) < free) or bool(_PIECES.search(r.excerpt))


def none_own(s: Symptom, r: Reading) -> bool:
    """The text tells that hardly anything of the card is free, and that this process holds nothing of it."""
    told = amounts(r.excerpt)
    empty = _NOTHING.search(r.excerpt)
    return empty is not None and 0 < told.get("free", 0.0) < 0.2 * told.get("total", 0.0)


_NONE_FREE = re.compile(r"\bfree\b[^\n]{0,30}[:=] *0(?:\.0+)? ?(?:bytes|[kmg]?i?b)\b", re.IGNORECASE)


def others_fill(s: Symptom, r: Reading) -> bool:
    """The text tells that nothing of the card is free, though what this process uses and wants would fit on it twice."""
    told = amounts(r.excerpt)
    own = told.get("used", -1.0) + told.get("wanted", 0.0)
    return "used" in told and bool(_NONE_FREE.search(r.excerpt)) and 0 < own < 0.5 * told.get("total", 0.0)


_NOTHING = re.compile(r"this process(?: has| holds| uses|:)? 0(?:\.0+)? ?[kmg]i?b", re.IGNORECASE)
_WANTS = re.compile(r"allocat\w+ (?:of )?(?P<wanted>\d{9,13}) ?bytes", re.IGNORECASE)


def asks_much(s: Symptom, r: Reading) -> bool:
    """The program itself asked for a large piece: it came as far as its own work."""
    found = _WANTS.search(r.excerpt)
    return found is not None and int(found["wanted"]) >= 1 << 30
