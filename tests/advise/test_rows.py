"""Every remedy and question of the data: actions, names and conditions that exist."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gpuwhy.advise.makers import MAKERS
from gpuwhy.advise.names import DERIVED
from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import Action
from gpuwhy.causes.load import catalogue
from gpuwhy.causes.schema import QuestionRow, RemedyRow
from gpuwhy.log.case import Case

WORDS = {"line", "any_line", "beside", "alone", "message"}
NAME = re.compile(r"\{([a-z_]+)(\|[^{}]*)?\}")
VALUES = {"owner", "module", "folder", "left", "total", "how", "flaw", "wanted", "by_version", "uncached"}
"""What findings are filled with."""
CAUSES = catalogue().causes


def fields_of(ids: tuple[str, ...]) -> set[str]:
    """The fields that messages of these ids may have; of all messages where none is named."""
    found: set[str] = set()
    for row in catalogue().messages:
        if not ids or row.id.startswith(ids) or any(one.startswith(row.id) for one in ids):
            for pattern in row.patterns:
                found |= {re.sub(r"\d+$", "", one) for one in re.findall(r"\(\?P<(\w+)>", pattern)}
    return found


def known(ids: tuple[str, ...]) -> set[str]:
    case, place = set(Case.__struct_fields__), set(Place.__struct_fields__)
    return WORDS | set(DERIVED) | case | place | fields_of(ids) | VALUES


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from strings(one)


def rows() -> Iterator[Any]:
    for cause in CAUSES.values():
        for at, row in enumerate(cause.remedy):
            yield pytest.param(cause.id, row, id=f"{cause.id}-{at}")


def questions() -> Iterator[Any]:
    for cause in CAUSES.values():
        for at, row in enumerate(cause.question):
            yield pytest.param(row, id=f"{cause.id}-{at}")


@pytest.mark.parametrize(("cause", "row"), list(rows()))
def test_a_remedy_row_can_be_made(cause: str, row: RemedyRow) -> None:
    """It is one short sentence, says where root is needed, and asks for nothing that nobody knows."""
    if row.text:
        assert row.text[0].isupper() or row.text[0] == "{"
        assert not row.text.endswith("."), row.text
        assert len(NAME.sub("0123456789", row.text)) <= 100, len(row.text)
    said = " ".join(strings(list(row.do) if isinstance(row.do, tuple) else [row.do]))
    assert row.root or not ("sudo " in said or said.split()[:1] == ["driver"])
    assert bool(row.make) != bool(row.do), "either a maker or actions"
    if row.make:
        assert row.make in MAKERS
        return
    do = row.do if isinstance(row.do, tuple) else (row.do,)
    plain = [{key: one[key] for key in one} for one in do]
    msgspec.convert(plain, tuple[Action, ...])
    assert not any("|PACKAGE}" in text for text in strings(plain)), "a package nobody knows"
    asked = {
        name[1]
        for text in strings([row.text, plain, row.worked_if, row.if_not])
        for name in NAME.finditer(text)
        if name[2] is None
    }
    assert asked <= known(row.on), asked - known(row.on)
    if isinstance(row.when, dict):
        assert set(row.when) <= known(row.on), set(row.when) - known(row.on)


def test_every_cause_has_remedies_and_says_how_to_see_that_it_is_gone() -> None:
    assert [one.id for one in CAUSES.values() if not (one.remedy and one.worked_if)] == []


@pytest.mark.parametrize("row", list(questions()))
def test_a_question_separates_causes_that_exist(row: QuestionRow) -> None:
    assert set(row.between) <= set(CAUSES)
    assert {one.means for one in row.answers} <= set(CAUSES)
    for one in row.answers:
        if one.do is not None:
            msgspec.convert(one.do, Action)


def test_ids_that_rows_are_for_exist() -> None:
    ids = {one.id for one in catalogue().messages}
    lost = {
        on
        for cause in CAUSES.values()
        for row in cause.remedy
        for on in row.on
        if not any(one.startswith(on) for one in ids)
    }
    families = {one.id.partition(".")[0] for one in catalogue().messages if one.codes}
    lost = {one for one in lost if one.partition(".")[0] not in families}
    assert sorted(lost) == []
