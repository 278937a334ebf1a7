"""Every room is furnished: what is missing in one is named in words."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpuwhy.model.cause import LAYERS
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.pages import page
from gpuwhy.rooms.text.rooms import rooms
from gpuwhy.symptoms.reader import read_text
from tests.tools import tool

from .facts import log_of

HERE = Path(__file__).parent
SRC = HERE.parent.parent / "src" / "gpuwhy" / "rooms"
DECIDES = 2.5
"""A message of this weight alone makes a cause likely; see the scale in CONTRIBUTING.md."""
KINDS = ("shown", "ruled-out", "undetermined")
EXAMPLES = json.loads((HERE.parent / "symptoms" / "examples.json").read_text(encoding="utf-8"))["is"]
SPEAKERS = {name.split(".")[0] for name in EXAMPLES}
"""Speakers whose messages have examples there; those of others have them in a fixture of the room."""
UNFILLED = tool("new_cause").UNFILLED


def half_done(cause_id: str) -> list[str]:
    """What the files of a room still say in the skeleton's words."""
    layer, name = cause_id.split(".")
    sources = [SRC / layer / f"{name}{end}" for end in (".py", "_text.py", ".md")]
    files = [*(file for file in sources if file.exists()), *(HERE / layer / name).glob("*.json")]
    said = {file: file.read_text(encoding="utf-8") for file in files}
    return [f"{file.name} still says {words!r}" for file, text in said.items() for words in UNFILLED if words in text]


def unheard(cause_id: str) -> list[str]:
    """What is missing in the half that reads texts."""
    if find_spec(f"gpuwhy.rooms.{cause_id}_text") is None:
        return ["no <name>_text.py: no message leads to it"]
    room = rooms()[cause_id]
    missing = []
    if room.cause != cause_id:
        missing.append(f"its text half calls itself {room.cause}")
    if not any(clue.weight >= DECIDES for clue in room.weighed()):
        missing.append(f"no clue weighs {DECIDES} or more: no message shows it")
    if not any(not row.said and not row.line for row in room.remedies):
        missing.append("no remedy for whatever message: a row without said= and line=")
    mute = [s.id for s in room.signatures if not any(s.id.startswith(clue.signature) for clue in room.weighed())]
    return missing + [f"signature {name} has no clue in this room" for name in mute]


def untried(cause_id: str) -> list[str]:
    """What is missing among the fixtures."""
    folder = HERE.joinpath(*cause_id.split("."))
    kinds = [
        f"no {kind}*.json" for kind in ("shown", "ruled-out", "undetermined") if not [*folder.glob(f"{kind}*.json")]
    ]
    logs = [log for file in folder.glob("shown*.json") if (log := log_of(file))]
    heard = {one.signature for log in logs for one in read_text(log).symptoms}
    own = rooms()[cause_id].signatures if find_spec(f"gpuwhy.rooms.{cause_id}_text") else ()
    mute = [
        f"no shown*.json whose log has {one.id}" for one in own if one.id not in heard and one.speaker not in SPEAKERS
    ]
    return kinds + ([] if logs else ["no shown*.json with a log: no program's output shows it"]) + mute


@pytest.mark.parametrize("cause", CAUSES, ids=lambda c: c.id)
def test_the_room_is_furnished(cause):
    page_missing = [] if page(cause.id) else ["no <name>.md"]
    missing = [*half_done(cause.id), *unheard(cause.id), *page_missing, *untried(cause.id)]
    assert not missing, "\n".join(missing)
    assert cause.layer in LAYERS
    assert cause.signs or cause.needs_log, "neither a fact nor a program's output can show it"


def test_nothing_lies_about_that_belongs_to_no_room():
    """A file beside the rooms is a part of one: helpers are in shared/ and text/."""
    parts = {f"{id_}{end}" for id_ in (cause.id for cause in CAUSES) for end in (".py", "_text.py", ".md")}
    found = {f"{file.parent.name}.{file.name}" for layer in LAYERS for file in (SRC / layer).glob("*.*")}
    assert {name for name in found if not name.endswith(".__init__.py")} == parts
