"""As if: this environment on a machine that was told or recorded."""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.drivers import in_branch
from gpuwhy.model.fact import Absent, Known, Source, Unknown
from gpuwhy.model.facts import Device, Devices, Distribution, Driver, DriverLibrary, Facts, NeededLibrary
from gpuwhy.observe.as_if import Elsewhere, as_if, like, somewhere
from gpuwhy.observe.started import moved
from gpuwhy.reason.report import report
from gpuwhy.rooms import CAUSES
from tests.rooms.facts import base

HERE = Source("call", "test")
WSL = "/usr/lib/wsl/lib"


def without_gpu() -> Facts:
    """The healthy environment on a machine without GPU and driver."""
    facts = msgspec.convert(base("healthy"), type=Facts)
    gone: Absent = Absent(HERE)
    devices = Devices(Absent(HERE), Unknown("NVML: no library"), Known((), HERE), gone, gone)
    driver = msgspec.structs.replace(facts.driver, module_version=gone, driver_cuda=gone, nodes=Known((), HERE))
    loads = msgspec.structs.replace(facts.loads, libcuda=Known((), HERE), libnvml=Known((), HERE))
    return msgspec.structs.replace(facts, devices=devices, driver=driver, loads=loads)


def lacking(facts: Facts) -> Facts:
    """Without cuDNN for the first framework that opens libraries by name."""
    torch = next(f for f in facts.target.frameworks.need() or () if f.name == "torch")
    one = msgspec.structs.replace(torch, name="tensorflow", title="TensorFlow", distribution="tensorflow")
    facts = msgspec.structs.replace(facts, target=msgspec.structs.replace(facts.target, frameworks=Known((one,), HERE)))
    need = NeededLibrary(one.name, "libcudnn.so.9", False, f"{one.path}/lib.so", Absent(HERE), "", ("/a",), (), ())
    found = tuple(n for n in facts.loads.needs.need() or () if n.framework != one.name)
    return msgspec.structs.replace(facts, loads=msgspec.structs.replace(facts.loads, needs=Known((*found, need), HERE)))


def judged(facts: Facts, as_on: str = "") -> tuple[str, list[str], str]:
    asked = [c for c in CAUSES if c.asked(facts)]
    made = report(asked, facts, 0.0, "", None if as_on else somewhere(facts), as_on)
    return made.status, [c.id for c in made.causes if c.confidence >= 0.5], made.headline


def test_a_machine_without_gpu_says_what_a_gpu_would_bring_to_light() -> None:
    status, causes, headline = judged(lacking(without_gpu()))
    assert (status, causes) == ("degraded", ["cudnn.missing"])
    assert headline.startswith("With a GPU: ")


def test_nothing_would_come_to_light() -> None:
    status, causes, headline = judged(without_gpu())
    assert (status, causes) == ("healthy", [])
    assert "no NVIDIA GPU" in headline


def for_the_cpu(facts: Facts, *beside: str) -> Facts:
    """With builds of the frameworks for the CPU alone, and some wheels of NVIDIA's beside them."""
    frameworks = [
        msgspec.structs.replace(f, gpu_build=Known(False, HERE)) for f in facts.target.frameworks.need() or ()
    ]
    wheels = [Distribution(name, "12.0", f"/venv/{name}", Known("pip", HERE)) for name in beside]
    target = msgspec.structs.replace(
        facts.target, frameworks=Known(tuple(frameworks[:1]), HERE), distributions=Known(tuple(wheels), HERE)
    )
    return msgspec.structs.replace(facts, target=target)


def test_a_build_for_the_cpu_beside_cuda_that_nothing_else_uses_was_not_meant() -> None:
    alone = for_the_cpu(without_gpu())
    beside = for_the_cpu(without_gpu(), "nvidia-cublas-cu12", "nvidia-cudnn-cu12")
    assert "framework.cpu_only" not in judged(alone)[1]
    assert "framework.cpu_only" in judged(beside)[1]


def test_as_on_a_machine_that_was_told() -> None:
    machine = Elsewhere((("A100", "8.0"),), "580", 40)
    status, causes, headline = judged(as_if(lacking(without_gpu()), machine), str(machine))
    assert (status, causes) == ("broken", ["cudnn.missing"])
    assert headline.startswith("As if on A100 with 40 GiB, driver 580: ")
    assert judged(as_if(without_gpu(), machine), str(machine))[:2] == ("healthy", [])


