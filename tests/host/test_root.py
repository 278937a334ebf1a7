"""Another machine's files under a folder: nothing leads out of it."""

from __future__ import annotations

import os

import pytest

from gpuwhy.host.root import RootHost
from gpuwhy.model.fact import Absent, Known, Unknown


@pytest.fixture
def root(tmp_path):
    """A root beside a secret that only an escape could reach."""
    (tmp_path / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "passwd").write_text("inside")
    (root / "usr" / "lib").mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    (root / "usr" / "lib" / "libx.so.1").write_text("x")
    (root / "usr" / "lib" / "libx.so").symlink_to("/lib/libx.so.1")
    return root


def test_reads_below_the_root(root):
    host = RootHost(str(root))
    assert host.read("/etc/passwd").need() == "inside"
    assert [e.name for e in host.list("/").need()] == ["etc", "lib", "usr"]
    assert isinstance(host.read("/etc/shadow"), Absent)


def test_absolute_links_stay_inside(root):
    host = RootHost(str(root))
    (root / "password").symlink_to("/etc/passwd")
    assert host.read("/password").need() == "inside"
    assert host.real("/lib/libx.so").need() == "/usr/lib/libx.so.1"
    assert host.link("/lib/libx.so").need() == "/lib/libx.so.1"
    assert host.stat("/lib/libx.so").need().size == 1


@pytest.mark.parametrize(
    "path", ["/../secret", "/etc/../../secret", "/lib/../../../secret", "/out", "/up", "/etc/deep/secret", "../secret"]
)
def test_nothing_leads_out(root, path):
    (root / "out").symlink_to(root.parent / "secret")
    (root / "up").symlink_to("../secret")
    (root / "etc" / "deep").symlink_to("../../..")
    host = RootHost(str(root))
    assert isinstance(host.read(path), Absent)
    assert isinstance(host.stat(path), Absent)
    assert isinstance(host.real(path), Absent)


def test_link_is_read_through_links_that_stay_inside(root):
    (root / "estate").symlink_to("/")
    assert RootHost(str(root)).link("/estate/lib").need() == "usr/lib"
    (root / "away").symlink_to(root.parent)
    assert isinstance(RootHost(str(root)).link("/away/secret"), Absent)


def test_loops_are_unknown(root):
    (root / "a").symlink_to("/b")
    (root / "b").symlink_to("/a")
    (root / "self").symlink_to("self/x")
    host = RootHost(str(root))
    for path in ("/a", "/a/x", "/self"):
        for answer in (host.read(path), host.real(path), host.stat(path), host.list(path)):
            assert isinstance(answer, Unknown), (path, answer)
            assert "symbolic links" in answer.reason


def test_only_files_can_be_asked(root):
    host = RootHost(str(root))
    for answer in (host.uname(), host.environ(), host.run("id"), host.call("nvml"), host.kernel_log(), host.now()):
        assert isinstance(answer, Unknown)
        assert answer.how


def test_nul_and_odd_bytes(root):
    host = RootHost(str(root))
    for answer in (host.read("/a\0b"), host.link("/a\0b"), host.stat("/a\0b")):
        assert isinstance(answer, (Unknown, Absent))
    with open(os.fsencode(root) + b"/odd\xff", "wb") as file:
        file.write(b"x")
    name = next(e.name for e in host.list("/").need() if e.name.startswith("odd"))
    assert name.encode() == rb"odd\udcff"
    assert isinstance(host.stat(f"/{name}"), Known)
