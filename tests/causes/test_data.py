"""The rows of causes, messages and programs: one generic test walks all of them."""

import re
import time
from collections import Counter
from functools import cache
from typing import Any

import pytest

from gpuwhy.causes.load import PACKAGE, BadDataError, catalogue, from_toml
from gpuwhy.causes.schema import WORDS, Clue, MessageRow, When
from gpuwhy.diagnose.conditions import WORDS as WRITTEN
from gpuwhy.diagnose.predicates import PREDICATES
from gpuwhy.log.case import Case
from gpuwhy.log.read import read

MOST_PREDICATES = 60
STATUSES = (
    *("cuda", "cudnn", "cublas", "cusolver", "cusparse", "cufft", "curand"),
    *("nvrtc", "nvjitlink", "nvml", "nvmlclass", "nccl"),
)
"""Families whose ids are made of tables of statuses."""
OF_ENDINGS = ("ending.", "refused.", "shadow.", "packages.in_part")
"""Messages that the reader makes of an ending, rather than of a row."""

MESSAGES = catalogue().messages
CAUSES = catalogue().causes
CLUES = [(cause.id, clue) for cause in CAUSES.values() for clue in cause.clues]


@cache
def ids() -> frozenset[str]:
    return frozenset(row.id for row in MESSAGES)


def is_known(name: str) -> bool:
    """A message, a family of them, or a status."""
    if name in ids() or name.split(".")[0] in STATUSES or name.startswith(OF_ENDINGS):
        return True
    return name.endswith((".", "_")) and any(one.startswith(name) for one in ids())


def found_in(line: str) -> set[str]:
    """The ids of what the whole reader finds."""
    return {one.id for one in read(line.encode()).messages}


def says(row: MessageRow, found: set[str]) -> bool:
    """Whether a row's message was found; that of a table of statuses is one of its family."""
    family = f"{row.codes}." if row.codes else row.id
    return any(one == row.id or (row.codes and one.startswith(family)) for one in found)


def says_more(row: MessageRow, found: set[str]) -> bool:
    """Whether a message was found that covers the row's."""
    return any(row.id.startswith(more.covers) for more in MESSAGES if more.id in found)


def conditions() -> list[tuple[str, When]]:
    each: list[tuple[str, When | None]] = []
    for cause, clue in CLUES:
        each += [(cause, clue.when), (cause, clue.unless)]
    for row in MESSAGES:
        for one in row.for_:
            each += [(row.id, one.when), (row.id, one.unless)]
    return [(where, when) for where, when in each if when is not None]


def keys(when: When) -> list[str]:
    return [when] if isinstance(when, str) else list(when)


def expressions(when: When) -> list[str]:
    if not isinstance(when, dict):
        return []
    found = [when["line"]] if "line" in when else []
    for value in when.values():
        each = value if isinstance(value, list) else [value]
        found += [one[1:] for one in each if isinstance(one, str) and one.startswith("~")]
    return found


def test_ids_are_unique():
    again = [name for name, times in Counter(row.id for row in MESSAGES).items() if times > 1]
    assert again == []
    assert all(name == cause.id for name, cause in CAUSES.items())


def test_clues_are_on_messages_that_exist():
    assert [(cause, name) for cause, clue in CLUES for name in clue.on if not is_known(name)] == []


def test_what_a_row_covers_exists():
    wrong = [(row.id, name) for row in MESSAGES for name in row.covers if not is_known(name)]
    assert wrong == []


def test_causes_that_are_explained_and_named_exist():
    named = [(row.id, one.cause) for row in MESSAGES for one in row.for_]
    named += [(cause.id, low) for cause in CAUSES.values() for low in cause.explains]
    named += [
        (cause.id, one)
        for cause in CAUSES.values()
        for question in cause.question
        for one in question.between
    ]
    assert [(where, one) for where, one in named if one not in CAUSES] == []


def test_sets_and_what_may_be_exist():
    sets = catalogue().sets
    wrong = [one for ids_of in sets.values() for one in ids_of if not is_known(one)]
    for cause in CAUSES.values():
        for name in cause.maybe:
            kind, _, which = name.partition(":")
            known = which in sets if kind == "messages" else is_known(name)
            wrong += [] if known else [f"{cause.id}: {name}"]
    assert wrong == []


