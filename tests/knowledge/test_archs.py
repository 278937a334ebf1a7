"""Which code runs on which GPU, and which toolkits and drivers know an architecture."""

import pytest

from gpuwhy.knowledge.archs import archs, runs_on
from gpuwhy.facts.version import numbers


def test_rows_are_sorted_versions_with_a_source():
    order = [numbers(row.capability) for row in archs()]
    assert order == sorted(set(order))
    for row in archs():
        assert len(numbers(row.capability)) == 2
        assert row.source.where
        if row.first_toolkit and row.last_toolkit:
            assert numbers(row.first_toolkit) < numbers(row.last_toolkit)
        assert not row.last_driver or row.last_toolkit, "a dropped driver comes with a dropped toolkit"


@pytest.mark.parametrize(
    "sass, ptx, capability, answer",
    [
        (("sm_80",), (), "8.6", "sass"),
        (("sm_80",), (), "8.9", "sass"),
        (("sm_86",), (), "8.0", "no"),
        (("sm_80",), (), "9.0", "no"),
        (("sm_90",), (), "9.0", "sass"),
        (("sm_90a",), (), "9.0", "sass"),
        (("sm_100a",), (), "10.3", "no"),
        (("sm_100f",), (), "10.3", "sass"),
        (("sm_103f",), (), "10.0", "no"),
        (("sm_120",), (), "12.1", "sass"),
        (("sm_87",), (), "8.9", "no"),
        (("sm_87",), (), "8.7", "sass"),
        (("sm_80",), (), "8.7", "sass"),
        ((), ("compute_80",), "12.0", "ptx"),
        ((), ("compute_90",), "8.9", "no"),
        ((), ("compute_90a",), "9.0", "ptx"),
        ((), ("compute_90a",), "10.0", "no"),
        ((), ("compute_100f",), "10.3", "ptx"),
        ((), ("compute_100f",), "12.0", "no"),
        (("sm_50", "sm_60", "sm_70"), ("compute_70",), "7.5", "sass"),
        (("sm_50",), ("compute_50",), "12.0", "ptx"),
        ((), (), "8.0", "no"),
        (("rubbish", "sm_"), ("compute_x",), "8.0", "no"),
        (("sm_80",), (), "8", "no"),
    ],
)
def test_runs_on(sass, ptx, capability, answer):
    assert runs_on(sass, ptx, capability) == answer
