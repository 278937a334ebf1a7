"""A recording replays: every question gets the same answer; a bad file says what is wrong."""

import gzip
import json
import os
import sys

import msgspec
import pytest
from fuzz.secrets import Planter

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.machine import recording
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.machine import ANSWERS, Machine, printable
from gpuwhy.machine.recording import BadRecordingError, RecordingMachine, read_recording, recorded_machine
from gpuwhy.machine.sandbox import Order, encoded
from tests.formats.made import wheel

ME = os.path.realpath(sys.executable)
INFO = "torch-2.1.dist-info"


def questions(folder: str, names: list[str]) -> list[tuple]:
    """One question of every kind, good and bad, about a folder."""
    inside = [f"{folder}/{name}" for name in names]
    gather = ("gather", folder, r".*info$", "METADATA", "RECORD")
    order = encoded(Order((("import", "json"), ("import", "nothing_of_that_name"))))
    return [
        *(("list", folder, ""), ("list", folder, r".*\.so"), gather),
        *(("stat", path) for path in inside),
        *(("read", path) for path in inside),
        *(("read", f"{folder}/with space"), ("lines", f"{folder}/text", "two", "three words")),
        *(("link", f"{folder}/link"), ("link", f"{folder}/text"), ("real", f"{folder}/link")),
        *(("real", f"{folder}/nowhere"), ("elf", ME), ("elf", f"{folder}/text")),
        *(("gpu_code", ME, 4), ("cuda_version", ME), ("holds", ME, "ELF", "no such words")),
        *(("matching", ME, r"libpython3\.\d+\.so"), ("unmet", ME, "__libc"), ("versions", ME)),
        *(("changes", f"{folder}/{INFO}/RECORD", level) for level in ("libraries", "hashes")),
        *(("pe", f"{folder}/libx.so"), ("wheel", f"{folder}/x.whl"), ("ldcache",)),
        *(("dpkg", "libc6"), ("sha256", f"{folder}/text"), ("module_info", f"{folder}/text")),
        *(("environ",), ("registry", "HKLM/SOFTWARE/NVIDIA Corporation"), ("uname",)),
        *(("offline",), ("disk", folder), ("standing", f"{folder}/not/there")),
        *(("limit", "NOFILE"), ("set_at_start",), ("kernel_log",)),
        *(("call", "nodes", folder), ("call", "no_such_child"), ("python", ME, "no_such_child")),
        *(("sandbox", ME, order), ("read", "/nowhere"), ("read", "nul\0inside")),
    ]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text").write_text("one\ntwo\nthree words\n")
    (tmp_path / "with space").write_text("é✓\n")
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "libx.so").write_bytes(b"\x7fELF")
    (tmp_path / "x.whl").write_bytes(wheel({"x-1.dist-info/METADATA": b"Name: x\nVersion: 1\n"}))
    (tmp_path / INFO).mkdir()
    (tmp_path / INFO / "METADATA").write_text("Name: torch\nVersion: 2.1\n")
    (tmp_path / INFO / "RECORD").write_text("text,sha256=x,3\ngone/lib.so,sha256=y,1\n")
    (tmp_path / "latin1").write_bytes(b"caf\xe9\n")
    with open(os.fsencode(tmp_path) + b"/bad\xff name", "wb") as file:
        file.write(b"x")
    return str(tmp_path)


