"""Expressions: what knowledge/reader knows of texts, compiled when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from gpuwhy.causes.load import catalogue


class Expression:
    """A regular expression of knowledge/reader/‹file›.toml, by its name there ("tone.warning")."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        return re.compile(self.source)

    @property
    def source(self) -> str:
        """Its text; parts in the data file are joined."""
        said = _entry(self.name)
        return said if isinstance(said, str) else "".join(said)

    def search(self, text: str) -> re.Match[str] | None:
        """As of re.Pattern."""
        return self.compiled.search(text)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """As of re.Pattern."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As of re.Pattern."""
        return self.compiled.fullmatch(text)

    def findall(self, text: str) -> list[Any]:
        """As of re.Pattern."""
        return self.compiled.findall(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As of re.Pattern."""
        return self.compiled.finditer(text)

    def sub(self, put: str | Callable[[re.Match[str]], str], text: str) -> str:
        """As of re.Pattern."""
        return self.compiled.sub(put, text)

    def subn(self, put: str, text: str) -> tuple[str, int]:
        """As of re.Pattern."""
        return self.compiled.subn(put, text)

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        """As of re.Pattern."""
        return [part or "" for part in self.compiled.split(text, maxsplit)]


class Expressions:
    """Those of one file, by their names there as attributes."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Expression:
        found = Expression(f"{self._file}.{name}")
        setattr(self, name, found)
        return found


def names(name: str) -> tuple[str, ...]:
    """A list of knowledge/reader/‹file›.toml, by the same kind of name."""
    return tuple(_entry(name))


def table(name: str) -> dict[str, str]:
    """A table of it with one word to each."""
    return {key: str(value) for key, value in _entry(name).items()}


def lists(name: str) -> dict[str, tuple[str, ...]]:
    """A table of it with several words to each."""
    return {key: tuple(value) for key, value in _entry(name).items()}


def rows(name: str) -> list[dict[str, Any]]:
    """Rows of it."""
    return list(_entry(name))


def _entry(name: str) -> Any:
    file, _, key = name.partition(".")
    return catalogue().reader[file][key]
