"""Registry hives: what was written comes back, and no damage leads astray."""

from __future__ import annotations

import random

import pytest

from gpuwhy.formats import MalformedError
from gpuwhy.formats.hive import Hive

from .made_hive import hive

TREE = {
    "Select": {"Current": 1},
    "ControlSet001": {"Control": {"Session Manager": {"Environment": {"Path": ("%SystemRoot%;C:\\a",), "OS": "NT"}}}},
    "Long": {"Path": "x" * 20_000},
}


def reader(data: bytes):
    def read(offset: int, size: int) -> bytes:
        return data[offset : offset + size]

    return read


@pytest.mark.parametrize("kind", [b"lf", b"lh", b"li", b"ri"])
@pytest.mark.parametrize("wide", [False, True])
def test_what_was_written_comes_back(kind, wide):
    one = Hive(reader(hive(TREE, kind, wide)))
    assert one.key("").keys == ("Select", "ControlSet001", "Long")
    assert one.key("select").values["Current"].text == "1"
    found = one.key("ControlSet001/control/SESSION MANAGER/Environment").values
    assert (found["Path"].text, found["Path"].expands) == ("%SystemRoot%;C:\\a", True)
    assert (found["OS"].text, found["OS"].expands) == ("NT", False)
    assert one.key("Long").values["Path"].text == "x" * 20_000
    assert one.key("Select/Nothing") is None


def test_something_else_is_refused():
    with pytest.raises(MalformedError):
        Hive(reader(b"MZ" + bytes(100)))


def test_damage_is_said_or_harmless():
    data, chance = hive(TREE), random.Random(18)
    for _ in range(400):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 8)):
            broken[chance.randrange(0x1000, len(broken))] = chance.randrange(256)
        try:
            one = Hive(reader(bytes(broken[: chance.randrange(0x1000, len(broken))])))
            one.key("ControlSet001/Control/Session Manager/Environment")
            one.key("Long")
        except MalformedError:
            continue
