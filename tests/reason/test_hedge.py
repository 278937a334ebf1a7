"""The second remedy: the next cause's where the first one's own says little, and only then."""

from __future__ import annotations

from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Shown
from gpuwhy.reason.hedge import hedged


def _shown(name: str, confidence: float, *fixes: Fix) -> Shown:
    return Shown(name, f"it is {name}", confidence, "", (), (), fixes, True)


def test_a_vague_second_gives_way_to_the_next_causes_best() -> None:
    first, _ = hedged((_shown("a", 0.4, Fix("do", "x"), Fix("look around")), _shown("b", 0.3, Fix("mend", "y"))))
    assert [fix.command for fix in first.fixes] == ["x", "y", ""]
    assert first.fixes[1].text == "Or, if it is b: mend"


def test_nothing_changes_where_it_says_something_or_the_cause_is_likely() -> None:
    other = _shown("b", 0.3, Fix("mend", "y"))
    for one in (_shown("a", 0.4, Fix("do", "x"), Fix("or", "z")), _shown("a", 0.8, Fix("do", "x"))):
        assert hedged((one, other)) == (one, other)
    far = _shown("a", 0.6, Fix("do", "x"))
    assert hedged((far, _shown("b", 0.1, Fix("mend", "y"))))[0] == far
