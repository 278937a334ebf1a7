"""Helpers: lint texts as if they were files."""

from __future__ import annotations

from gpuwhy.lint.linter import lint
from gpuwhy.model.lint import Lint
from gpuwhy.model.plan import Machine


def check(files: dict[str, str], machine: Machine | None = None, beside: dict[str, str] | None = None) -> Lint:
    """Lint files; `beside` are there too, but nobody asked for them."""
    there = {**files, **(beside or {})}
    return lint(files, there.get, machine, listed=lambda _: tuple(there))


def found(result: Lint) -> list[tuple[str, str, int]]:
    """(rule, path, line) of every mistake."""
    return [(m.rule, m.place.path, m.place.line) for m in result.mistakes]


def rules(name: str, text: str, machine: Machine | None = None) -> list[tuple[str, int]]:
    """(rule, line) of one file without problems."""
    result = check({name: text}, machine)
    assert result.problems == ()
    return [(m.rule, m.place.line) for m in result.mistakes]
