"""Conditions of remedy rows: names and what they must be."""

import re
from functools import lru_cache
from typing import Any

from gpuwhy.advise.names import Names
from gpuwhy.causes.schema import When

_NUMBER = re.compile(r"([<>]=?) *([\d.]+)")


def holds(when: When | None, names: Names) -> bool:
    """Whether a condition holds; None always does."""
    if when is None:
        return True
    if isinstance(when, str):
        return bool(names.get(when))
    if isinstance(when, list):
        return all(bool(names.get(one)) for one in when)
    return all(_one(key, value, names) for key, value in when.items())


def _one(key: str, value: Any, names: Names) -> bool:
    if key == "beside":
        return names.around.log.has(*_many(value))
    if key == "alone":
        errors = {one.id for one in names.around.log.deciding if one.role == "error"}
        return (len(errors) <= 1) is bool(value)
    if key == "line":
        return _found(str(value), names.get("line"))
    if key == "any_line":
        return _found(str(value), names.lines)
    if isinstance(value, bool):
        return bool(names.get(key)) is value
    said = names.get(key)
    return any(_is(one, said) for one in _many(value))


def _is(wanted: str, said: str) -> bool:
    if wanted == "*":
        return bool(said)
    if wanted.startswith("~"):
        return _found(wanted[1:], said)
    bound = _NUMBER.fullmatch(wanted)
    if bound is None:
        return wanted.lower() == said.lower()
    number = re.match(r"\d+(?:\.\d+)*", said)
    if number is None:
        return False
    sign, mine, its = bound[1], _parts(number[0]), _parts(bound[2])
    return {"<": mine < its, "<=": mine <= its, ">": mine > its, ">=": mine >= its}[sign]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in version.split(".") if one)


def _many(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (str(value),)


def _found(expression: str, said: str) -> bool:
    return bool(_compiled(expression).search(said))


@lru_cache(maxsize=512)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)
