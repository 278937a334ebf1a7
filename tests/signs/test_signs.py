"""Every fixture gets its state; an Unknown costs one sign, never the report."""

from contextlib import suppress

import msgspec
import pytest

from gpuwhy.facts.fact import Undetermined, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.signs.judged import ROWS, judge
from gpuwhy.signs.case import Case

from .fixtures import Fixture, facts_of, fixtures, state_of

FIXTURES = fixtures()


@pytest.mark.parametrize("one", FIXTURES, ids=lambda one: f"{one.cause}-{one.name}")
def test_fixture(one: Fixture):
    """Its state, and findings that are whole."""
    facts = facts_of(one.facts)
    assert state_of(facts, one.cause) == one.state, one.why
    judged = judge(facts)
    assert [bug.missing for bug in judged.undecided if bug.bug] == []
    for found in judged.findings:
        assert found.cause.count(".") == 1
        assert found.says
        assert not found.says.endswith(".")
        assert found.evidence or found.weight is Weight.AGAINST
        assert "{" not in found.says.replace("${", "")


def test_the_healthy_machine_shows_nothing():
    found = [one for one in judge(facts_of({})).findings if one.weight is not Weight.AGAINST]
    assert [one for one in found if one.effect is not Effect.NOTED] == []


def test_nothing_observed_decides_nothing():
    judged = judge(Facts())
    assert judged.findings == ()
    assert [one for one in judged.undecided if one.bug] == []


FIELDS = [
    (subject, field)
    for subject in Facts.__struct_fields__
    for field in getattr(Facts(), subject).__struct_fields__
]


@pytest.mark.parametrize(("subject", "field"), FIELDS)
@pytest.mark.parametrize("name", ["shown", "shown-2"])
def test_an_unknown_fact_costs_its_signs_alone(subject, field, name):
    """On one broken machine of each kind; no sign raises anything but Undetermined."""
    for one in [row for row in FIXTURES if row.name == name][::4]:
        facts = facts_of(one.facts)
        record = getattr(facts, subject)
        record = msgspec.structs.replace(record, **{field: Unknown("not seen")})
        facts = msgspec.structs.replace(facts, **{subject: record})
        assert [bug.missing for bug in judge(facts).undecided if bug.bug] == []


def test_every_sign_speaks_in_some_fixture():
    silent = {(row.cause, row.sign) for row in ROWS}
    for one in FIXTURES:
        facts = facts_of(one.facts)
        silent = {row for row in silent if not _speaks(*row, facts)}
    assert sorted(f"{cause}: {sign.__name__}" for cause, sign in silent) == []


def _speaks(cause, sign, facts) -> bool:
    frameworks = value_or(facts.frameworks.installed, ()) or (None,)
    gpus = value_or(facts.devices.gpus, ()) or (None,)
    for case in (Case(facts, framework, gpu) for framework in frameworks for gpu in gpus):
        with suppress(Undetermined, AssertionError):
            found = sign(case)
            if found is not None and (isinstance(found, Finding) or list(found)):
                return True
    return False
