"""A cog.yaml that asks for a Python which Cog no longer takes."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("cog-python", "error", "a cog.yaml that asks for a Python which Cog no longer takes")

_FLOOR = "3.10"
_KNOW = source("replicate/cog issue 2666 and its validation of cog.yaml", "Python 3.10 or newer, since early 2026")


def check(scope: Scope) -> Iterator[Mistake]:
    """The Python of cog.yaml against the oldest one that Cog builds for."""
    pythons = scope.environment.pythons if scope.kind == "cog" else ()
    if len(pythons) == 1 and not at_least(pythons[0], _FLOOR):
        text = f"python_version {pythons[0]}: Cog builds for Python {_FLOOR} or newer, and refuses the file"
        place = Place(scope.environment.path, scope.environment.python_line)
        yield RULE.mistake(place, text, _KNOW, f'write python_version: "{_FLOOR}" or newer, with releases that have it')
