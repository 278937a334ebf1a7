"""Xid numbers and NVML codes."""

from __future__ import annotations

import pynvml
import pytest

from gpuwhy.knowledge import nvml, xid


def test_xid_rows_are_sorted_and_say_something():
    assert list(xid.ROWS) == sorted(xid.ROWS)
    for number, row in xid.ROWS.items():
        assert row.number == number
        assert len(row.text) > 10
        assert not row.text.endswith(".")
        assert row.source.where
        assert row.hardware or not row.recovered


@pytest.mark.parametrize(
    "number, hardware, recovered",
    [(13, False, False), (31, False, False), (43, False, False), (48, True, False), (63, True, True),
     (74, True, False), (79, True, False), (94, True, True), (95, True, False), (119, True, False)],
)  # fmt: skip
def test_xid_meaning(number, hardware, recovered):
    row = xid.meaning(number)
    assert row
    assert (row.hardware, row.recovered) == (hardware, recovered)


def test_unknown_xid():
    assert xid.meaning(9999) is None
    assert xid.meaning(-1) is None


def test_nvml_names_are_those_of_the_official_binding():
    codes = {v: k for k, v in vars(pynvml).items() if k.startswith(("NVML_ERROR_", "NVML_SUCCESS")) and type(v) is int}
    shared = set(codes) & set(nvml.NAMES)
    assert len(shared) > 20
    assert {code: nvml.NAMES[code] for code in shared} == {code: codes[code] for code in shared}


def test_nvml_names():
    assert nvml.name_of(18) == "NVML_ERROR_LIB_RM_VERSION_MISMATCH"
    assert nvml.name_of(12345) == "NVML_ERROR_12345"
