"""Files of a RECORD that are not there, or not as it says."""

import base64
import hashlib
import os
from pathlib import Path

import pytest

from gpuwhy.machine.files import FileSystem
from gpuwhy.machine.live import LiveMachine

BODY = b"x = 1\n" * 20
THEN = 1_700_000_000


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def installed(folder: Path, *names: str, body: bytes = BODY) -> Path:
    """A package, installed a while ago; the RECORD's path."""
    lines = []
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        lines.append(f"{name},sha256={digest(body)},{len(body)}")
    record = folder / "pack-1.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("\n".join([*lines, "pack-1.dist-info/RECORD,,", ""]))
    for one in (*(folder / name for name in names), record):
        os.utime(one, (THEN, THEN))
    return record


def rows(record: Path, level: str) -> list[tuple[str, str]]:
    return [(one.path, one.how) for one in LiveMachine().changes(str(record), level).need().rows]


@pytest.mark.parametrize("level", ["libraries", "files", "hashes"])
def test_nothing_was_changed(tmp_path, level):
    record = installed(tmp_path, "pack/a.py", "pack/b.py", "pack/lib.so.1", "pack/data.json")
    (tmp_path / "pack/b.py").rename(tmp_path / "pack/b.pyc")  # a module without its source is there
    assert rows(record, level) == []
    looked_at = LiveMachine().changes(str(record), level).need().looked_at
    assert looked_at >= (1 if level == "libraries" else 3)


@pytest.mark.parametrize(
    "now, told",
    [
        (BODY, ""),  # written again as it was
        (BODY[:-1] + b"#", "hash"),
        (BODY + b"# more", "longer"),
        (BODY[:50], "size"),
        (b"#" + BODY, "size"),
        (b"", "empty"),
        (None, "missing"),
    ],
)
@pytest.mark.parametrize("name, level", [("p/a.py", "hashes"), ("p/a.so", "libraries"), ("p/x.bin", "hashes")])
def test_what_was_done_to_it(tmp_path, now, told, name, level):
    record = installed(tmp_path, name)
    if now is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(now)
    assert rows(record, level) == ([(name, told)] if told else [])


def test_each_level_looks_at_what_it_says(tmp_path):
    record = installed(tmp_path, "pack/a.py", "pack/b.py", "pack/lib.so", "pack/deep/c.txt")
    (tmp_path / "pack/a.py").unlink()
    (tmp_path / "pack/b.py").write_bytes(b"")
    (tmp_path / "pack/deep/c.txt").unlink()
    (tmp_path / "pack/deep").rmdir()
    assert rows(record, "libraries") == []
    gone = [("pack/a.py", "missing"), ("pack/deep/c.txt", "missing")]
    assert rows(record, "files") == gone
    assert sorted(rows(record, "hashes")) == sorted([*gone, ("pack/b.py", "empty")])


def test_a_link_that_leads_nowhere_and_a_folder_in_its_place(tmp_path):
    record = installed(tmp_path, "pack/a.so", "pack/b.so")
    for name in ("a.so", "b.so"):
        (tmp_path / "pack" / name).unlink()
    (tmp_path / "pack/a.so").symlink_to("nowhere")
    (tmp_path / "pack/b.so").mkdir()
    assert rows(record, "libraries") == [("pack/a.so", "link"), ("pack/b.so", "folder")]


def test_a_file_that_this_user_may_not_read(tmp_path, monkeypatch):
    record = installed(tmp_path, "pack/a.py")
    (tmp_path / "pack/a.py").chmod(0o600)
    monkeypatch.setattr(FileSystem, "readable", lambda self, path, mode: not path.endswith("a.py"))
    assert rows(record, "hashes") == [("pack/a.py", "denied")]


@pytest.mark.parametrize("first, told", [(10, "zeros"), (85, "")])
def test_zeros_within_a_library_are_a_doubt_that_its_hash_decides(tmp_path, first, told):
    body = bytes(range(1, 251)) * 1000
    record = installed(tmp_path, "pack/a.so", body=body)
    start, count = len(body) * first // 100, len(body) // 10 * 3 if told else 9
    (tmp_path / "pack/a.so").write_bytes((body[:start] + bytes(count) + body[start + count :])[: len(body)])
    os.utime(tmp_path / "pack/a.so", (THEN, THEN))
    assert rows(record, "files") == ([("pack/a.so", told)] if told else [])


def test_a_library_whose_end_was_never_written_and_one_that_came_with_zeros(tmp_path):
    body = bytes(range(1, 251)) * 1000
    record = installed(tmp_path / "cut", "pack/a.so", body=body)
    (tmp_path / "cut/pack/a.so").write_bytes(body[:200_000] + bytes(len(body) - 200_000))
    assert rows(record, "libraries") == [("pack/a.so", "zeros")]
    came = installed(tmp_path / "came", "pack/a.so", body=b"\1" * 70_000 + bytes(200_000) + b"\1" * 70_000)
    assert rows(came, "files") == []


HOSTILE = [
    "../../../etc/passwd,sha256=x,1",
    "/etc/passwd,sha256=x,1",
    "~/x.py,sha256=x,1",
    "C:/x.so,sha256=x,1",
    "a\0b.so,sha256=x,1",
    '"quoted,name.so",sha256=x,1',
    "huge.so,sha256=x,99999999999999999999999",
    "no numbers.so,sha256=x,many",
    ",,,,",
    "a/../../../b.so,sha256=x,1",
]


@pytest.mark.parametrize("level", ["libraries", "files", "hashes"])
def test_lines_that_lead_out_of_the_folder_are_not_followed(tmp_path, level):
    record = tmp_path / "x-1.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("\n".join(HOSTILE))
    assert rows(record, level) == []


def test_what_is_told_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("gpuwhy.machine.record_changed.MOST", 3)
    record = installed(tmp_path, *(f"pack/{n}.py" for n in range(9)))
    for n in range(9):
        (tmp_path / f"pack/{n}.py").unlink()
    found = LiveMachine().changes(str(record), "files").need()
    assert len(found.rows) == 3


def test_files_that_are_listed_without_a_hash(tmp_path):
    record = installed(tmp_path, "pack/a.py")
    for name in ("pack/empty.so", "pack/empty.py", "pack/whole.so"):
        (tmp_path / name).write_bytes(b"" if "empty" in name else BODY)
    listed = [*(tmp_path / "pack").iterdir(), tmp_path / "pack/gone.py", tmp_path / "pack/gone.so"]
    lines = [f"pack/{path.name},," for path in listed if path.name != "a.py"]
    record.write_text(record.read_text() + "\n".join(lines))
    told = [("pack/empty.so", "empty"), ("pack/gone.so", "missing")]
    assert sorted(rows(record, "libraries")) == told
    assert sorted(rows(record, "files")) == sorted([*told, ("pack/gone.py", "missing")])
    assert sorted(rows(record, "hashes")) == sorted([*told, ("pack/gone.py", "missing")])
