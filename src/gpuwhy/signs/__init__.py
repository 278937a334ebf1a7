"""Facts → findings: one module per mechanism; an Unknown costs the one sign that needs it.

`findings(facts)` is what they conclude; `judge(facts)` says also what could not be decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuwhy.facts.facts import Facts
    from gpuwhy.facts.finding import Finding
    from gpuwhy.signs.judged import Judged


def findings(facts: Facts) -> tuple[Finding, ...]:
    """Everything that the signs conclude."""
    return judge(facts).findings


def judge(facts: Facts) -> Judged:
    """The findings, and the signs that could not decide, each with what it lacked."""
    from gpuwhy.signs.judged import judge as every_sign

    return every_sign(facts)
