"""Precedents: every row can be read and said; their places are filled from the text."""

import re

import msgspec
import pytest

from gpuwhy.advise.precedents import cures, precedents
from gpuwhy.advise.remedy import Action
from gpuwhy.advise.tools import tools
from gpuwhy.causes.load import catalogue
from gpuwhy.knowledge.tables import DATA
from gpuwhy.log.case import Case

CAUSES = sorted(one.stem for one in (DATA / "precedents").glob("*.jsonl"))
HOLE = re.compile(r"<([a-z_]+)>")


def test_precedents_are_of_causes_that_exist() -> None:
    assert set(CAUSES) <= set(catalogue().causes)


@pytest.mark.parametrize("cause", CAUSES)
def test_every_precedent_can_be_read(cause: str) -> None:
    rows = precedents(cause)
    assert rows
    for row in rows:
        msgspec.convert(row.do, tuple[Action, ...])
        assert row.says, row.text
        assert row.text, row.says


def test_no_precedent_is_there_twice() -> None:
    seen: dict[tuple[str, ...], str] = {}
    for cause in CAUSES:
        for row in precedents(cause):
            key = (cause, *row.says, *row.not_, row.text)
            assert key not in seen, key
            seen[key] = cause


def test_the_places_of_a_phrase_are_filled() -> None:
    text = (
        "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to"
        " compile PyTorch (11.8). Please make sure to use the same CUDA versions."
    )
    found = cures("cuda.version_mismatch", text, Case())
    assert found
    assert "11.8" in found[0].remedy.text
    assert not HOLE.search(found[0].remedy.text)


def test_tools_have_ways_for_causes_that_exist() -> None:
    known = set(catalogue().causes)
    for tool in tools():
        re.compile(tool.named)
        for way in tool.remedy:
            assert set(way.causes) <= known
