"""Every demand of the tables is answered as an expert would."""

from __future__ import annotations

import pytest

from tests.choose.table import FILES, Row, answer, rows, wrong

ROWS = [row for path in FILES for row in rows(path)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_a_demand_is_answered_as_an_expert_would(row: Row):
    assert wrong(row) == [], answer(row.words).text[:2000]
