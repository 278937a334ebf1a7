"""The kernel log: what is read of its lines, and what is taken out of them."""

from gpuwhy.facts.fact import Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.look.kernel_log import kernel_log

from .machines import Answers


def lines(*raw):
    return kernel_log(Answers(kernel_log=raw), Facts()).need()


def test_xid_without_its_process():
    (line,) = lines(
        "[ 9123.4567] NVRM: Xid (PCI:0000:3B:00): 79, pid=4242, name=secret_job, GPU has fallen off the bus."
    )
    assert (line.xid, line.pci, line.seconds) == (79, "0000:3b:00.0", 9123.4567)
    assert line.text == "NVRM: Xid (PCI:0000:3B:00): 79, GPU has fallen off the bus."


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
    (line,) = lines(
        "[ 2.0] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Mon Jun  2 13:13:04"
    )
    assert line.pci == ""


def test_repeated_lines_are_kept_once_with_the_latest_time():
    got = lines(*(f"[ {n}.0] NVRM: Xid (PCI:0000:01:00): 31, pid=7, MMU fault" for n in range(300)))
    assert [(line.seconds, line.xid, line.pid) for line in got] == [(299.0, 31, 7)]


def test_a_crash_loop_of_many_processes_does_not_push_out_the_rest():
    rows = (
        f"[ {n}.0] NVRM: Xid (PCI:0000:01:00): 31, pid={n}, name=python, MMU fault" for n in range(1, 300)
    )
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
    for log in (None, Unknown("not permitted")):
        assert isinstance(kernel_log(Answers(kernel_log=log), Facts()), Unknown)
