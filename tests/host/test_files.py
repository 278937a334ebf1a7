"""File questions against hostile files: nothing hangs, nothing is raised, every answer is a fact."""

from __future__ import annotations

import os
import shutil
import struct
import sys

import pytest

from gpuwhy.host.alias import Alias
from gpuwhy.host.files import Files
from gpuwhy.model.fact import Absent, Known, Unknown


@pytest.fixture
def files():
    alias = Alias()
    return Files(alias, alias.path)


def every_answer(files: Files, path: str) -> list:
    return [
        files.read(path), files.lines(path, "x"), files.list(path, ""), files.stat(path), files.link(path),
        files.elf(path), files.gpu_code(path, 4), files.sha256(path), files.disk(path),
    ]  # fmt: skip


def test_a_fifo_is_not_opened(files, tmp_path):
    path = str(tmp_path / "fifo")
    os.mkfifo(path)
    for answer in (files.read(path), files.elf(path), files.sha256(path), files.lines(path, "x")):
        assert isinstance(answer, Unknown)
        assert answer.reason == f"{path}: not a regular file but a pipe"
    assert files.stat(path).need().kind == "other"


def test_a_device_is_not_opened(files):
    for answer in (files.read("/dev/zero"), files.elf("/dev/zero"), files.sha256("/dev/zero")):
        assert isinstance(answer, Unknown)
        assert "not a regular file" in answer.reason
    assert files.stat("/dev/zero").need().kind == "char"


def test_a_large_file_is_not_read(files, tmp_path):
    path = tmp_path / "big"
    path.write_bytes(b"line with x\n" * (5_000_000 // 12))
    answer = files.read(str(path))
    assert isinstance(answer, Unknown)
    assert "larger than 4194304 bytes" in answer.reason
    assert len(files.lines(str(path), "line with x").need()) == 5_000_000 // 12


def test_a_folder_with_fifteen_thousand_names(files, tmp_path):
    for number in range(15_000):
        os.close(os.open(tmp_path / f"f{number}", os.O_CREAT | os.O_WRONLY))
    os.symlink("f1", tmp_path / "libcuda.so.1")
    found = files.list(str(tmp_path), r"libcuda\.so").need()
    assert [(e.name, e.kind) for e in found] == [("libcuda.so.1", "link")]
    shutil.rmtree(tmp_path)


def test_too_many_names_is_said(files, tmp_path, monkeypatch):
    monkeypatch.setattr("gpuwhy.host.files.MAX_NAMES", 3)
    for number in range(4):
        (tmp_path / str(number)).touch()
    answer = files.list(str(tmp_path), "")
    assert isinstance(answer, Unknown)
    assert "more than 3 names" in answer.reason


def test_nul_in_a_path_is_unknown(files):
    for answer in every_answer(files, "a\0b"):
        assert isinstance(answer, Unknown)


@pytest.mark.parametrize("path", ["/nowhere/at/all", "/etc/passwd/below"])
def test_missing_is_absent(files, path):
    for answer in every_answer(files, path):
        assert isinstance(answer, Absent)


def test_loops_are_unknown(files, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for answer in (files.read(str(tmp_path / "a")), files.stat(str(tmp_path / "a")), files.elf(str(tmp_path / "a"))):
        assert isinstance(answer, Unknown)
    assert files.link(str(tmp_path / "a")).need() == "b"


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_permission_denied_is_unknown(files, tmp_path):
    path = tmp_path / "closed"
    path.write_text("x")
    path.chmod(0)
    answer = files.read(str(path))
    assert isinstance(answer, Unknown)
    assert answer.reason == f"{path}: permission denied"


def test_a_dangling_link_is_absent_but_its_link_is_known(files, tmp_path):
    (tmp_path / "libx.so").symlink_to("libx.so.1")
    assert isinstance(files.stat(str(tmp_path / "libx.so")), Absent)
    assert files.link(str(tmp_path / "libx.so")).need() == "libx.so.1"
    assert [(e.name, e.kind) for e in files.list(str(tmp_path), "").need()] == [("libx.so", "link")]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 51, 63])
def test_a_truncated_elf_header_is_unknown(files, tmp_path, size):
    path = tmp_path / "libx.so"
    with open(os.path.realpath(sys.executable), "rb") as file:
        path.write_bytes(file.read(size))
    answer = files.elf(str(path))
    assert isinstance(answer, Unknown)
    assert answer.reason.startswith(f"{path}: ")


def test_a_truncated_elf_body_is_seen(files, tmp_path):
    path = tmp_path / "libx.so"
    with open(os.path.realpath(sys.executable), "rb") as file:
        path.write_bytes(file.read(8192))
    answer = files.elf(str(path))
    assert isinstance(answer, Known)
    assert answer.value.extent > 8192


def test_offsets_beyond_every_file_are_unknown(files, tmp_path):
    """pread refuses offsets of 2**63 and more with an OverflowError of its own."""
    path = tmp_path / "libx.so"
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 2**64 - 1, 2**64 - 1, 0, 64, 56, 1, 64, 1, 0)
    path.write_bytes(ident + header)
    for answer in (files.elf(str(path)), files.gpu_code(str(path), 4)):
        assert isinstance(answer, Unknown)
        assert "past the end" in answer.reason


def test_lines_keeps_only_what_was_asked_for(files, tmp_path):
    path = tmp_path / "RECORD"
    path.write_bytes(b"a.py,sha256=x,1\r\nlib/libcudnn.so.9,sha256=y,2\nb\xff.so,,\n")
    assert files.lines(str(path), ".so").need() == ("lib/libcudnn.so.9,sha256=y,2", "b\\udcff.so,,")
    assert files.lines(str(path), "nothing like it").need() == ()


def test_user_names_in_binaries_are_hidden(tmp_path, monkeypatch):
    """RPATHs and the loader's cache carry the folders of whoever built them."""
    from gpuwhy.formats.elf import Elf
    from gpuwhy.formats.ldcache import CacheEntry

    elf = Elf(64, "x86_64", 3, ("libc.so.6",), "libx.so", "/home/alice/a:/home/bob/b:$ORIGIN", "", "", 0, 0)
    monkeypatch.setattr("gpuwhy.host.files.read_elf", lambda *_: elf)
    monkeypatch.setattr("gpuwhy.host.files.read_ldcache", lambda *_: (CacheEntry("l", "/home/alice/l", 0, 0),))
    alias = Alias("/home/alice", "alice")
    path = tmp_path / "x"
    path.touch()
    files = Files(alias, lambda _: str(path))
    answer = files.elf("x").need()
    assert answer.rpath.startswith("~/a:/home/user-")
    assert answer.rpath.endswith("/b:$ORIGIN")
    assert (answer.needed, answer.soname) == (("libc.so.6",), "libx.so")
    assert files.ldcache().need()[0].path == "~/l"
