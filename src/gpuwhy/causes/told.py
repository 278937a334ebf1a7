"""The sign of causes that only a program's output can show: without it they stay open, with it the clues decide."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Finding
from gpuwhy.model.fact import Undetermined, Unknown


def needs_output(case: Case) -> Finding | None:
    """No fact of a machine shows what a program did; its output does (see causes/clues)."""
    if not case.symptoms:
        raise Undetermined(Unknown("only a program's output tells", "gpuwhy explain LOG"))
    return None