def test_weights_are_half_steps():
    assert [(cause, clue.on) for cause, clue in CLUES if clue.weight % 0.5 or not clue.weight] == []


def test_keys_of_conditions_mean_something():
    fields = {field for row in MESSAGES for one in row.patterns for field in fields_of(one)}
    fields |= {"code", "name", "what", "where", "variable", "value", "by", "status", "number", "call"}
    known = {*WORDS, *PREDICATES, *Case.__struct_fields__, *fields}
    wrong = [
        (where, key)
        for where, when in conditions()
        for key in keys(when)
        if key not in known and not key.startswith("version.") and not key.isupper()
    ]
    assert wrong == []


def fields_of(pattern: str) -> list[str]:
    return re.findall(r"\(\?P<([a-z_]+)\d*>", pattern)


def test_words_are_those_of_the_schema_and_predicates_are_few():
    assert set(WRITTEN) == set(WORDS)
    assert len(PREDICATES) <= MOST_PREDICATES
    used = {key for _, when in conditions() for key in keys(when)}
    assert set(PREDICATES) - used == set(), "a predicate that no row uses goes"


NASTY = ("a", "1", "a ", "/a", "1.", "-", "cuda ", "a.b/c:", "\\x", "error ", "1 2 3, ")
"""What a line of a thousand characters is made of that makes a bad expression slow."""


def test_expressions_compile_and_none_is_slow():
    every = [(row.id, one) for row in MESSAGES for one in row.patterns]
    every += [(where, one) for where, when in conditions() for one in expressions(when)]
    slow = []
    for where, pattern in every:
        expression = re.compile(pattern, re.IGNORECASE)
        started = time.process_time()
        for piece in NASTY:
            expression.search(piece * (1000 // len(piece)))
        if time.process_time() - started > 1.0:
            slow.append(where)
    assert slow == []


WITH_LINES = [row for row in MESSAGES if row.matches or row.not_]


@pytest.mark.parametrize("row", WITH_LINES, ids=[row.id for row in WITH_LINES])
def test_examples(row: MessageRow):
    found = {line: found_in(line) for line in row.matches}
    assert [one for one, ids in found.items() if not says(row, ids) and not says_more(row, ids)] == []
    assert [line for line in row.not_ if says(row, found_in(line))] == []


@pytest.mark.parametrize(
    "text",
    [
        'id = "a.b"\ntitle = "x"\nkolor = "red"\n',
        'id = "a.b"\ntitle = "x"\nclues = [{ on = ["a.b"], weight = 1.0, says = "", wen = "x" }]\n',
        'id = "a.b"\ntitle = "x"\n[[message]]\nid = "m"\npattern = "x"\nrule = 1\n',
        'id = "a.b"\n',
    ],
)
def test_unknown_and_missing_keys_are_rejected(tmp_path: Any, text: str):
    (tmp_path / "causes").mkdir()
    (tmp_path / "causes" / "a.b.toml").write_text(text)
    with pytest.raises(BadDataError, match=r"causes/a\.b\.toml"):
        from_toml(tmp_path)


def test_a_message_for_a_cause_that_is_not_there_is_named(tmp_path: Any):
    folder = tmp_path / "knowledge" / "programs"
    folder.mkdir(parents=True)
    row = '[[message]]\nid = "p.m"\npattern = "x"\nfor = [{ cause = "memory.ooom", weight = 1.0, says = "x" }]'
    (folder / "p.toml").write_text(f'id = "p"\ntitle = "P"\nknows = ["p"]\nuses = []\nsource = "x"\n{row}\n')
    with pytest.raises(BadDataError, match=r"p\.m: there is no cause 'memory\.ooom'"):
        from_toml(tmp_path)


def test_the_compiled_file_is_the_same():
    import msgspec

    whole = from_toml(PACKAGE)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(whole), type=type(whole)) == whole


def test_a_clue_says_something_or_its_message_does():
    assert all(isinstance(clue, Clue) and clue.on for _, clue in CLUES)
