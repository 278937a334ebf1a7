"""cuDNN's rules: what each framework accepts, and rows that other numbers confirm."""

import pytest

from gpuwhy.knowledge.cudnn_rules import fits, rule, table
from gpuwhy.facts.version import numbers


@pytest.mark.parametrize(
    "needs, built, loaded, answer",
    [
        ("minor or newer", "9.19.0", "9.14.0", False),
        ("minor or newer", "9.1.0", "9.12.0", True),
        ("minor or newer", "9.1.4", "9.1.0", True),
        ("minor or newer", "8.9.4", "9.1.0", False),
        ("minor or newer", "7", "7.4.1", None),
        ("minor or newer", "7", "8.0.1", False),
        ("same minor", "7.0.3", "7.1.0", False),
        ("same minor", "7.0.3", "7.0.5", True),
        ("same major", "9", "9.1.0", True),
        ("same major", "9", "8.9.0", False),
        ("same major", "", "9.1.0", None),
    ],
)
def test_what_fits(needs, built, loaded, answer):
    assert fits(needs, built, loaded) is answer


def test_rules_by_release():
    assert rule("tensorflow", "1.7.1").needs == "same minor"
    assert rule("torch", "2.11.0+cu130").needs == "minor or newer"
    assert rule("onnxruntime", "1.31.1").needs == "same major"
    assert rule("paddle", "2.6.2") is None


def test_rows_are_newest_first_and_sourced():
    for name in {r.framework for r in table().rules}:
        since = [numbers(r.since) for r in table().rules if r.framework == name]
        assert since == sorted(since, reverse=True)
    assert all(row.source.kind == "know" for row in (*table().rules, *table().compiled))
    assert len({(row.framework, row.release) for row in table().compiled}) == len(table().compiled)
