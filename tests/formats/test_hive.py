"""Registry hives: what was written comes back."""

import pytest

from gpuwhy.formats import MalformedError
from gpuwhy.formats.hive import Hive, Value

from .made import over
from .made_hive import hive

ENVIRONMENT = {"Path": ("%SystemRoot%;C:\\a",), "OS": "NT"}
TREE = {
    "Select": {"Current": 1},
    "ControlSet001": {"Control": {"Session Manager": {"Environment": ENVIRONMENT}}},
    "Long": {"Path": "x" * 20_000},
}


@pytest.mark.parametrize("kind", [b"lf", b"lh", b"li", b"ri"])
@pytest.mark.parametrize("wide", [False, True])
def test_what_was_written_comes_back(kind, wide):
    one = Hive(over(hive(TREE, kind, wide)))
    assert one.key("").keys == ("Select", "ControlSet001", "Long")
    assert one.key("select").values == {"Current": Value("1")}
    found = one.key("ControlSet001/control/SESSION MANAGER/Environment").values
    assert found == {"Path": Value("%SystemRoot%;C:\\a", True), "OS": Value("NT")}
    assert one.key("Long").values["Path"].text == "x" * 20_000
    assert one.key("Select/Nothing") is None


def test_something_else_is_refused():
    with pytest.raises(MalformedError, match="not a registry hive"):
        Hive(over(b"MZ" + bytes(100)))
