"""The system on this machine, in constructed file trees, and in the answers of other machines."""

import os

import pytest

from gpuwhy.facts.fact import Absent, Known, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.system import System
from gpuwhy.look.system import system
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.machine import Entry, Machine, Stat, Uname, key_of

from .machines import Answers

UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n'
STAT = Stat("file", 0, "-rw-r--r--", 0.0)


def seen(machine: Machine) -> System:
    return system(machine, Facts())


def answers(**more) -> Answers:
    return Answers(**more)


def test_this_machine():
    around = seen(LiveMachine())
    assert around.os.need() == "linux"
    assert around.kernel.need() == os.uname().release
    assert around.machine.need() == os.uname().machine
    assert around.open_files_limit.need() > 0
    assert around.uptime.need() > 0
    assert around.booted.need() > 1_000_000_000
    memory = around.memory.need()
    assert 0 < memory.available <= memory.total
    assert all(
        "gpuwhy failed" not in getattr(getattr(around, f), "reason", "") for f in around.__struct_fields__
    )


# ---------------------------------------------------------------- file trees


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return FolderMachine(FolderSystem(str(root)))


def test_linux_tree(tmp_path):
    host = tree(tmp_path, {"etc/os-release": UBUNTU, "lib/x86_64-linux-gnu/libc-2.31.so": b"\x7fELF"})
    (tmp_path / "lib/x86_64-linux-gnu/libc.so.6").symlink_to("libc-2.31.so")
    around = seen(host)
    assert around.os.need() == "linux"
    assert around.distro.need().title == "Ubuntu 24.04.3 LTS"
    assert around.libc.need().version == "2.31"
    for field in ("kernel", "machine", "container", "injected", "wsl", "shm", "open_files_limit"):
        assert isinstance(getattr(around, field), Unknown), field


def test_windows_tree(tmp_path):
    (tmp_path / "Windows/System32").mkdir(parents=True)
    around = seen(FolderMachine(FolderSystem(str(tmp_path))))
    assert around.os.need() == "windows"
    assert not isinstance(around.distro, Known)


def test_garbage_everywhere_is_unknown_not_a_crash(tmp_path):
    junk = b"\xff\xfe\x00junk\n" * 50
    names = (
        "etc/os-release",
        "lib64/libc.so.6",
        "proc/meminfo",
        "proc/uptime",
        "proc/stat",
        "proc/self/cgroup",
    )
    around = seen(tree(tmp_path, dict.fromkeys(names, junk)))
    for field in ("distro", "libc", "memory", "uptime"):
        assert isinstance(getattr(around, field), Unknown), field
        assert "gpuwhy failed" not in getattr(around, field).reason
    assert isinstance(around.booted, Unknown)


# ---------------------------------------------------------------- container


def test_unreadable_environment_leaves_the_container_open():
    around = seen(answers(environ=Unknown("no environment")))
    assert isinstance(around.container, Unknown)
    assert isinstance(around.injected, Unknown)


# ---------------------------------------------------------------- containers under WSL, and what does not run


WSL = {"uname": Uname("linux", "5.15.167.4-microsoft-standard-WSL2", "x86_64"), "stat /.dockerenv": STAT}
STORE = "834 824 0:36 /nv.inf/{0} /usr/lib/wsl/drivers/nv.inf/{0} ro - 9p drivers ro"


@pytest.mark.parametrize(
    "mounts, lacking",
    [
        ((STORE.format("libcuda.so.1.1"),), ("libnvdxgdmal.so.1",)),
        ((STORE.format("libcuda.so.1.1"), STORE.format("libnvdxgdmal.so.1")), ()),
        (("120 80 0:45 / /usr/lib/wsl ro - overlay none ro",), ()),
    ],
)
def test_what_an_old_container_toolkit_leaves_out_under_wsl(mounts, lacking):
    devices = (Entry("dxg", "other"),)
    host = answers().also(
        WSL
        | {key_of("list", ("/dev", r"nvidia(\d+|ctl)$|dxg$")): devices}
        | {"lines /proc/self/mountinfo libcuda.so /usr/lib/wsl": mounts}
    )
    given = seen(host).injected.need()
    assert (given.libraries, given.lacking) == (True, lacking)


def test_a_folder_and_a_running_machine_are_told_apart(tmp_path):
    assert seen(FolderMachine(FolderSystem(str(tmp_path)))).offline.need().kind == "folder"
    assert isinstance(seen(LiveMachine()).offline, Absent)
