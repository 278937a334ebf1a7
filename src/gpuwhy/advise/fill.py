"""Fill: {names} of a row become what the text states; a row with a name that stays empty goes."""

import re
from collections.abc import Callable
from typing import Any

_NAME = re.compile(r"\{([a-z_]+)(?:\|([^{}]*))?\}")
_HOLE = re.compile(r"<([a-z_]+)>")


class MissingNameError(Exception):
    """A name that the text does not state, and that has no default."""


def filled(value: Any, name: Callable[[str], str]) -> Any:
    """A row's value with its {names} filled in; raises MissingNameError."""

    def put(found: re.Match[str]) -> str:
        said = name(found[1])
        if not said and found[2] is None:
            raise MissingNameError(found[1])
        return said or found[2]

    return _each(value, lambda text: _NAME.sub(put, text))


def with_holes(value: Any, holes: dict[str, str]) -> Any:
    """A precedent's value with the words that the <places> of its phrases stand for."""
    if not holes:
        return value
    return _each(value, lambda text: _HOLE.sub(lambda one: holes.get(one[1], one[0]), text))


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_each(one, change) for one in value]
    if isinstance(value, dict):
        return {key: _each(one, change) for key, one in value.items()}
    return value
