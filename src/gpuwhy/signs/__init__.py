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


def with_gpu(facts: Facts, assumed: Facts) -> tuple[Finding, ...]:
    """All findings of a machine without a GPU, with those of what would fail if it had one.

    `assumed` are the same facts with a GPU: `look.assumed.assume(facts, AssumedMachine())`.
    """
    from gpuwhy.facts.fact import Known
    from gpuwhy.signs.expect import lacks_gpu
    from gpuwhy.signs.judged import together

    here = judge(facts)
    if not lacks_gpu(facts):
        return here.findings
    return together(here, judge(assumed), isinstance(facts.system.offline, Known))


def judge(facts: Facts) -> Judged:
    """The findings, and the signs that could not decide, each with what it lacked."""
    from gpuwhy.signs.judged import judge as every_sign

    return every_sign(facts)
