"""The system on this machine, in constructed file trees, and in the answers of other machines."""

from __future__ import annotations

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
GIB = 1 << 30
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
        "gpuwhy failed" not in getattr(getattr(around, f), "reason", "")
        for f in around.__struct_fields__
    )


# ---------------------------------------------------------------- file trees


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return FolderMachine(FolderSystem(str(root)))


def test_linux_tree(tmp_path):
    host = tree(
        tmp_path, {"etc/os-release": UBUNTU, "lib/x86_64-linux-gnu/libc-2.31.so": b"\x7fELF"}
    )
    (tmp_path / "lib/x86_64-linux-gnu/libc.so.6").symlink_to("libc-2.31.so")
    around = seen(host)
    assert around.os.need() == "linux"
    assert around.distro.need().title == "Ubuntu 24.04.3 LTS"
    assert around.libc.need().version == "2.31"
    for field in (
        "kernel",
        "machine",
        "container",
        "injected",
        "wsl",
        "shm",
        "open_files_limit",
    ):
        assert isinstance(getattr(around, field), Unknown), field


def test_windows_tree(tmp_path):
    (tmp_path / "Windows/System32").mkdir(parents=True)
    around = seen(FolderMachine(FolderSystem(str(tmp_path))))
    assert around.os.need() == "windows"
    assert not isinstance(around.distro, Known)


def test_banner_of_a_newer_glibc(tmp_path):
    banner = b"\0BUG!\0GNU C Library (Ubuntu GLIBC 2.39-0ubuntu8.4) stable release version 2.39.\nCopyright"
    assert (
        seen(tree(tmp_path, {"lib64/libc.so.6": b"\x7fELF" + banner})).libc.need().version == "2.39"
    )


def test_musl_tree(tmp_path):
    host = tree(
        tmp_path,
        {"lib/ld-musl-x86_64.so.1": b"\x7fELF", "etc/os-release": "NAME='Alpine'\nVERSION=3.20"},
    )
    around = seen(host)
    assert around.libc.need().name == "musl"
    assert around.distro.need().title == "Alpine 3.20"


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


@pytest.mark.parametrize(
    "more, kind",
    [
        ({"stat /.dockerenv": STAT}, "docker"),
        ({"stat /run/.containerenv": STAT}, "podman"),
        ({"environ": {"KUBERNETES_SERVICE_HOST": "set"}, "stat /.dockerenv": STAT}, "kubernetes"),
        ({"stat /var/run/secrets/kubernetes.io": STAT}, "kubernetes"),
        ({"environ": {"APPTAINER_NAME": "set"}}, "singularity"),
        ({"stat /.singularity.d": STAT}, "singularity"),
        ({"read /run/systemd/container": "lxc\n"}, "lxc"),
        ({"read /run/systemd/container": "systemd-nspawn"}, "systemd-nspawn"),
        ({"environ": {"container": "flatpak"}}, "flatpak"),
        ({"read /proc/1/cgroup": "1:cpu:/docker/0123abcd"}, "docker"),
        ({"read /proc/1/cgroup": "0::/lxc.payload.box"}, "lxc"),
    ],
)
def test_kinds_of_container(more, kind):
    assert seen(answers().also(more)).container.need() == kind


def test_wsl_is_not_a_container_although_systemd_says_so():
    assert isinstance(
        seen(answers().also({"read /run/systemd/container": "wsl"})).container, Absent
    )


def test_a_host_that_runs_docker_is_no_container():
    host = answers().also({"read /proc/1/cgroup": "0::/init.scope"})
    around = seen(host)
    assert isinstance(around.container, Absent)
    assert isinstance(around.injected, Absent)


def test_unreadable_environment_leaves_the_container_open():
    around = seen(answers(environ=Unknown("no environment")))
    assert isinstance(around.container, Unknown)
    assert isinstance(around.injected, Unknown)


MOUNT = "812 700 259:1 /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15 {point} ro,nosuid - ext4 /dev/root rw"
NODES = r"list /dev nvidia(\d+|ctl)$|dxg$"


