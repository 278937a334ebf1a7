"""No false alarm: environments as clusters, images, notebooks and CI set them stay silent."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.host.alias import Alias
from gpuwhy.host.live import steering
from gpuwhy.knowledge.settings import faults
from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts, Framework, Variable
from gpuwhy.reason.judge import judge
from gpuwhy.rooms.env.setting import CAUSE
from tests.rooms.facts import base
from tests.variables.healthy import HEALTHY, Healthy

HERE = Source("env", "environment")


def seen(one: Healthy) -> dict[str, str]:
    return steering(dict(one.variables), Alias("/home/ada", "ada"))


def facts_of(one: Healthy) -> Facts:
    """A healthy GPU machine with these frameworks and variables."""
    facts = msgspec.convert(base("healthy"), type=Facts)
    like = facts.target.frameworks.need()[0]
    frameworks = tuple(
        msgspec.structs.replace(like, name=name, title=name, version=version) for name, version in one.installed.items()
    )
    variables = tuple(
        Variable(name, value, "", (), (), faults(name, value, one.installed)) for name, value in seen(one).items()
    )
    target = msgspec.structs.replace(facts.target, frameworks=Known(frameworks or (like,), HERE))
    environment = msgspec.structs.replace(facts.environment, variables=Known(variables, HERE))
    assert all(isinstance(f, Framework) for f in frameworks)
    return msgspec.structs.replace(facts, target=target, environment=environment)


def test_there_are_forty():
    assert len(HEALTHY) >= 40
    assert len({one.name for one in HEALTHY}) == len(HEALTHY)


@pytest.mark.parametrize("one", HEALTHY, ids=lambda h: h.name)
def test_healthy_is_silent(one):
    assert {name: found for name, value in seen(one).items() if (found := faults(name, value, one.installed))} == {}
    assert {v.state for v in judge((CAUSE,), facts_of(one))} == {"ruled_out"}
