"""Message: one template as a program's file holds it, with the place that prints it."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuwhy.knowledge.shingles import HOLE, fragments

_PERCENT = re.compile(
    r"%(?:%|\([^)]*\)[-+ #0]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]|[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t|L)?[a-zA-Z])"
)
_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}")
_ABSL = re.compile(r"\$\d")
LEAST_WORDS = 3


class Message(NamedTuple):
    """A template (with NUL for holes), where it is raised, as what."""

    text: str
    module: str
    function: str
    kind: str  # RuntimeError, WARNING, TORCH_CHECK …; "" where the file does not show it
    line: int = 0


def percent(text: str) -> str:
    """A printf format as a template."""
    return _PERCENT.sub(lambda m: "%" if m.group() == "%%" else HOLE, text)


def braces(text: str) -> str:
    """A format string as a template."""
    return _BRACES.sub(lambda m: m.group()[0] if m.group() in ("{{", "}}") else HOLE, text)


def any_format(text: str) -> str:
    """A string of a binary, whose formatter is not known, as a template."""
    return _ABSL.sub(HOLE, braces(percent(text)))


def lines(template: str) -> list[str]:
    """The lines of a template that say enough to be found again."""
    return [one for one in template.split("\n") if sum(map(len, fragments(one))) >= LEAST_WORDS]
