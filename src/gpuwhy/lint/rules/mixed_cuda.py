"""NVIDIA wheels of several CUDA majors."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.lint.demands import MAJORS, wheels_of_two_majors
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("mixed-cuda", "warning", "NVIDIA wheels of several CUDA majors")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first pair of NVIDIA's wheels of two majors that write no common file: those belong to same-files."""
    if scope.environment.locked:
        return
    for pair in wheels_of_two_majors(scope):
        if not pair.file:
            one, other = pair.one, pair.other
            text = (
                f"{other.name} is for CUDA {pair.other_major}, {one.name} (line {one.place.line}) for CUDA {pair.major}"
            )
            fix = "keep the wheels of one CUDA major, or leave them to the framework's own requirements"
            yield RULE.mistake(other.place, text, MAJORS, fix)
            return
