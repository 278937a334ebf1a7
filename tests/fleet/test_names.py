import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.fleet.names import TooManyError, alias, expand, fold

LISTS = {
    "a,b c\nd # and e": ["a", "b", "c", "d"],
    "gpu[001-003,7]": ["gpu001", "gpu002", "gpu003", "gpu7"],
    "r[1-2]n[1-2]": ["r1n1", "r1n2", "r2n1", "r2n2"],
    "gpu[1-2]-ib,login": ["gpu1-ib", "gpu2-ib", "login"],
    "gpu[2-1]": [],
    "odd[": ["odd["],
}
FOLDED = {
    "gpu[001-002,004]": ["gpu001", "gpu002", "gpu004"],
    "gpu[098-100]": ["gpu098", "gpu099", "gpu100"],
    "n[9-11]": ["n9", "n10", "n11"],
    "gpu1,login": ["login", "gpu1"],
    "": [],
}


def test_lists_of_names_both_ways():
    assert {text: expand(text) for text in LISTS} == LISTS
    assert {fold(names): names for names in FOLDED.values()} == FOLDED


@pytest.mark.parametrize("text", ["a[1-999999999]", "a[1-999999]b[1-999999]"])
def test_a_list_cannot_fill_the_memory(text):
    with pytest.raises(TooManyError):
        expand(text)


@given(st.sets(st.from_regex(r"[a-z]{1,3}-?\d{0,4}", fullmatch=True), max_size=30))
def test_folding_loses_nothing(names):
    assert set(expand(fold(names))) == names


def test_an_alias_is_the_same_for_the_short_and_the_long_name():
    assert alias("gpu003.cluster.local") == alias("gpu003") != alias("gpu004")
    assert alias("10.0.0.1") != alias("10.0.0.2")
