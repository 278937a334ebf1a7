"""The sign and the fixes of causes that only a program's output can show: without it they stay open."""

from __future__ import annotations

from gpuwhy.causes.clues.tailored import remedies
from gpuwhy.model.cause import Case, Finding, Fix, Fixes
from gpuwhy.model.fact import Undetermined, Unknown
from gpuwhy.model.symptom import Reading


def needs_output(case: Case) -> Finding | None:
    """No fact of a machine shows what a program did; its output does (see causes/clues)."""
    if not case.symptoms:
        raise Undetermined(Unknown("only a program's output tells", "gpuwhy explain LOG"))
    return None


def by_output(cause: str) -> Fixes:
    """The fixes of such a cause, by what the program printed."""

    def fixes(case: Case) -> tuple[Fix, ...]:
        return remedies(cause, (), case.symptoms, Reading(symptoms=case.symptoms, told=case.told), case.facts)

    return fixes