def plain(value: object) -> object:
    """Values with the bytes that are no UTF-8 as recordings write them."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return plain(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else value


def replayed(live: RecordingMachine) -> Machine:
    return recorded_machine(read_recording(live.dump({"python": "x"}), "test"))


def test_every_answer_replays(folder, monkeypatch):
    monkeypatch.setenv("HOME", "/home/alice")
    live = RecordingMachine(LiveMachine({"HOME": "/home/alice", "CUDA_HOME": "/opt/cuda"}))
    names = [e.name for e in live.list(folder).need() if e.name.isascii()]
    asked = questions(folder, names)
    assert {one[0] for one in asked} == set(ANSWERS), "every kind of question is asked here"
    then = [live.ask(*one) for one in asked]
    replay = replayed(live)
    for one, answer in zip(asked, then, strict=True):
        assert plain(replay.ask(*one)) == plain(answer), one
    bad = next(e.name for e in replay.list(folder).need() if "bad" in e.name)
    live.stat(f"{folder}/{next(e.name for e in live.list(folder).need() if 'bad' in e.name)}")
    assert isinstance(replayed(live).stat(f"{folder}/{bad}"), Known), "its name leads to its file"


def test_recording_is_readable_json_one_question_a_line(folder):
    live = RecordingMachine(LiveMachine({}))
    live.read(f"{folder}/text")
    live.stat(folder)
    data = live.dump({}, note="x")
    made = json.loads(data)
    assert list(made["answers"]) == sorted([f"read {folder}/text", f"stat {folder}"])
    assert (made["schema"], made["note"], made["home"]) == ("gpuwhy.record/1", "x", "/home/user")
    assert sum(line.startswith((b'"read', b'"stat')) for line in data.splitlines()) == 2


def test_what_leads_through_folders_of_people_replays(tmp_path, monkeypatch):
    """The home folder, and a folder of homes that is listed."""
    home = tmp_path / "home" / "zaphod"
    (home / "env").mkdir(parents=True)
    (home / "env" / "pyvenv.cfg").write_text(f"home = {home}/python\nversion = 3.12\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "zaphod")

    live = RecordingMachine(LiveMachine())
    live.read(f"{home}/env/pyvenv.cfg")
    data = live.dump({"python": f"{home}/env"})
    assert b"zaphod" not in data
    replay = recorded_machine(read_recording(data, "x"))
    text = replay.read("/home/user/env/pyvenv.cfg").need()
    assert text == "home = /home/user/python\nversion = 3.12\n"
    assert replay.recording.options == {"python": "/home/user/env"}
    live.list(str(tmp_path / "home"))
    assert b"zaphod" not in live.dump({})


def test_nothing_planted_is_in_a_recording(tmp_path, monkeypatch):
    """Variables, metadata and files with secrets everywhere, and what a program printed."""
    planter = Planter(3)
    site = tmp_path / planter.person() / "site-packages"
    info = site / "torch-2.1.dist-info"
    info.mkdir(parents=True)
    at = f"https://u:{planter.password()}@example.org/x.whl"
    mail = f"Author-email: {planter.mail()}\n"
    (info / "METADATA").write_text(f"Name: torch\n{mail}Requires-Dist: x @ {at}\n")
    (info / "INSTALLER").write_text(planter.word())
    (info / "direct_url.json").write_text(json.dumps({"url": at.replace("u:", planter.token())}))
    (site / "pyvenv.cfg").write_text(f"home = /x\ncommand = x --token {planter.token()}\n")
    (site / "version.py").write_text(f"# {planter.word()}\ngit_version = '{planter.word()}'\n")
    environ = {
        "LD_LIBRARY_PATH": f"/opt/{planter.token()}/lib:/mnt/x?token={planter.word()}",
        "XLA_FLAGS": f"--xla_dump_to=/tmp/{planter.token()} --xla_token={planter.word()}",
        "CUDA_HOME": f"https://u:{planter.password()}@example.org/cuda",
        "NVIDIA_PAT": planter.word(),
        "PADDLE_MASTER": planter.machine(),
        "HF_TOKEN": planter.token(),
        "TF_CPP_MIN_LOG_LEVEL": f"token={planter.token()}",
    }
    monkeypatch.setenv("USER", site.parent.name)
    live = RecordingMachine(LiveMachine({**environ, "HOME": str(site.parent)}))
    asked = [("read", f"{site}/{name}") for name in ("pyvenv.cfg", "version.py")]
    asked += [("lines", f"{info}/METADATA", "Requires"), ("list", str(tmp_path), ""), ("environ",)]
    files = ("METADATA", "INSTALLER", "direct_url.json")
    for one in (*asked, ("gather", str(site), ".*info", *files)):
        assert isinstance(live.ask(*one), Known)
    data = live.dump({"python": str(site)}, run={"output": "\n".join(planter.lines(240))})
    assert len(planter.planted) > 250
    assert [one for one in planter.planted if one.encode() in data] == []


def test_a_machine_that_one_answer_names_is_in_no_other(tmp_path):
    (tmp_path / "a").write_text("[trantor7:4321:4321 [0] NCCL WARN peer 10.9.8.7 went away\n")
    (tmp_path / "b").write_text("trantor7 10.9.8.7:29500 https://ci:hunter2@10.9.8.7/simple\n")
    live = RecordingMachine(LiveMachine({}))
    for name in "ba":
        live.read(str(tmp_path / name))
    data = live.dump({})
    assert [one for one in (b"trantor7", b"10.9.8.7", b"hunter2") if one in data] == []


def test_an_answer_of_the_wrong_shape_is_unknown():
    head = {"schema": "gpuwhy.record/1", "gpuwhy": "1", "home": "/home/user", "options": {}}
    source = {"kind": "file", "where": "/x"}
    answers = {"stat /x": {"state": "known", "value": 7, "source": source}, "read /y": []}
    data = json.dumps({**head, "answers": answers}).encode()
    replay = recorded_machine(read_recording(data, "test"))
    for answer in (replay.stat("/x"), replay.read("/y")):
        assert isinstance(answer, Unknown)
        assert "makes no sense" in answer.reason
    assert replay.read("/z") == Unknown("not in the recording: read /z")


GOOD = RecordingMachine(Machine()).dump({})


@pytest.mark.parametrize(
    "data, why",
    [
        (b"", "not a gpuwhy recording"),
        (b"\xff\xfe\x00garbage", "not a gpuwhy recording"),
        (b"[" * 100_000, "not a gpuwhy recording"),
        (b'{"schema": 7}', "not a gpuwhy recording"),
        (GOOD[: len(GOOD) // 2], "not a gpuwhy recording"),
        (GOOD.replace(b"record/1", b"record/9"), "gpuwhy.record/9"),
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


def test_gzip_is_read_and_a_bomb_is_refused(monkeypatch):
    assert read_recording(gzip.compress(GOOD), "x.gz") == read_recording(GOOD, "x")
    monkeypatch.setattr(recording, "MAX_BYTES", 1 << 20)
    with pytest.raises(BadRecordingError, match=r"x\.gz unpacks to more than 1 MiB"):
        read_recording(gzip.compress(bytes(2 << 20)), "x.gz")
