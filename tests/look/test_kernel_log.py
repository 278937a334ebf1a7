"""The kernel log: what is read of its lines, and what is taken out of them."""

from gpuwhy.facts.fact import Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.look.kernel_log import kernel_log

from .machines import Answers


def lines(*raw):
    return kernel_log(Answers(kernel_log=raw), Facts()).need()


def test_what_is_read_of_lines_and_what_is_taken_out_of_them():
    """Times, addresses, Xids and numbers of processes stay; names of users, groups and jobs go."""
    read = lines(
        "[ 9123.4567] NVRM: Xid (PCI:0000:3B:00): 79, pid=4242, name=secret_job, GPU has fallen off the bus.",
        "[ 9124.0] nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 20034, Fatal, Link 28 LTSSM Fault Up",
        "[ 9125.0] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Mon Jun  2 13:13:04",
        "[ 9126.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/user/alice,task=py,pid=7,uid=1000",
        "[ 9126.1] Memory cgroup out of memory: Killed process 77 (python3) total-vm:9kB, anon-rss:12582912kB, UID:1000",
        "[ 9127.0] NVRM: Xid (PCI:0000:01:00): 13, pid='<unknown>', name=<unknown>, Graphics Exception",
    )
    assert [(one.xid, one.pci, one.pid) for one in read] == [
        (79, "0000:3b:00.0", 4242), (None, "0000:c2:00.0", 0), (None, "", 0), (None, "", 0), (None, "", 77),
        (13, "0000:01:00.0", 0),
    ]  # fmt: skip
    assert read[0].seconds == 9123.4567
    assert read[0].text == "NVRM: Xid (PCI:0000:3B:00): 79, GPU has fallen off the bus."
    killed = ["oom-kill: CONSTRAINT_MEMCG", "Out of memory: killed python3, which held 12.0 GiB"]
    assert [one.text for one in read[3:5]] == killed
    crash, fault = lines(
        "[ 3.0] CPU: 3 PID: 4242 Comm: secret Tainted: P OE nvidia",
        "[ 4.0] secret[4242]: segfault at 0 ip 0 in libnvidia-ml.so.1",
    )
    assert ("4242" in crash.text + fault.text, "secret" in crash.text) == (False, False)


def test_a_crash_loop_of_many_processes_does_not_push_out_the_rest():
    rows = (
        f"[ {n}.0] NVRM: Xid (PCI:0000:01:00): 31, pid={n}, name=python, MMU fault" for n in range(1, 300)
    )
    got = lines("[ 0.5] NVRM: loading NVIDIA UNIX Open Kernel Module", *rows)
    assert len(got) == 9
    assert [line.pid for line in got][-2:] == [298, 299]


def test_no_dmesg_is_unknown_not_silence():
    for log in (None, Unknown("not permitted")):
        assert isinstance(kernel_log(Answers(kernel_log=log), Facts()), Unknown)
