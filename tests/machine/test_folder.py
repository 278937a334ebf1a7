"""Another machine's files under a folder: nothing leads out of it."""

import pytest

from gpuwhy.facts.fact import Absent, Unknown
from gpuwhy.machine.windows import folder_machine


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


def test_absolute_links_stay_inside(root):
    machine = folder_machine(str(root))
    (root / "password").symlink_to("/etc/passwd")
    assert machine.read("/password").need() == "inside"
    assert machine.real("/lib/libx.so").need() == "/usr/lib/libx.so.1"
    assert machine.link("/lib/libx.so").need() == "/lib/libx.so.1"
    assert machine.stat("/lib/libx.so").need().size == 1


OUT = ["/../secret", "/etc/../../secret", "/lib/../../../secret", "/out", "/up", "../secret"]


@pytest.mark.parametrize("path", [*OUT, "/etc/deep/secret"])
def test_nothing_leads_out(root, path):
    (root / "out").symlink_to(root.parent / "secret")
    (root / "up").symlink_to("../secret")
    (root / "etc" / "deep").symlink_to("../../..")
    machine = folder_machine(str(root))
    for answer in (machine.read(path), machine.stat(path), machine.real(path)):
        assert isinstance(answer, Absent)


def test_a_record_does_not_lead_out_either(root):
    site = root / "site"
    (site / "x-1.dist-info").mkdir(parents=True)
    (site / "pack").symlink_to("/../..")
    (site / "x-1.dist-info" / "RECORD").write_text("pack/secret,sha256=x,7\n")
    machine = folder_machine(str(root))
    (one,) = machine.changes("/site/x-1.dist-info/RECORD", "hashes").need().rows
    assert one.how == "missing"
    (gathered,) = machine.gather("/site", r".*info$", "RECORD", "../pack/secret").need()
    assert list(gathered.texts) == ["RECORD"]


def test_loops_are_unknown(root):
    (root / "a").symlink_to("/b")
    (root / "b").symlink_to("/a")
    (root / "self").symlink_to("self/x")
    machine = folder_machine(str(root))
    for path in ("/a", "/a/x", "/self"):
        for question in ("read", "real", "stat", "list"):
            answer = machine.ask(question, path)
            assert isinstance(answer, Unknown), (path, answer)
            assert answer.kind == "loop"


def test_only_files_can_be_asked(root):
    machine = folder_machine(str(root))
    asked = (machine.uname(), machine.environ(), machine.kernel_log())
    for answer in (*asked, machine.call("nvml"), machine.sandbox("/bin/python", "{}")):
        assert isinstance(answer, Unknown)
        assert (answer.kind, bool(answer.how)) == ("offline", True)
    given = folder_machine(str(root), {"CUDA_HOME": "/x", "TOKEN": "y"})
    assert given.environ().need() == {"CUDA_HOME": "/x"}
