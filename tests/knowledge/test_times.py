"""Until when releases were published that go with a framework."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.times import beside, of_its_time


@pytest.mark.parametrize(
    ("name", "version", "after", "before"),
    [
        ("tensorflow-cpu", "2.6.0", "2021-08-11", "2021-11-01"),  # Keras 2.7 came on the third of November
        ("tensorflow", "2.3.4", "2020-07-27", "2021-03-01"),  # a patch of a year later: its series decides
        ("torch", "2.6.0+cu124", "2025-01-29", "2025-04-01"),
        ("jax", "0.6.2", "2025-06-17", "2025-09-01"),
    ],
)
def test_what_goes_with_a_release_came_soon_after_it(name: str, version: str, after: str, before: str) -> None:
    assert after < of_its_time(name, version) < before


def test_what_nobody_knows_sets_no_day() -> None:
    assert of_its_time("torch", "9.9.9") == of_its_time("nobodys", "1.0") == ""
    assert beside({"nobodys": "1.0"}, ["nobodys", "torch"]) == ""


def test_what_stands_beside_is_of_the_newest_of_them() -> None:
    installed = {"torch": "2.6.0", "tensorflow": "2.6.0"}
    assert beside(installed, ["tensorflow"]) < beside(installed, ["torch", "tensorflow"]) < "2025-09-01"