def test_an_old_driver_is_too_old_and_one_that_was_not_told_decides_nothing() -> None:
    old = as_if(without_gpu(), Elsewhere((("V100", "7.0"),), "470"))
    assert "driver.too_old" in judged(old, "x")[1]
    assert judged(as_if(without_gpu(), Elsewhere((("A100", "8.0"),))), "x")[1] == []


def test_a_gpu_without_code_for_it() -> None:
    assert "framework.gpu_unsupported" in judged(as_if(without_gpu(), Elsewhere((("K80", "3.7"),), "580")), "x")[1]


def test_the_machine_of_a_recording() -> None:
    there = msgspec.convert(base("healthy"), type=Facts)
    moved = like(without_gpu(), there)
    assert moved.devices == there.devices
    assert moved.driver == there.driver
    assert moved.target == without_gpu().target
    assert judged(moved, "x")[:2] == ("healthy", [])


def test_nothing_of_this_machine_is_left() -> None:
    moved = as_if(without_gpu(), Elsewhere((("A100", "8.0"),), "550"))
    first = (moved.devices.devices.need() or ())[0]
    assert isinstance(first, Device)
    assert isinstance(moved.driver, Driver)
    assert (first.name, first.capability.need(), moved.driver.driver_cuda.need()) == ("A100", "8.0", "12.4")
    assert isinstance(first.memory_total, Unknown)


def test_a_branch_stands_for_its_newest_known_driver() -> None:
    assert [in_branch(d) for d in ("535", "550.163.01", "450", "999")] == [
        "535.104.05",
        "550.163.01",
        "450.80.02",
        "999",
    ]


def without_frameworks(facts: Facts, chosen_by: str) -> Facts:
    """The same environment, named so, with nothing in it that could use a GPU."""
    python = facts.target.interpreter.need()
    assert python is not None
    named = Known(msgspec.structs.replace(python, chosen_by=chosen_by), HERE)
    none = msgspec.structs.replace(facts.target, frameworks=Known((), HERE), interpreter=named)
    loads = msgspec.structs.replace(facts.loads, needs=Known((), HERE), trees=Known((), HERE))
    return msgspec.structs.replace(facts, target=none, loads=loads)


def test_an_environment_without_a_framework_is_never_called_able_to_work() -> None:
    machine = Elsewhere((("A100", "8.0"),), "580", 40)
    for chosen_by in ("--python", "PATH"):
        status, causes, headline = judged(as_if(without_frameworks(without_gpu(), chosen_by), machine), str(machine))
        assert (status, causes) == ("unknown", [])
        assert "No GPU framework was found in" in headline


def test_without_a_gpu_it_is_healthy_only_where_nobody_named_it() -> None:
    assert judged(without_frameworks(without_gpu(), "PATH"))[0] == "healthy"
    status, _, headline = judged(without_frameworks(without_gpu(), "--python"))
    assert status == "unknown"
    assert "no GPU answers here" in headline


def test_a_distribution_of_wsl_stays_one_with_the_libraries_that_its_loader_finds() -> None:
    facts = without_gpu()
    libcuda = DriverLibrary(
        "libcuda.so.1",
        f"{WSL}/libcuda.so.1",
        f"{WSL}/libcuda.so.1",
        "not on the search path",
        "wsl",
        Absent(HERE),
        Known("ok", HERE),
    )
    around = msgspec.structs.replace(
        facts.surroundings, wsl=Known("2", HERE), offline=Known("a folder", HERE), container=Absent(HERE)
    )
    loads = msgspec.structs.replace(facts.loads, libcuda=Known((libcuda,), HERE))
    facts = msgspec.structs.replace(facts, surroundings=around, loads=loads)
    moved_to = moved(facts, Elsewhere((("A100", "8.0"),), "580"))
    assert moved_to.surroundings.wsl == Known("2", HERE)
    assert moved_to.loads.libcuda == Known((libcuda,), HERE)
    assert judged(moved_to, "A100")[1][:1] == ["wsl.setup"]
