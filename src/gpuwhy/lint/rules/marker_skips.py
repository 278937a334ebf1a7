"""A marker that leaves a framework out on the Pythons of today, which it has wheels for."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.releases import has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import FRAMEWORKS, from_index, rows_name
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, holds
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("marker-skips", "warning", "a marker that leaves a framework out on Pythons which it has wheels for")

_KNOW = source("dependency specifiers of Python packages", "a requirement whose marker is false is left out in silence")
_OLDER, _NEWER = ("3.9", "3.10", "3.11", "3.12"), ("3.13", "3.14")


def check(scope: Scope) -> Iterator[Mistake]:
    """A framework that older Pythons get and newer ones do not, and no other line for them."""
    used = scope.environment.pythons
    for pin in scope.pins if not scope.environment.locked else ():
        left = _left_out(scope, pin)
        if left and (not used or left in used) and scope.kind in ("requirements", "pyproject", "setup"):
            text = (
                f"{pin.name} is left out on Python {left} and newer by its marker ({pin.marker}), and has wheels for it"
            )
            yield RULE.mistake(pin.place, text, _KNOW, "take the marker away, or say requires-python instead")


def _left_out(scope: Scope, pin: Pin) -> str:
    """The first Python that a marker leaves out though the pin has wheels for it; '' where there is none."""
    if not _is_judged(scope, pin):
        return ""
    kept = [python for python in (*_OLDER, *_NEWER) if holds(pin.marker, python)]
    rows = [row for row in allowed(rows_name(pin), pin.specifier) if row.platform == LINUX]
    left = [p for p in _NEWER if p not in kept and any(has_python(row, p) for row in rows)]
    return left[0] if left and kept and _NEWER[-1] not in kept else ""


def _is_judged(scope: Scope, pin: Pin) -> bool:
    """A framework of the default index whose marker speaks of Python, and that stands here once."""
    same = [other for other in scope.environment.pins if FRAMEWORKS.get(other.name) == FRAMEWORKS.get(pin.name)]
    twice = len(same) > 1  # another build of it for the other Pythons
    return pin.name in FRAMEWORKS and "python" in pin.marker and from_index(scope, pin) and not twice
