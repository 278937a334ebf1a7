"""`--import`: what the sandbox's lines become, what is tried again, and one real environment."""

import os
import sys
import venv
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.answer.checked import unseen
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.imports import Ended, Imports, Tried, WithoutKind
from gpuwhy.facts.installs import DamageKind
from gpuwhy.look.look import Options, look, look_by_importing
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.sandbox import Order
from tests.look.world import SITE, FakeMachine, World

HELD = {"isolation": {"writes": "held", "network": "partly", "processes": "held", "why": {}}}
GOOD = {"ok": True, "ms": 1500.0, "file": "/x/torch/__init__.py", "version": "2.6.0"}
BAD = {"ok": False, "ms": 10.0, "error": "ImportError", "words": "no", "files": ["/x.py"]}


class Sandbox(FakeMachine):
    """Answers orders by a function of them."""

    def __init__(self, world: World, answer: Any) -> None:
        super().__init__(world)
        self.answer = answer
        self.orders: list[Order] = []

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        if question != "sandbox":
            return super().ask(question, *args)
        order = msgspec.json.decode(args[1], type=Order)
        self.orders.append(order)
        return Known(tuple(self.answer(order)), Source("call", args[0]))


def tried(world: World, answer: Any) -> tuple[list[Tried], Sandbox, Imports]:
    world.install("torch", "2.6.0", {"torch/__init__.py": "x", "torch/version.py": "cuda = None"})
    world.install("torchvision", "0.21", {"torchvision/__init__.py": "x"})
    machine = Sandbox(world, answer)
    options = Options(imports=True)
    facts = look(machine, options, ("environment", "frameworks", "installs"))
    facts = look_by_importing(machine, facts, options)
    return list(facts.imports.tried.need() or ()), machine, facts.imports


def test_a_framework_and_what_is_compiled_against_it(world: World) -> None:
    lines = [HELD, *({"begins": n} for n in range(3)), *({"try": n, **GOOD} for n in range(3))]
    found, machine, imports = tried(world, lambda order: [*lines, {"ended": {"code": 0}}])
    assert [(one.kind, one.module, one.ended) for one in found] == [
        ("import", "torch", Ended.WELL),
        ("compute", "torch", Ended.WELL),
        ("import", "torchvision", Ended.WELL),
    ]
    assert (found[0].seconds, found[0].version) == (1.5, "2.6.0")
    assert len(machine.orders) == 1
    assert isinstance(imports.isolation, Known)
    assert imports.isolation.value.network == "partly"


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        (BAD, Ended.RAISED),
        ({**BAD, "errno": 13}, Ended.ISOLATION),
        ({**BAD, "errno": 101}, Ended.ISOLATION),
        ({**BAD, "words": "libcuda.so.1: cannot open shared object file"}, Ended.WANTS_DRIVER),
        ({**BAD, "words": "No module named pynvml"}, Ended.RAISED),
    ],
)
def test_what_is_evidence(world: World, line: dict[str, Any], ended: Ended) -> None:
    lines = [HELD, {"begins": 0}, {"try": 0, **line}, {"ended": {"code": 0}}]
    found, _, _ = tried(world, lambda order: lines)
    assert [one.ended for one in found] == [ended]
    assert found[0].failed == (ended is Ended.RAISED)


@pytest.mark.parametrize(
    ("end", "ended", "signal"),
    [
        ({"code": -11}, Ended.CRASHED, "SIGSEGV"),
        ({"code": 3}, Ended.CRASHED, ""),
        ({"code": None, "late": True}, Ended.TIMED_OUT, ""),
        ({"code": None, "memory": True}, Ended.TOO_LARGE, ""),
    ],
)
def test_how_a_process_ends(world: World, end: dict[str, Any], ended: Ended, signal: str) -> None:
    lines = [HELD, {"begins": 0}, {"said": 'File "/a/b.py", line 3'}, {"ended": end}]
    found, _, _ = tried(world, lambda order: lines)
    assert [(one.ended, one.signal) for one in found] == [(ended, signal)]
    assert ended is not Ended.CRASHED or found[0].files == ("/a/b.py",)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"code": None, "late": True}, "its Python did not begin within 60 s"),
        ({"code": 3}, "its Python did not begin: it ended with code 3"),
    ],
)
def test_a_python_that_never_begins_is_no_tick(world: World, end: dict[str, Any], words: str) -> None:
    found, _, imports = tried(world, lambda order: [HELD, {"ended": end}])
    assert [(one.ended, one.words) for one in found] == [(Ended.NOT_TRIED, words)]
    assert any(words in line for line in unseen(msgspec.structs.replace(Facts(), imports=imports)))


