"""A release that a correction names is labelled where it was not seen working."""

from __future__ import annotations

import pytest

from tests.lint.support import check


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("torch==2.0.2\n", "was seen to fail with numpy"),  # the nearest release wants numpy<2
        ("torch==2.0.2\nnumpy<2\n", ""),  # which the file has
        ("torch==2.5.2\n", ""),  # 2.6 was seen to import
    ],
)
def test_what_a_correction_names(text: str, said: str) -> None:
    (fix,) = [one.fix for one in check({"requirements.txt": text}).mistakes if one.rule == "no-such-release"]
    assert said in fix
    assert bool(said) == ("seen" in fix)
