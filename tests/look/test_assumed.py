"""An assumed machine: what is replaced, what comes with the environment, what stays unknown."""

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Known, Source, Unknown, known
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Weight
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import DriverLibrary, Found, Loads, Rule
from gpuwhy.facts.system import Offline, System
from gpuwhy.look.assumed import AssumedMachine, assume
from gpuwhy.signs.judged import findings, with_gpu
from tests.signs.fixtures import facts_of, fixtures

RTX = AssumedMachine((("NVIDIA GeForce RTX 5090", "12.0"),), "550.54.14")
HERE = Source("file", "test")


def copy(path: str, rule: Rule, kind: str = "driver", version: str = "", **more) -> DriverLibrary:
    stated = known(version, "file", path) if version else Unknown("no version")
    health = known(Flaw.NONE, "file", path)
    return DriverLibrary("libcuda.so.1", path, path, Found(rule), kind, stated, health, **more)


def on(facts: Facts, machine: AssumedMachine, *copies: DriverLibrary) -> tuple[str, ...]:
    facts = replace(facts, loads=Loads(libcuda=known(copies, "call", "loader search")))
    return tuple(one.path for one in assume(facts, machine).loads.libcuda.need())


def test_what_was_not_described_is_unknown():
    facts = assume(Facts(), AssumedMachine())
    assert isinstance(facts.driver.module_version, Unknown)
    assert isinstance(facts.devices.gpus.need()[0].capability, Unknown)
    assert assume(Facts(), RTX).driver.driver_cuda.need() == "12.4"


def test_a_stub_that_a_variable_leads_to_stays_first():
    stub = copy("/x/stubs/libcuda.so.1", Rule.LD_LIBRARY_PATH, "stub")
    own = copy("/usr/lib/libcuda.so.1", Rule.CACHE, yields=True)
    assert on(Facts(), RTX, stub, own) == (stub.path, "/assumed/libcuda.so.1")


def test_a_newer_driver_in_an_image_is_linked_instead_of_the_host_s():
    image = System(
        offline=Known(Offline("image"), HERE),
        container=Known("image", HERE),
        machine=Known("x86_64", HERE),
        distro=Absent(HERE),
    )
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.1"
    own = copy(path, Rule.CACHE, version="570.1", yields=True)
    assert on(Facts(system=image), RTX, own)[0] == path
    older = copy(path, Rule.CACHE, version="535.1", yields=True)
    assert on(Facts(system=image), RTX, older)[0] == "/usr/lib/x86_64-linux-gnu/libcuda.so.1"


def test_what_would_fail_with_a_gpu_is_marked():
    rows = [one for one in fixtures() if one.cause == "cudnn.mixed_libraries"]
    one = next(row for row in rows if row.state == "shown")
    broken = facts_of(one.facts)
    nothing = known((), "folder", "bus")
    devices = replace(broken.devices, gpus=nothing, pci=nothing)
    here = replace(broken, devices=devices)
    assert all(x.weight is Weight.AGAINST for x in findings(here) if x.cause == one.cause)
    later = with_gpu(here, assume(here, AssumedMachine()))
    shown = {x.cause for x in later if x.weight is not Weight.AGAINST and x.with_gpu}
    assert shown == {one.cause}
