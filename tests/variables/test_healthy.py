"""No false alarm: environments as clusters, images, notebooks and CI set them stay silent."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.settings import faults

from .healthy import HEALTHY, Healthy


def test_there_are_forty():
    assert len(HEALTHY) >= 40
    assert len({one.name for one in HEALTHY}) == len(HEALTHY)


@pytest.mark.parametrize("one", HEALTHY, ids=lambda h: h.name)
def test_healthy_is_silent(one: Healthy):
    found = {name: faults(name, value, one.installed) for name, value in one.variables.items()}
    assert {name: said for name, said in found.items() if said} == {}
