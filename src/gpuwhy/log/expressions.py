"""Expressions: what knowledge/reader knows of texts, compiled when it is first asked for."""

from __future__ import annotations

import re
from typing import Any

from gpuwhy.causes.load import catalogue


class Expressions:
    """The regular expressions of knowledge/reader/‹file›.toml, by their names as attributes."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __getattr__(self, name: str) -> re.Pattern[str]:
        said = entry(f"{self._file}.{name}")
        found = re.compile(said if isinstance(said, str) else "".join(said))
        setattr(self, name, found)
        return found


def names(name: str) -> tuple[str, ...]:
    """A list of knowledge/reader/‹file›.toml, by ‹file›.‹key›."""
    return tuple(entry(name))


def entry(name: str) -> Any:
    """What stands at ‹file›.‹key›."""
    file, _, key = name.partition(".")
    return catalogue().reader[file][key]


def says(name: str) -> str:
    """The expression ‹file›.says_‹key›, as it is written there."""
    file, _, key = name.partition(".")
    said = entry(f"{file}.says_{key}")
    return said if isinstance(said, str) else "".join(said)
