"""Versions: cuDNN's own numbers, and whether a version meets what is asked for."""

from __future__ import annotations

import re

from gpuwhy.facts.version import at_least, numbers

_CLAUSE = re.compile(r"(===?|!=|<=|>=|~=|<|>)\s*(\d[\d.]*)(\.\*)?")


def cudnn_dotted(number: str) -> str:
    """cuDNN's own way of writing a version, 8904 or 90100, as 8.9.4 (8904); anything else as it is."""
    if not re.fullmatch(r"\d{4,6}", number):
        return number
    major, rest = divmod(int(number), 10000 if int(number) > 89999 else 1000)
    return f"{major}.{rest // 100}.{rest % 100} ({number})"


def meets(version: str, wanted: str) -> bool:
    """Whether a version is one that '<=0.12.0.1,>=0.11.2' asks for; a clause that is not numbers asks for nothing."""
    return all(_meets(version, clause.strip()) for clause in wanted.split(","))


def _meets(version: str, clause: str) -> bool:
    found = _CLAUSE.fullmatch(clause)
    if not found:
        return True
    sign, floor = found[1], found[2].rstrip(".")
    if found[3] or sign == "~=":
        places = len(numbers(floor)) - (sign == "~=")
        same = numbers(version)[:places] == numbers(floor)[:places]
        return not same if sign == "!=" else same and (sign != "~=" or at_least(version, floor))
    above, below = at_least(version, floor), at_least(floor, version)
    return {
        ">=": above,
        "<=": below,
        ">": not below,
        "<": not above,
        "!=": not (above and below),
    }.get(sign, above and below)
