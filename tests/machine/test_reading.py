"""One way to read a file: bounded in bytes and time, no pipes, devices or sockets by surprise."""

import errno
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from gpuwhy.machine import reading

FAST = 0.3
pytestmark = pytest.mark.skipif(os.name == "nt", reason="named pipes and devices")


@pytest.fixture
def odd(tmp_path):
    """Everything that is no file, by name."""
    os.mkfifo(tmp_path / "fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "loop").symlink_to("loop")
    yield (
        {name: str(tmp_path / name) for name in ("fifo", "socket", "link", "loop")}
        | {name: f"/dev/{name}" for name in ("zero", "full", "urandom", "tty", "stdin")}
        | {"folder": str(tmp_path), "nul": "a\0b", "missing": str(tmp_path / "missing")}
    )
    server.close()


def test_what_is_no_file_is_refused_at_once(odd):
    for name, path in odd.items():
        with pytest.raises((OSError, ValueError)) as refused:
            reading.read(path, 100)
        said = name in ("loop", "nul", "missing", "stdin")
        assert said or "a folder" in str(refused.value) or "not a regular" in str(refused.value), name


def test_no_byte_more_than_asked_for_is_kept(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert reading.read(str(file), 100) == b"x" * 100
    with pytest.raises(OSError, match="larger than 99 bytes") as refused:
        reading.read(str(file), 99)
    assert refused.value.errno == errno.EFBIG
    assert reading.read(os.devnull, 10) == b""


def test_a_read_that_never_ends_is_left_alone_and_the_next_one_works(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_bytes(b"x")
    never, real = threading.Event(), os.read
    monkeypatch.setattr(os, "read", lambda *_: never.wait())
    with pytest.raises(OSError, match=r"no answer within 0\.3 s"):
        reading.read(str(file), 100, FAST)
    monkeypatch.setattr(os, "read", real)
    assert reading.read(str(file), 100) == b"x"
    never.set()


def test_holes_are_not_read(tmp_path):
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.write(b"begin\n")
        file.seek(1 << 40)
        file.write(b"end\n")
        file.truncate(1 << 41)
    with reading.source(str(sparse)) as opened:
        got = b"".join(reading.pieces(opened))
    assert got.startswith(b"begin\n")
    assert got.rstrip(b"\0").endswith(b"end\n")
    assert len(got) < 1 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="Linux")
def test_a_file_of_the_kernel_without_an_end_is_refused():
    with reading.source("/proc/self/pagemap") as opened, pytest.raises(OSError, match="64 MiB"):
        for _ in reading.pieces(opened):
            pass


def test_a_pipe_that_is_open_already_may_be_read(tmp_path):
    code = (
        "import sys; from gpuwhy.machine import reading\n"
        "with reading.source(sys.argv[1]) as f: print(b''.join(reading.pieces(f)))"
    )
    for path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        argv = [sys.executable, "-c", code, path]
        done = subprocess.run(argv, input=b"hello", capture_output=True, timeout=60)
        assert done.stdout == b"b'hello'\n", done.stderr


@pytest.mark.parametrize(
    "text, lines",
    [
        (b"", []),
        (b"a\nb", [b"a", b"b"]),
        (b"a\n\nb\n", [b"a", b"", b"b"]),
        (b"x" * 99 + b"\nb\n" + b"y" * 20, [None, b"b", None]),
        (b"x" * 10, [b"x" * 10]),
    ],
)
def test_lines_that_are_too_long_are_counted_and_not_kept(tmp_path, monkeypatch, text, lines):
    file = tmp_path / "lines"
    file.write_bytes(text)
    for piece in (1, 3, 7, 1000):
        monkeypatch.setattr(reading, "PIECE", piece)
        with reading.source(str(file)) as opened:
            assert list(reading.lines(opened, 10)) == lines


def test_a_line_of_many_pieces_takes_time_by_its_length():
    split = reading.Splitter(1 << 27)
    pieces = [b"x" * (1 << 16)] * 1024
    began = time.process_time()
    lines = [line for piece in (*pieces, b"\n") for line in split.take(piece)]
    assert time.process_time() - began < 1
    assert [len(line or b"") for line in lines] == [1 << 26]
