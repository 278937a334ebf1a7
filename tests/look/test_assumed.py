"""An assumed machine: what is replaced, what comes with the environment, what stays unknown."""

from msgspec.structs import replace

from gpuwhy.facts.fact import Source, Unknown, known
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Weight
from gpuwhy.look.assumed import AssumedMachine, assume
from gpuwhy.signs.judged import findings, with_gpu
from tests.signs.fixtures import facts_of, fixtures

RTX = AssumedMachine((("NVIDIA GeForce RTX 5090", "12.0"),), "550.54.14")
HERE = Source("file", "test")


def test_what_was_not_described_is_unknown():
    facts = assume(Facts(), AssumedMachine())
    assert isinstance(facts.driver.module_version, Unknown)
    assert isinstance(facts.devices.gpus.need()[0].capability, Unknown)
    assert assume(Facts(), RTX).driver.driver_cuda.need() == "12.4"


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