def failing_unless(fine: Any) -> Any:
    return lambda order: [HELD, {"begins": 0}, {"try": 0, **(GOOD if fine(order) else BAD)}, {"ended": {}}]


def test_the_variable_without_which_it_works(world: World) -> None:
    assert world.environ is not None
    world.environ |= {"LD_LIBRARY_PATH": "/good:/bad", "TF_X": "1", "HOME": "/home/user"}

    def fine(order: Order) -> bool:
        value = order.change.get("LD_LIBRARY_PATH", "/good:/bad")
        return "LD_LIBRARY_PATH" in order.unset or "/bad" not in value

    found, machine, _ = tried(world, failing_unless(fine))
    without = found[0].without
    assert (without.kind, without.name) == (WithoutKind.VARIABLE, "LD_LIBRARY_PATH")
    assert without.part == "/bad"
    assert all("HOME" not in order.unset for order in machine.orders)


def test_the_start_file_with_which_it_fails(world: World) -> None:
    world.file(f"{SITE}/bad.pth", "import x\n")
    world.file(f"{SITE}/good.pth", "import y\n")

    def fine(order: Order) -> bool:
        return "start files" in order.without and not order.start_file.endswith("bad.pth")

    found, _, _ = tried(world, failing_unless(fine))
    assert found[0].without.kind is WithoutKind.START_FILE
    assert found[0].without.name == f"{SITE}/bad.pth"


def test_without_a_framework_and_of_files_alone_nothing_is_imported(world: World) -> None:
    def tried() -> Fact[Any]:
        machine, options = world.machine(), Options(imports=True)
        facts = look(machine, options, ("environment", "frameworks"))
        return look_by_importing(machine, facts, options).imports.tried

    assert isinstance(tried(), Absent)
    world.offline = True
    world.install("torch", "2.6.0", {"torch/version.py": "cuda = None"})
    assert (type(tried()), tried().kind) == (Unknown, "offline")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox")
def test_a_real_environment(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name, code in (("torch", "from . import gone"), ("onnxruntime", "__version__ = '1.2'")):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text(code + "\n")
        (site / name / "version.py").write_text("cuda = None\n")
        info = site / f"{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.2\n")
    machine = LiveMachine({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    options = Options(python=str(folder), imports=True)
    facts = look(machine, options, ("environment", "frameworks", "installs"))
    found = look_by_importing(machine, facts, options).imports.tried.need() or ()
    ended = [(one.module, one.ended) for one in found]
    assert ended == [("torch", Ended.RAISED), ("onnxruntime", Ended.WELL)]
    assert found[0].error == "ImportError"
    assert f"{site}/torch/__init__.py" in found[0].files


@pytest.mark.parametrize(
    ("error", "kind"), [("SyntaxError", DamageKind.NOT_COMPILING), ("NameError", DamageKind.EDITED)]
)
def test_a_file_on_the_way_to_a_failure_is_compared(world: World, error: str, kind: DamageKind) -> None:
    files: dict[str, bytes | str] = {"torch/__init__.py": "x", "torch/deep/er/est/a.py": "good"}
    world.install("torch", "2.6.0", {**files, "torch/version.py": "cuda = None"})
    world.file(f"{SITE}/torch/deep/er/est/a.py", "evil")
    line = {**BAD, "error": error, "files": [f"{SITE}/torch/deep/er/est/a.py", "/else.py"]}
    lines = [HELD, {"begins": 0}, {"try": 0, **line}, {"ended": {"code": 0}}]
    machine = Sandbox(world, lambda order: lines)
    options = Options(imports=True)
    facts = look(machine, options, ("environment", "frameworks", "installs"))
    assert facts.installs.damage.need() == ()
    (one,) = look_by_importing(machine, facts, options).installs.damage.need() or ()
    assert (one.kind, one.path) == (kind, f"{SITE}/torch/deep/er/est/a.py")
