"""Files that are there and not as their RECORD says: what changed them decides what they are called."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from gpuwhy.host.alias import Alias
from gpuwhy.host.files import Files
from gpuwhy.model.fact import Known

BODY = b"x = 1\n" * 20


def record(folder: Path, name: str, installed: bytes) -> Path:
    """A package of one file, installed a while ago; the RECORD's path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(installed)
    digest = base64.urlsafe_b64encode(hashlib.sha256(installed).digest()).rstrip(b"=").decode()
    listed = folder / "pack-1.dist-info" / "RECORD"
    listed.parent.mkdir()
    listed.write_text(f"{name},sha256={digest},{len(installed)}\n")
    for one in (path, listed):
        os.utime(one, (1_700_000_000, 1_700_000_000))
    return listed


def altered(listed: Path) -> tuple[str, ...]:
    found = Files(Alias(), lambda path: path).altered(str(listed))
    assert isinstance(found, Known)
    return found.value


def test_nothing_was_changed(tmp_path):
    assert altered(record(tmp_path, "pack/a.py", BODY)) == ()


@pytest.mark.parametrize(
    "now, told",
    [
        (BODY, ""),  # written again as it was
        (BODY[:-1] + b"#", "bytes"),
        (BODY + b"# more", "added"),
        (BODY[:50], f"size:{len(BODY)}"),
        (b"#" + BODY, f"size:{len(BODY)}"),
    ],
)
def test_what_was_done_to_it(tmp_path, now, told):
    listed = record(tmp_path, "pack/a.py", BODY)
    (tmp_path / "pack/a.py").write_bytes(now)
    assert altered(listed) == ((f"{told} pack/a.py",) if told else ())


def test_bytes_that_changed_without_a_later_time_are_for_verify(tmp_path):
    listed = record(tmp_path, "pack/a.py", BODY)
    (tmp_path / "pack/a.py").write_bytes(BODY[:-1] + b"#")
    os.utime(tmp_path / "pack/a.py", (1_700_000_000, 1_700_000_000))
    assert altered(listed) == ()


def test_missing_and_empty_files_are_told_elsewhere(tmp_path):
    listed = record(tmp_path, "pack/a.py", BODY)
    (tmp_path / "pack/a.py").write_bytes(b"")
    assert altered(listed) == ()
    (tmp_path / "pack/a.py").unlink()
    assert altered(listed) == ()


def test_a_file_that_this_user_may_not_read(tmp_path, monkeypatch):
    listed = record(tmp_path, "pack/a.py", BODY)
    monkeypatch.setattr(Files, "_readable", lambda self, path: not path.endswith("a.py"))
    assert altered(listed) == ("denied pack/a.py",)


@pytest.mark.parametrize("first, told", [(10, "bytes pack/a.so"), (85, "")])
def test_zeros_within_a_library_are_a_doubt_that_its_hash_decides(tmp_path, first, told):
    body = bytes(range(1, 251)) * 1000
    listed = record(tmp_path, "pack/a.so", body)
    start = len(body) * first // 100
    holed = body[:start] + bytes(len(body) // 10 * 3) + body[start + len(body) // 10 * 3 :]
    (tmp_path / "pack/a.so").write_bytes(holed[: len(body)] if told else body[:start] + bytes(9) + body[start + 9 :])
    os.utime(tmp_path / "pack/a.so", (1_700_000_000, 1_700_000_000))
    assert altered(listed) == ((told,) if told else ())


def test_a_library_that_came_with_zeros_is_as_installed(tmp_path):
    body = b"\1" * 70_000 + bytes(200_000) + b"\1" * 70_000
    assert altered(record(tmp_path, "pack/a.so", body)) == ()


@pytest.mark.parametrize(
    ("name", "now", "told"),
    [
        ("pack/data.json", BODY, ()),
        ("pack/data.json", BODY[::-1], ("bytes pack/data.json",)),
        ("pack/a.py", BODY + b"#", (f"size:{len(BODY)} pack/a.py",)),
        ("pack/a.so", BODY[::-1], ()),  # libraries are looked at otherwise
        ("pack/a.py", b"", ()),  # told elsewhere
    ],
)
def test_every_small_file_is_held_against_its_hash(tmp_path, name, now, told):
    listed = record(tmp_path, name, BODY)
    (tmp_path / name).write_bytes(now)
    os.utime(tmp_path / name, (1_700_000_000, 1_700_000_000))
    found = Files(Alias(), lambda path: path).altered(str(listed), "small")
    assert isinstance(found, Known)
    assert found.value == told
