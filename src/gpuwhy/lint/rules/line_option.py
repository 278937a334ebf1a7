"""An index option on the line of a requirement, which pip does not read there."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("line-option", "error", "an index option on a requirement's line, which pip does not read there")

_KNOW = source(
    "pip documentation, requirements file format", "options of an index stand on lines of their own; tried with pip 25"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """Each such line."""
    for problem in scope.environment.misplaced:
        listed = problem.text.startswith("-")
        fails = not listed or any(pin.local and pin.place == problem.place for pin in scope.environment.pins)
        if listed:
            text = f"pip does not read {problem.text} after a requirement: the package comes from the default index"
        else:
            text = f"pip does not read {problem.text} after an option: it is not installed"
        yield RULE.mistake(
            problem.place, text, _KNOW, f"write {problem.text} on a line of its own", None if fails else "warning"
        )
