"""Surroundings on this machine, in constructed file trees, and in the answers of machines that are not here."""

from __future__ import annotations

import os

import pytest

from gpuwhy.host.base import Disk, Entry, Host, Stat, Uname, question
from gpuwhy.host.live import LiveHost
from gpuwhy.host.root import RootHost
from gpuwhy.model.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Surroundings
from gpuwhy.observe.engine import guarded, place
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.surroundings import LOOKS

UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\n'
GIB = 1 << 30


class Answers(Host):
    """A Linux machine on the metal; what is not in `answers` is not there."""

    def __init__(self, **answers):
        self.answers = {
            "uname": Uname("linux", "6.8.0-31-generic", "x86_64"),
            "environ": {},
            "kernel_log": (),
        } | {key.replace("__", " "): value for key, value in answers.items()}

    def also(self, answers):
        self.answers |= answers
        return self

    def ask(self, op, *args):
        key = question(op, args)
        if key not in self.answers and op == "lines" and f"read {args[0]}" in self.answers:
            text = self.answers[f"read {args[0]}"]
            return Known(tuple(ln for ln in text.splitlines() if any(a in ln for a in args[1:])), Source("file", key))
        value = self.answers.get(key)
        if isinstance(value, Unknown):
            return value
        return Absent(Source("file", key)) if value is None else Known(value, Source("file", key))


def seen(host: Host) -> Surroundings:
    scene = Scene(host, Options())
    for look in LOOKS:
        place(scene, look, guarded(scene, look))
    return scene.facts.surroundings


def answers(**more) -> Answers:
    return Answers(**more)


STAT = Stat("file", 0, "-rw-r--r--", 0.0)


def test_every_field_is_looked_at_once():
    assert sorted(look.field for look in LOOKS) == sorted(Surroundings.__struct_fields__)
    assert {look.subject for look in LOOKS} == {"surroundings"}


def test_this_machine():
    around = seen(LiveHost())
    assert around.system.need() == "linux"
    assert around.kernel.need() == os.uname().release
    assert around.machine.need() == os.uname().machine
    assert around.open_files_limit.need() > 0
    assert around.uptime.need() > 0
    assert around.booted.need() > 1_000_000_000
    memory = around.memory.need()
    assert 0 < memory.available <= memory.total
    assert all("gpuwhy failed" not in getattr(getattr(around, f), "reason", "") for f in around.__struct_fields__)


def test_this_machines_glibc_is_the_one_python_runs_on():
    try:
        name = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        pytest.skip("not glibc")
    assert seen(LiveHost()).libc == Known(name, seen(LiveHost()).libc.source)


# ---------------------------------------------------------------- file trees


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return RootHost(str(root))


def test_linux_tree(tmp_path):
    host = tree(tmp_path, {"etc/os-release": UBUNTU, "lib/x86_64-linux-gnu/libc-2.31.so": b"\x7fELF"})
    (tmp_path / "lib/x86_64-linux-gnu/libc.so.6").symlink_to("libc-2.31.so")
    around = seen(host)
    assert around.system.need() == "linux"
    assert around.distribution.need() == "Ubuntu 24.04.3 LTS"
    assert around.libc.need() == "glibc 2.31"
    for field in ("kernel", "machine", "container", "injected", "wsl", "shm", "disks", "open_files_limit"):
        assert isinstance(getattr(around, field), Unknown), field


def test_windows_tree(tmp_path):
    (tmp_path / "Windows/System32").mkdir(parents=True)
    around = seen(RootHost(str(tmp_path)))
    assert around.system.need() == "windows"
    assert isinstance(around.distribution, Absent)


def test_banner_of_a_newer_glibc(tmp_path):
    banner = b"\0BUG!\0GNU C Library (Ubuntu GLIBC 2.39-0ubuntu8.4) stable release version 2.39.\nCopyright"
    assert seen(tree(tmp_path, {"lib64/libc.so.6": b"\x7fELF" + banner})).libc.need() == "glibc 2.39"


def test_musl_tree(tmp_path):
    host = tree(tmp_path, {"lib/ld-musl-x86_64.so.1": b"\x7fELF", "etc/os-release": "NAME='Alpine'\nVERSION=3.20"})
    around = seen(host)
    assert around.libc.need() == "musl"
    assert around.distribution.need() == "Alpine 3.20"


@pytest.mark.parametrize(
    "line, said", [('ID_LIKE="ubuntu debian"', "ubuntu debian"), ("ID_LIKE=arch", "arch"), ("ID=gentoo", None)]
)
def test_what_a_distribution_is_like(tmp_path, line, said):
    around = seen(tree(tmp_path, {"etc/os-release": f"NAME=Some\n{line}\n"}))
    assert value_or(around.resembles, None) == said
    assert isinstance(around.resembles, Known if said else Absent)


