"""One way to write a file: exclusive, atomic, through no link."""

import os

import pytest

from gpuwhy.machine import writing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes are POSIX's")


def test_a_new_file_is_created_exclusively(tmp_path):
    writing.create(str(tmp_path / "new"), b"text")
    (tmp_path / "nowhere").symlink_to("victim")
    for name in ("new", "nowhere"):
        with pytest.raises(FileExistsError):
            writing.create(str(tmp_path / name), b"other")
    assert (tmp_path / "new").read_bytes() == b"text"
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("to", ["victim", "nowhere", "folder", "."])
def test_nothing_is_written_through_a_link(tmp_path, to):
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(to)
    with pytest.raises(OSError):  # noqa: PT011 - a link to nowhere, to a file and to a folder differ
        writing.keep(str(tmp_path / "link"), b"new")
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()
    assert (tmp_path / "link").is_symlink()


def test_devices_and_pipes_are_written_to(tmp_path):
    writing.keep(os.devnull, b"x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):  # nobody reads: no waiting
        writing.keep(str(tmp_path / "pipe"), b"x")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writing.keep(str(tmp_path / "pipe"), b"x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)