def test_injection_by_the_runtime():
    point = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15"
    host = answers(
        environ={"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
    ).also(
        {
            "stat /.dockerenv": STAT,
            NODES: (Entry("nvidia0", "other"), Entry("nvidiactl", "other")),
            "read /proc/self/mountinfo": MOUNT.format(point=point),
        }
    )
    got = seen(host).injected.need()
    assert (got.devices, got.libraries, got.requested, got.capabilities) == (
        True,
        True,
        "all",
        "compute,utility",
    )


def test_nothing_injected():
    host = answers().also(
        {
            "stat /.dockerenv": STAT,
            NODES: (),
            "read /proc/self/mountinfo": "1 2 0:1 / / rw - overlay",
        }
    )
    got = seen(host).injected.need()
    assert (got.devices, got.libraries, got.requested) == (False, False, "")


def test_a_mount_from_libcuda_to_elsewhere_is_no_library():
    host = answers().also(
        {
            "stat /.dockerenv": STAT,
            NODES: (),
            "read /proc/self/mountinfo": MOUNT.format(point="/mnt/x"),
        }
    )
    assert seen(host).injected.need().libraries is False


def test_singularity_nv():
    host = answers().also(
        {
            "stat /.singularity.d": STAT,
            "stat /.singularity.d/libs/libcuda.so.1": STAT,
            NODES: (Entry("nvidia0", "other"),),
            "read /proc/self/mountinfo": "",
        }
    )
    assert seen(host).injected.need().libraries is True


# ---------------------------------------------------------------- WSL


@pytest.mark.parametrize(
    "release, version",
    [
        ("5.15.90.1-microsoft-standard-WSL2", 2),
        ("4.19.84-microsoft-standard", 2),
        ("4.4.0-19041-Microsoft", 1),
    ],
)
def test_wsl(release, version):
    around = seen(answers(uname=Uname("linux", release, "x86_64")))
    assert around.wsl.need() == version
    assert around.wsl_device.need() is False


def test_wsl_with_a_kernel_of_ones_own():
    around = seen(answers(environ={"WSL_INTEROP": "set"}).also({"stat /dev/dxg": STAT}))
    assert (around.wsl.need(), around.wsl_device.need()) == (2, True)


def test_no_wsl():
    around = seen(answers().also({"stat /dev/dxg": STAT}))
    assert isinstance(around.wsl, Absent)
    assert isinstance(around.wsl_device, Absent)


# ---------------------------------------------------------------- memory and disks

MEMINFO = (
    "MemTotal:       1000000 kB\nMemFree:  100 kB\nMemAvailable:   400000 kB\nSwapCached:  0 kB\n"
)


def test_memory_without_a_limit():
    got = seen(answers().also({"read /proc/meminfo": MEMINFO})).memory.need()
    assert (got.total, got.available) == (1000000 << 10, 400000 << 10)
    assert isinstance(got.limit, Absent)


def test_tightest_limit_of_the_parents_counts_and_file_cache_does_not():
    group = {
        "read /proc/meminfo": MEMINFO,
        "read /proc/self/cgroup": "0::/a/b\n",
        "read /sys/fs/cgroup/a/b/memory.max": "max\n",
        "read /sys/fs/cgroup/a/memory.max": "500000000\n",
        "read /sys/fs/cgroup/a/memory.current": "490000000\n",
        "read /sys/fs/cgroup/a/memory.stat": "anon 90000000\ninactive_file 300000000\nactive_file 100000000\n",
    }
    got = seen(answers().also(group)).memory.need()
    assert (got.limit.need(), got.used_in_limit.need()) == (500000000, 90000000)


def test_first_version_groups_seen_from_inside_a_container():
    group = {
        "read /proc/meminfo": MEMINFO,
        "read /proc/self/cgroup": "4:memory:/docker/0123\n0::/\n",
        "read /sys/fs/cgroup/memory/memory.limit_in_bytes": "300000000\n",
        "read /sys/fs/cgroup/memory/memory.usage_in_bytes": "200000000\n",
        "read /sys/fs/cgroup/memory/memory.stat": "active_file 1\ntotal_inactive_file 50\ntotal_active_file 50\n",
    }
    got = seen(answers().also(group)).memory.need()
    assert (got.limit.need(), got.used_in_limit.need()) == (300000000, 199999900)


def test_the_unlimited_number_of_version_one_is_no_limit():
    group = {
        "read /proc/meminfo": MEMINFO,
        "read /proc/self/cgroup": "4:memory:/\n",
        "read /sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    assert isinstance(seen(answers().also(group)).memory.need().limit, Absent)


# ---------------------------------------------------------------- containers under WSL, and what does not run


WSL = {
    "uname": Uname("linux", "5.15.167.4-microsoft-standard-WSL2", "x86_64"),
    "stat /.dockerenv": STAT,
}
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
