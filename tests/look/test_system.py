"""The system on this machine, in constructed file trees, and in the answers of other machines."""

from gpuwhy.facts.fact import Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.system import System
from gpuwhy.look.system import system
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.machine import Machine

from .machines import Answers

def seen(machine: Machine) -> System:
    return system(machine, Facts())


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return FolderMachine(FolderSystem(str(root)))


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


def test_unreadable_environment_leaves_the_container_open():
    around = seen(Answers(environ=Unknown("no environment")))
    assert isinstance(around.container, Unknown)
    assert isinstance(around.injected, Unknown)
