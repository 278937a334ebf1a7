"""The looks as a whole: guarded, timed, in order; the recorded hosts; what they load."""

import os
import subprocess
import sys
import time
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.fact import Known, Unknown, known, source_of
from gpuwhy.facts.facts import dump
from gpuwhy.facts.system import System
from gpuwhy.look import look as module
from gpuwhy.look.look import Look, Options, look, look_by_importing
from gpuwhy.machine.machine import Machine
from tests.look.world import SITE, World


class Steps:
    """Looks of this test in the place of the real ones."""

    @staticmethod
    def raises(*_: Any) -> Any:
        raise RuntimeError("broken")

    @staticmethod
    def hangs(*_: Any) -> Any:
        time.sleep(30)

    @staticmethod
    def needs(machine: Any, facts: Any, options: Any) -> Any:
        return facts.system.kernel.need()

    @staticmethod
    def works(*_: Any) -> Any:
        return known("6.1", "call", "uname")

    @staticmethod
    def subject(*_: Any) -> System:
        return System(machine=known("x86_64", "call", "uname"))


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(module, "import_module", lambda name: Steps)

    def use(*rows: Look) -> None:
        monkeypatch.setattr(module, "LOOKS", rows)

    return use


def test_a_look_that_raises_or_hangs_costs_itself_alone(steps: Any) -> None:
    steps(
        Look("system", "x:subject"),
        Look("system.os", "x:raises"),
        Look("system.distro", "x:hangs", 0.05),
        Look("system.libc", "x:needs"),
        Look("system.kernel", "x:works"),
    )
    system = look(Machine()).system
    assert isinstance(system.os, Unknown)
    assert "RuntimeError: broken (test_look.py:" in system.os.reason
    assert system.distro == Unknown("no answer within 0.05 s")
    assert system.libc == Unknown("not observed")
    assert isinstance(system.kernel, Known)
    assert isinstance(system.machine, Known)
    steps(Look("system", "x:raises"))
    record = look(Machine()).system
    assert all(isinstance(getattr(record, f), Unknown) for f in record.__struct_fields__)


def test_without_its_option_nothing_is_imported(world: World) -> None:
    world.install("torch", "2.6.0", {"torch/version.py": "cuda = None"})
    machine = world.machine()
    options = Options()
    facts = look_by_importing(machine, look(machine, options), options)
    assert facts.imports.tried == Unknown("not observed")
    asked = {one[0] for one in machine.asked}
    assert not asked & {"sandbox", "python"}


def test_loading_the_looks_compiles_no_expression_and_loads_nothing_heavy() -> None:
    names = ("environment.python", "environment.packages", "frameworks.installed")
    names += ("installs.damage", "installs.startup", "look")
    code = (
        "import re, sys\nimport gpuwhy.machine.live\nmade, before = [], set(sys.modules)\n"
        "old = re._compile\n"
        "def compiled(pattern, flags):\n"
        "    frame = sys._getframe(1)\n"
        "    while frame.f_globals['__name__'] == 're': frame = frame.f_back\n"
        "    made.append(frame.f_globals['__name__'])\n"
        "    return old(pattern, flags)\nre._compile = compiled\n"
        + "".join(f"import gpuwhy.look.{name}\n" for name in names)
        + "print([one for one in made if one.startswith('gpuwhy.look')])\n"
        "heavy = {'packaging', 'difflib', 'urllib', 'email', 'ctypes', 'subprocess',"
        " 'concurrent.futures', 'importlib.metadata'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"], done.stdout


def test_bytes_that_are_no_text_cost_nothing(world: World) -> None:
    site = world.root / SITE[1:]
    bad = b"\xff\xfe\xe9"
    folder = world.install("torch", "2.6.0", {"torch/version.py": b"cuda = '12" + bad + b"'"})
    for name in ("METADATA", "WHEEL", "RECORD", "INSTALLER", "direct_url.json"):
        text = b"Name: torch\nVersion: 2\nTag: %s\nRequires-Dist: x%s\na%s.so,sha256=x,1\n"
        world.file(f"{folder}/{name}", text.replace(b"%s", bad))
    (site / os.fsdecode(b"n" + bad + b"-1.0.dist-info")).mkdir()
    (site / os.fsdecode(b"z" + bad + b".pth")).write_bytes(b"import " + bad)
    world.file(f"{SITE}/sitecustomize.py", b"os.environ['CUDA_HOME'] = '" + bad + b"'\n")
    world.file("/venv/bin/activate", b"export XLA_FLAGS=" + bad + b"\n")
    assert world.environ is not None
    world.environ |= {"LD_LIBRARY_PATH": os.fsdecode(bad), "CUDA_HOME": os.fsdecode(b"/" + bad)}
    facts = world.look("environment", "frameworks", "installs", "variables")
    assert msgspec.json.encode(dump(facts))


def test_where_the_file_system_is_slow_libraries_come_first_and_the_rest_is_told(world: World) -> None:
    files: dict[str, bytes | str] = {"torch/lib/libc10.so": "x", "torch/a.py": "x"}
    world.install("torch", "2.6.0", files)
    for name in files:
        (world.root / f"{SITE}/{name}"[1:]).unlink()
    damage = world.look(seconds=5.0).installs.damage
    assert len(damage.need() or ()) == 2
    damage = world.look(seconds=-1.0).installs.damage
    assert [one.path for one in damage.need() or ()] == [f"{SITE}/torch/lib/libc10.so"]
    assert "only libraries of torch" in source_of(damage).detail
