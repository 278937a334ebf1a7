"""Names of variables that are almost known ones: a slip of the finger, never a user's own name."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OWN = re.compile(r"\d+$|_(?:ORIG|OLD|BACKUP|SAVED|PREV|DEFAULT|NEW|TMP|TEST)$")
LEAST = 8
"""Shorter names are near to too many others."""


def misspelt(name: str, known: Iterable[str]) -> str:
    """The known name that this one is a slip of; "" where it is of none or of several.

    One letter too many, too few, another, or two swapped; two slips in a name of 16 letters or
    more. Names that only add a number or a word like ORIG are somebody's own, and so is a name that
    differs in a whole short word.
    """
    if len(name) < LEAST or _OWN.search(name):
        return ""
    most = 2 if len(name) >= 16 else 1
    alike = [one for one in known if abs(len(one) - len(name)) <= most]
    near = {one: slips for one in alike if (slips := distance(name, one, most)) <= most}
    best = [one for one, slips in near.items() if slips == min(near.values())]
    return best[0] if len(best) == 1 and _same_words(name, best[0]) else ""


def _same_words(left: str, right: str) -> bool:
    """Whether no short word differs: TF_GPU_X and TF_CPU_X are two names."""
    ours, theirs = left.split("_"), right.split("_")
    if ours[0] != theirs[0]:
        return False
    if len(ours) != len(theirs):
        return left.replace("_", "") == right.replace("_", "") or abs(len(ours) - len(theirs)) == 1
    differ = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return all(min(len(a), len(b)) > 3 for a, b in differ)


def distance(left: str, right: str, most: int) -> int:
    """Letters added, left out, changed or swapped between two words; at most `most` + 1."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if older and i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