def test_garbage_everywhere_is_unknown_not_a_crash(tmp_path):
    junk = b"\xff\xfe\x00junk\n" * 50
    names = ("etc/os-release", "lib64/libc.so.6", "proc/meminfo", "proc/uptime", "proc/stat", "proc/self/cgroup")
    around = seen(tree(tmp_path, dict.fromkeys(names, junk)))
    for field in ("distribution", "libc", "memory", "uptime"):
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
    assert isinstance(seen(answers().also({"read /run/systemd/container": "wsl"})).container, Absent)


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
    host = answers(environ={"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}).also(
        {
            "stat /.dockerenv": STAT,
            NODES: (Entry("nvidia0", "other"), Entry("nvidiactl", "other")),
            "read /proc/self/mountinfo": MOUNT.format(point=point),
        }
    )
    got = seen(host).injected.need()
    assert (got.devices, got.libraries, got.requested, got.capabilities) == (True, True, "all", "compute,utility")


def test_nothing_injected():
    host = answers().also(
        {"stat /.dockerenv": STAT, NODES: (), "read /proc/self/mountinfo": "1 2 0:1 / / rw - overlay"}
    )
    got = seen(host).injected.need()
    assert (got.devices, got.libraries, got.requested) == (False, False, "")


def test_a_mount_from_libcuda_to_elsewhere_is_no_library():
    host = answers().also(
        {"stat /.dockerenv": STAT, NODES: (), "read /proc/self/mountinfo": MOUNT.format(point="/mnt/x")}
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


def test_device_rules():
    rules = {
        "read /proc/self/cgroup": "5:devices:/docker/01\n",
        "read /sys/fs/cgroup/devices/devices.list": "c 195:* m\n",
    }
    assert seen(answers().also(rules)).cgroup_devices.need() == "c 195:* m"
    second = answers().also({"stat /sys/fs/cgroup/cgroup.controllers": STAT})
    assert isinstance(seen(second).cgroup_devices, Unknown)
    assert isinstance(seen(answers()).cgroup_devices, Absent)


# ---------------------------------------------------------------- WSL and virtual machines


@pytest.mark.parametrize(
    "release, version",
    [("5.15.90.1-microsoft-standard-WSL2", "2"), ("4.19.84-microsoft-standard", "2"), ("4.4.0-19041-Microsoft", "1")],
)
def test_wsl(release, version):
    around = seen(answers(uname=Uname("linux", release, "x86_64")))
    assert around.wsl.need() == version
    assert around.wsl_device.need() is False
    assert around.vm.need() == "hyperv"


def test_wsl_with_a_kernel_of_ones_own():
    around = seen(answers(environ={"WSL_INTEROP": "set"}).also({"stat /dev/dxg": STAT}))
    assert (around.wsl.need(), around.wsl_device.need()) == ("2", True)


def test_no_wsl():
    around = seen(answers().also({"stat /dev/dxg": STAT}))
    assert isinstance(around.wsl, Absent)
    assert isinstance(around.wsl_device, Absent)


@pytest.mark.parametrize(
    "vendor, product, platform",
    [
        ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "kvm"),
        ("Amazon EC2", "p5.48xlarge", "amazon"),
        ("Amazon EC2", "g4dn.metal", None),
        ("Google", "Google Compute Engine", "google"),
        ("Microsoft Corporation", "Virtual Machine", "hyperv"),
        ("Microsoft Corporation", "Surface Book 3", None),
        ("VMware, Inc.", "VMware7,1", "vmware"),
        ("Dell Inc.", "PowerEdge XE9680", None),
    ],
)
def test_virtual_machines(vendor, product, platform):
    dmi = {"read /sys/class/dmi/id/sys_vendor": f"{vendor}\n", "read /sys/class/dmi/id/product_name": f"{product}\n"}
    assert seen(answers().also(dmi)).vm.need() == platform


def test_no_dmi_is_unknown_not_metal():
    assert isinstance(seen(answers()).vm, Unknown)


# ---------------------------------------------------------------- memory and disks

MEMINFO = "MemTotal:       1000000 kB\nMemFree:  100 kB\nMemAvailable:   400000 kB\nSwapCached:  0 kB\n"


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


def test_disks_once_per_file_system():
    home, other = Disk(100 * GIB, 50 * GIB), Disk(200 * GIB, 1 * GIB)
    host = answers(environ={"TRITON_CACHE_DIR": "/scratch/triton/x", "JAX_COMPILATION_CACHE_DIR": "gs://bucket"})
    host.also({"disk ~": home, "disk ~/.cache": home, "disk /tmp": home, "disk /scratch": other})
    assert [s.path for s in seen(host).disks.need()] == ["~", "/scratch"]


# ---------------------------------------------------------------- kernel log


def lines(*raw):
    return seen(answers(kernel_log=raw)).kernel_log.need()


def test_xid_without_its_process():
    (line,) = lines(
        "[ 9123.4567] NVRM: Xid (PCI:0000:3B:00): 79, pid=4242, name=secret_job, GPU has fallen off the bus."
    )
    assert (line.xid, line.pci, line.seconds) == (79, "0000:3b:00.0", 9123.4567)
    assert line.text == "NVRM: Xid (PCI:0000:3B:00): 79, GPU has fallen off the bus."


def test_xid_without_names():
    (line,) = lines("[    5.1] NVRM: Xid (PCI:0000:01:00): 13, pid='<unknown>', name=<unknown>, Graphics Exception")
    assert line.text == "NVRM: Xid (PCI:0000:01:00): 13, Graphics Exception"


def test_a_switchs_sxid_is_no_xid():
    (line,) = lines("[ 1.0] nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 20034, Fatal, Link 28 LTSSM Fault Up")
    assert (line.xid, line.pci) == (None, "0000:c2:00.0")


def test_continued_message_keeps_time_and_address():
    got = lines(
        "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0",
        "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
        "               NVRM: fallen off the bus and is not responding to commands.",
    )
    assert {(line.seconds, line.pci) for line in got} == {(1843.308145, "0000:b3:00.0")}


def test_out_of_memory_killer_without_users_and_groups():
    got = lines(
        "[ 70.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/user/alice,task=py,pid=7,uid=1000",
        "[ 70.1] Memory cgroup out of memory: Killed process 77 (python3) total-vm:9kB, anon-rss:12582912kB, UID:1000",
    )
    texts = [line.text for line in got]
    assert texts == ["oom-kill: CONSTRAINT_MEMCG", "Out of memory: killed python3, which held 12.0 GiB"]


def test_crash_lines_lose_their_process():
    got = lines(
        "[ 3.0] CPU: 3 PID: 4242 Comm: secret Tainted: P OE nvidia",
        "[ 4.0] secret[4242]: segfault at 0 ip 0 in libnvidia-ml.so.1",
    )
    assert "4242" not in got[0].text + got[1].text
    assert "secret" not in got[0].text


def test_a_build_time_is_no_address():
    (line,) = lines("[ 2.0] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Mon Jun  2 13:13:04")
    assert line.pci == ""


def test_repeated_lines_are_kept_once_with_the_latest_time():
    got = lines(*(f"[ {n}.0] NVRM: Xid (PCI:0000:01:00): 31, pid=7, MMU fault" for n in range(300)))
    assert [(line.seconds, line.xid, line.pid) for line in got] == [(299.0, 31, 7)]


def test_a_crash_loop_of_many_processes_does_not_push_out_the_rest():
    rows = (f"[ {n}.0] NVRM: Xid (PCI:0000:01:00): 31, pid={n}, name=python, MMU fault" for n in range(1, 300))
    got = lines("[ 0.5] NVRM: loading NVIDIA UNIX Open Kernel Module", *rows)
    assert len(got) == 9
    assert [line.pid for line in got][-2:] == [298, 299]


def test_the_processes_of_lines_by_their_numbers_only():
    got = lines(
        "[ 70.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/user/alice,task=py,pid=7,uid=1000",
        "[ 70.1] Memory cgroup out of memory: Killed process 77 (python3) total-vm:9kB, anon-rss:12582912kB, UID:1000",
        "[ 71.0] NVRM: Xid (PCI:0000:01:00): 13, pid='4242', name=train, Graphics Exception",
        "[ 72.0] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    )
    assert [line.pid for line in got] == [0, 77, 4242, 0]
    assert "train" not in "".join(line.text for line in got)


def test_no_dmesg_is_unknown_not_silence():
    assert isinstance(seen(answers(kernel_log=None)).kernel_log, Unknown)
    assert isinstance(seen(answers(kernel_log=Unknown("not permitted"))).kernel_log, Unknown)


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
        | {question("list", ("/dev", r"nvidia(\d+|ctl)$|dxg$")): devices}
        | {"lines /proc/self/mountinfo libcuda.so /usr/lib/wsl": mounts}
    )
    given = seen(host).injected.need()
    assert (given.libraries, given.lacking) == (True, lacking)


def test_a_folder_and_a_running_machine_are_told_apart(tmp_path):
    assert seen(RootHost(str(tmp_path))).offline.need() == "a folder"
    assert isinstance(seen(LiveHost()).offline, Absent)
