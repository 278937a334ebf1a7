"""What was not observed costs certainty and remedies, never the report: any fact of any host may be Unknown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import fields, replace

from gpuwhy.model.cause import Case, Cause, Fix, strong
from gpuwhy.model.fact import NOT_OBSERVED, Unknown
from gpuwhy.model.facts import Facts
from gpuwhy.reason.judge import judge_case
from gpuwhy.reason.rank import crashed
from gpuwhy.render.json import render as as_json
from gpuwhy.render.terminal import Paper, render

from .hosts import NAMES, run

UNKNOWN = Unknown("no answer within 600 s")
HOSTS = (
    "h200", "h200-conda", "h200-container-no-gpu", "h200-empty-cudnn",
    "h200-memory-held-other-user", "h200-mig-no-caps", "h200-no-module",
    "h200-other-driver-libraries",
    "h200-stub-first", "h200-system-cudnn-first", "h200-truncated-cudnn", "h200-visible-7",
    "h200-wsl-off-path", "laptop-cpu-only",
)  # fmt: skip


def without(facts: Facts) -> Iterator[tuple[str, Facts]]:
    """The facts with one field of one subject Unknown, for each of them; then with all."""
    nothing = facts
    for subject in fields(facts):
        record = getattr(facts, subject.name)
        names = [field.name for field in fields(record)]
        for name in names:
            yield f"{subject.name}.{name}", replace(facts, **{subject.name: replace(record, **{name: UNKNOWN})})
        nothing = replace(nothing, **{subject.name: replace(record, **dict.fromkeys(names, UNKNOWN))})
    yield "everything", nothing


@pytest.mark.parametrize("name", HOSTS)
def test_a_report_is_made_whatever_was_not_observed(name: str) -> None:
    one = run(name)
    for what, facts in without(one.facts):
        one.facts = facts
        report = one.report()
        assert report.crashed == (), what
        assert render(report, Paper(), verbose=True), what
    assert report.status == "unknown"
    assert report.causes == ()
    assert as_json(report)


def test_the_hosts_are_there() -> None:
    assert set(HOSTS) <= set(NAMES)


def lost(case: Case) -> tuple[Fix, ...]:
    """A remedy that asks what nobody saw."""
    return (Fix(f"Install {len(case.facts.target.damage.need() or ())} packages again"),)


def wrong(case: Case) -> tuple[Fix, ...]:
    """A remedy with a mistake in it."""
    return (Fix(f"Install {next(iter(()))} again"),)


@pytest.mark.parametrize(("fixes", "told"), [(lost, ""), (wrong, "StopIteration")])
def test_a_cause_keeps_its_verdict_where_its_remedies_cannot_be_made(fixes: object, told: str) -> None:
    cause = Cause("install.corrupted", "files are damaged", signs=(lambda _: strong("one is"),), fixes=fixes)  # type: ignore[arg-type]
    assert Facts().target.damage == NOT_OBSERVED
    verdict = judge_case(cause, Case(Facts()), "")
    assert (verdict.state, verdict.fixes) == ("shown", ())
    assert [one.missing.partition(":")[0] for one in crashed([verdict])] == ([told] if told else [])
