"""Recordings of version 0: every answer of a hundred recorded machines, and new questions."""

from typing import Any

import pytest

from gpuwhy.facts.environment import Files
from gpuwhy.facts.fact import Absent, Known, Unknown
from gpuwhy.machine.machine import ANSWERS, Changed, Machine
from gpuwhy.machine.recorded_v0 import split
from gpuwhy.machine.recording import Recording, recorded_machine
from tests.signs.test_hosts import NAMES, answers

DIST_INFO = r"[^~.].*\.(dist|egg)-info$"


def machine(given: dict[str, Any]) -> Machine:
    return recorded_machine(Recording("gpuwhy.record/1", "0", {}, given))


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_of_a_recorded_machine_is_there(name):
    _, given = answers(name)
    replay = machine(given)
    for key, answer in replay.recording.answers.items():
        question, args = split(key)
        if question in ANSWERS:
            fact = replay.ask(question, *args)
            assert type(fact).__name__.lower() == answer["state"], key
    sites = [key.split(" ")[1] for key in given if key.startswith("list ") and "egg)-info" in key]
    for site in sites:
        found = replay.gather(site, DIST_INFO, "METADATA", "RECORD", "INSTALLER").need()
        assert len(found) == len(replay.list(site, DIST_INFO).need())
        for one in found:
            assert set(one.texts) | set(one.unread) <= {"METADATA", "RECORD", "INSTALLER"}
            if "RECORD" in one.texts:
                assert "RECORD" in one.partly
                changes = replay.changes(f"{site}/{one.name}/RECORD", "files").need()
                assert changes.looked_at == len(Files(one.texts["RECORD"], "some"))
    assert isinstance(replay.offline(), Absent)


def said(value: Any) -> dict[str, Any]:
    return {"state": "known", "value": value}


def entries(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "kind": "folder"} for name in names]


SITE = "~/env/lib/python3.12/site-packages"
RECORD = f"{SITE}/torch-2.1.dist-info/RECORD"
OLD = {
    f"list {SITE} {DIST_INFO}": said(entries("torch-2.1.dist-info")),
    f"list {SITE} (nvidia|torch)$": said(entries("nvidia", "torch")),
    f"lines {RECORD} .so": said(["torch/lib/x.so,sha256=a,5", "torch/gone.so,sha256=b,6"]),
    f'lines {RECORD} "torch/__init__.py,"': said(["torch/__init__.py,sha256=c,7"]),
    f'lines {SITE}/torch-2.1.dist-info/METADATA "Requires-Dist: "': said(["Requires-Dist: x"]),
    f"stat {SITE}/torch/lib/x.so": said({"kind": "file", "size": 5, "mode": "-rw-r--r--", "mtime": 1.0}),
    f"stat {SITE}/torch/gone.so": {"state": "absent"},
    "lines /etc/os-release NAME= VERSION=": said(['NAME="Ubuntu"']),
    "lines /etc/os-release ID_LIKE=": said(["ID_LIKE=debian"]),
    "read /home/$USER/x": said("in '~/y'"),
    "uname": said({"system": "linux", "release": "6.8", "machine": "x86_64"}),
    "call probe": said([{"stage": "init"}, {"ended": "probe died by signal 11: oops"}]),
    "elf /x": {"state": "unknown", "reason": "/x: not ELF at offset 0"},
    "stat /x": {"state": "unknown", "reason": "/x: permission denied"},
    "real /a/b/../c": said("/a/c"),
}
HERE = "/home/user/env/lib/python3.12/site-packages"


def test_new_questions_are_served_from_old_answers():
    replay = machine(OLD)
    names = [one.name for one in replay.list(HERE).need()]
    assert names == ["nvidia", "torch", "torch-2.1.dist-info"]
    assert "partly" in replay.list(HERE).source.detail
    (torch,) = replay.gather(HERE, DIST_INFO, "METADATA", "RECORD", "INSTALLER").need()
    assert torch.texts["METADATA"] == "Requires-Dist: x\n"
    assert torch.texts["RECORD"].count("\n") == 3
    assert torch.partly == ("METADATA", "RECORD", "INSTALLER")
    changes = replay.changes(f"{HERE}/torch-2.1.dist-info/RECORD", "files").need()
    assert changes.rows == (Changed("torch/gone.so", "missing", recorded=6),)
    assert replay.read("/etc/os-release").need() == 'NAME="Ubuntu"\nID_LIKE=debian\n'
    assert replay.lines("/etc/os-release", "ID_LIKE").need() == ("ID_LIKE=debian",)
    assert isinstance(replay.offline(), Absent)
    assert replay.real("/a/c").need() == "/a/c"
    assert replay.read("/home/user/x").need() == "in '/home/user/y'"


def test_what_was_not_asked_is_unknown_and_not_absent():
    replay = machine(OLD)
    asked = (replay.stat("/y"), replay.list("/y"), replay.gather("/y", "x"), replay.read("/y"))
    for answer in (*asked, replay.changes("/y/RECORD", "files"), replay.module_info("/y")):
        assert isinstance(answer, Unknown)
        assert answer.reason.startswith("not in the recording: ")


def test_words_from_before_there_were_values():
    replay = machine(OLD)
    assert replay.elf("/x").kind == "foreign"
    assert replay.stat("/x").kind == "denied"
    _, last = replay.call("probe").need()
    assert last["how"] == {"code": -11, "late": False, "why": "", "last": "oops"}


def test_garbage_in_a_recording_raises_nothing():
    for value in (7, [], {}, "x", None, {"state": "known"}, said([1, None]), said({"a": 1})):
        replay = machine(dict.fromkeys(OLD, value))
        asked = [replay.list(HERE), replay.gather(HERE, DIST_INFO, "RECORD"), replay.offline()]
        asked += [replay.changes(f"{HERE}/torch-2.1.dist-info/RECORD", "files"), replay.uname()]
        asked += [replay.module_info("/lib/x.ko.zst")]
        assert all(isinstance(one, (Known, Absent, Unknown)) for one in asked)
