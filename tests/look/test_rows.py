"""Facts of the driver and of the system that one or two files decide: rows.toml, each walked here."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.fact import Absent, Known, Unknown, known
from gpuwhy.facts.facts import Facts
from gpuwhy.look.driver import driver
from gpuwhy.look.system import system
from gpuwhy.machine.machine import Uname

from .machines import RUNNING, Answers, Made

ROWS = msgspec.toml.decode((Path(__file__).parent / "rows.toml").read_bytes())["row"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_row(row: dict[str, Any], tmp_path: Path) -> None:
    machine = Made(tmp_path, **row.get("environ", {}))
    for path, text in row.get("files", {}).items():
        machine.write(path, text)
    for path, target in row.get("links", {}).items():
        machine.symlink(path, target)
    for path in row.get("folders", ()):
        machine.folder(path)
    if kernel := row.get("kernel"):
        machine.answers["uname",] = known(Uname("linux", kernel, "x86_64"), "call", "uname")
    subject, _, field = row["field"].partition(".")
    record = driver(machine, RUNNING) if subject == "driver" else system(machine, Facts())
    fact = getattr(record, field)
    if state := row.get("state"):
        assert isinstance(fact, Absent if state == "absent" else Unknown), fact
        assert getattr(fact, "how", "") == row.get("how", getattr(fact, "how", ""))
        assert "gpuwhy failed" not in getattr(fact, "reason", "")
        return
    assert isinstance(fact, Known), fact
    assert "has" not in row or holds(plain(fact), row["has"])
    assert "is" not in row or plain(fact) == row["is"]


def plain(value: Any) -> Any:
    """A fact's value, with the facts in it as their values or their states."""
    if isinstance(value, Absent):
        return "absent"
    if isinstance(value, Known):
        return plain(value.value)
    if isinstance(value, msgspec.Struct):
        pairs = {name: plain(getattr(value, name)) for name in value.__struct_fields__}
        return {name: one for name, one in pairs.items() if one not in ("", ())}
    return [plain(one) for one in value] if isinstance(value, tuple) else value


def holds(found: Any, wanted: Any) -> bool:
    """Whether a value has at least the wanted fields."""
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(holds, found, wanted))
    return all(found.get(name, "") == value for name, value in wanted.items())


def test_garbage_everywhere_is_unknown_not_a_crash(machine: Made) -> None:
    names = ("etc/os-release", "lib64/libc.so.6", "proc/meminfo", "proc/uptime", "proc/stat", "proc/self/cgroup")
    for name in names:
        machine.write(f"/{name}", b"\xff\xfe\x00junk\n" * 50)
    around = system(machine, Facts())
    for field in ("distro", "libc", "memory", "uptime", "booted"):
        assert isinstance(getattr(around, field), Unknown), field
        assert "gpuwhy failed" not in getattr(around, field).reason


def test_unreadable_environment_leaves_the_container_open() -> None:
    around = system(Answers(environ=Unknown("no environment")), Facts())
    assert (type(around.container), type(around.injected)) == (Unknown, Unknown)
