"""Expressions: what knowledge/reader knows of texts, compiled when it is first asked for."""

import re
from typing import Any

from gpuwhy.causes.load import catalogue


class Expressions:
    """The regular expressions of knowledge/reader/‹file›.toml, by their names as attributes."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __getattr__(self, name: str) -> re.Pattern[str]:
        found = re.compile(says(f"{self._file}.{name}"))
        setattr(self, name, found)
        return found


def entry(name: str) -> Any:
    """What stands at ‹file›.‹key› of knowledge/reader."""
    file, _, key = name.partition(".")
    return catalogue().reader[file][key]


def names(name: str) -> tuple[str, ...]:
    """A list that stands there."""
    return tuple(entry(name))


def says(name: str) -> str:
    """An expression that stands there, as it is written."""
    said = entry(name)
    return said if isinstance(said, str) else "".join(said)
