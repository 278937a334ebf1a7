"""A recording replays: every question gets the same answer, and a bad file says in one line what is wrong."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import zipfile

import pytest

from gpuwhy.host import base, recorded
from gpuwhy.host.base import Host
from gpuwhy.host.live import LiveHost
from gpuwhy.host.recorded import BadRecordingError, RecordedHost, read_recording
from gpuwhy.host.recording import RecordingFile, RecordingHost
from gpuwhy.model.fact import Known, Unknown, known


def questions(folder: str, names: list[str]) -> list[tuple]:
    """One question of every kind, good and bad, about a folder."""
    inside = [f"{folder}/{name}" for name in names]
    return [
        ("list", folder, ""),
        ("list", folder, r".*\.so"),
        *(("stat", path) for path in inside),
        *(("read", path) for path in inside),
        ("read", f"{folder}/with space"),
        ("lines", f"{folder}/text", "two", "three words"),
        ("link", f"{folder}/link"),
        ("link", f"{folder}/text"),
        ("real", f"{folder}/link"),
        ("real", f"{folder}/nowhere"),
        ("elf", os.path.realpath(sys.executable)),
        ("elf", f"{folder}/text"),
        ("gpu_code", os.path.realpath(sys.executable), 4),
        ("cuda_version", os.path.realpath(sys.executable)),
        ("matching", os.path.realpath(sys.executable), r"libpython3\.\d+\.so"),
        ("holds", os.path.realpath(sys.executable), "ELF", "no such words in there"),
        ("unmet", os.path.realpath(sys.executable), "__libc"),
        ("unwritten", f"{folder}/text", ".py"),
        ("altered", f"{folder}/text"),
        ("pe", f"{folder}/libx.so"),
        ("versions", os.path.realpath(sys.executable)),
        ("wheel", f"{folder}/x.whl"),
        ("ldcache",),
        ("dpkg", "libc6"),
        ("sha256", f"{folder}/text"),
        ("sourced", f"{folder}/activate"),
        ("activated", f"{folder}/activate"),
        ("environ",),
        ("registry", "HKLM/SOFTWARE/NVIDIA Corporation"),
        ("uname",),
        ("offline",),
        ("disk", folder),
        ("standing", f"{folder}/not/there"),
        ("limit", "NOFILE"),
        ("now",),
        ("started",),
        ("kernel_log",),
        ("call", "interpreter"),
        ("call", "no_such_child"),
        ("python", sys.executable, "interpreter"),
        ("python", f"{folder}/text", "interpreter"),
        ("run", "uname", "-s"),
        ("run", "no-such-command"),
        ("read", "/nowhere"),
        ("read", "nul\0inside"),
    ]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text").write_text("one\ntwo\nthree words\n")
    (tmp_path / "with space").write_text("é✓\n")
    (tmp_path / "activate").write_text("export XLA_FLAGS=--a; export OTHER=1; echo said")
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "libx.so").write_bytes(b"\x7fELF")
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as wheel:
        wheel.writestr("x-1.dist-info/METADATA", "Name: x\nVersion: 1\n")
        wheel.writestr("x-1.dist-info/WHEEL", "Tag: py3-none-any\n")
    (tmp_path / "latin1").write_bytes(b"caf\xe9\n")
    with open(os.fsencode(tmp_path) + b"/bad\xff name", "wb") as file:
        file.write(b"x")
    return str(tmp_path)


def test_every_answer_replays(folder):
    live = RecordingHost(LiveHost({"HOME": "/home/alice", "USER": "alice", "CUDA_HOME": "/home/alice/cuda"}))
    names = [e.name for e in live.list(folder).need() or ()]
    asked = questions(folder, names)
    assert {one[0] for one in asked} == set(base._VALUES), "every kind of question is asked here"
    then = [live.ask(*one) for one in asked]
    replay = RecordedHost(read_recording(live.dump({"python": "x"}), "test"))
    for one, answer in zip(asked, then, strict=True):
        assert replay.ask(*one) == answer, one
    bad = next(name for name in names if "bad" in name)
    assert isinstance(replay.stat(f"{folder}/{bad}"), Known), "a non-UTF-8 name leads to its file"


def test_recording_is_readable_json_one_question_a_line(folder):
    live = RecordingHost(LiveHost({}))
    live.read(f"{folder}/text")
    live.stat(folder)
    data = live.dump({})
    assert list(json.loads(data)["answers"]) == sorted([f"read {folder}/text", f"stat {folder}"])
    assert sum(line.startswith((b'"read', b'"stat')) for line in data.splitlines()) == 2


def test_what_was_not_asked_is_unknown():
    replay = RecordedHost(read_recording(RecordingHost(Host()).dump({}), "test"))
    answer = replay.read("/etc/os-release")
    assert isinstance(answer, Unknown)
    assert answer.reason == "not in the recording: read /etc/os-release"


@pytest.mark.parametrize(
    "question, reason, kind",
    [
        ("stat /x", "/x: permission denied", "denied"),
        ("elf /x", "/x: not ELF at offset 0", "foreign"),
        ("elf /x", "/x: dynamic section lies past the end of the file (12 bytes) at offset 64", "cut"),
        ("stat /x", "/x: too many levels of symbolic links", "loop"),
        ("python /x interpreter", "python: a folder cannot be asked", "offline"),
        ("python /x interpreter", "/x: cannot be started: Permission denied", ""),
        ("stat /x", "/x: input/output error", ""),
    ],
)
def test_recordings_from_before_unknown_had_a_kind(question, reason, kind):
    text = json.loads(RecordingHost(Host()).dump({}))
    answers = {question: {"state": "unknown", "reason": reason}}
    replay = RecordedHost(read_recording(json.dumps({**text, "answers": answers}).encode(), "test"))
    assert replay.ask(*question.split()) == Unknown(reason, kind=kind)


def test_recordings_from_before_an_end_had_values():
    lines = [{"stage": "init"}, {"ended": "probe died by signal 11: oops"}]
    answers = {"call probe": {"state": "known", "value": lines}}
    first, last = RecordedHost(RecordingFile("gpuwhy.record/1", "0", {}, answers)).call("probe").need()
    assert first == lines[0]
    assert last["how"] == {"code": -11, "late": False, "why": "", "last": "oops"}


def test_an_answer_of_the_wrong_shape_is_unknown():
    text = {"schema": "gpuwhy.record/1", "gpuwhy": "0", "options": {}}
    answers = {"stat /x": {"state": "known", "value": 7, "source": {"kind": "file", "where": "/x"}}, "read /y": []}
    replay = RecordedHost(read_recording(json.dumps({**text, "answers": answers}).encode(), "test"))
    for answer in (replay.stat("/x"), replay.read("/y")):
        assert isinstance(answer, Unknown)
        assert "makes no sense" in answer.reason


GOOD = RecordingHost(Host()).dump({})


@pytest.mark.parametrize(
    "data, why",
    [
        (b"", "not a gpuwhy recording"),
        (b"\xff\xfe\x00garbage", "not a gpuwhy recording"),
        (b"[" * 100_000, "not a gpuwhy recording"),
        (b'{"schema": 7}', "not a gpuwhy recording"),
        (GOOD[: len(GOOD) // 2], "not a gpuwhy recording"),
        (GOOD.replace(b"record/1", b"record/2"), "gpuwhy.record/2"),
        (b"\x1f\x8b garbage", "damaged gzip"),
        (gzip.compress(GOOD, mtime=0)[:-20], "not a gpuwhy recording"),
    ],
)
def test_bad_files_are_named(data, why):
    with pytest.raises(BadRecordingError) as error:
        read_recording(data, "host.json")
    assert str(error.value).startswith("host.json ")
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_gzip_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(recorded, "MAX_BYTES", 1 << 20)
    with pytest.raises(BadRecordingError, match=r"host\.gz unpacks to more than 1 MiB"):
        read_recording(gzip.compress(bytes(2 << 20)), "host.gz")


def test_gzip_is_read():
    assert read_recording(gzip.compress(GOOD, mtime=0), "host.gz") == read_recording(GOOD, "host")


def test_the_same_question_is_put_once():
    class Slow(Host):
        asked = 0

        def ask(self, op, *args):
            Slow.asked += 1
            go.wait(5)
            return known("x", "file", "/x")

    go = threading.Event()
    host = RecordingHost(Slow())
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(host.read("/x"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert Slow.asked == 1
    assert [a.value for a in answers] == ["x"] * 4
