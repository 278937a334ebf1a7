"""An assumed machine: what is replaced, what comes with the environment, what stays unknown."""

from gpuwhy.facts.fact import Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.look.assumed import AssumedMachine, assume

RTX = AssumedMachine((("NVIDIA GeForce RTX 5090", "12.0"),), "550.54.14")


def test_what_was_not_described_is_unknown():
    facts = assume(Facts(), AssumedMachine())
    assert isinstance(facts.driver.module_version, Unknown)
    assert isinstance(facts.devices.gpus.need()[0].capability, Unknown)
    assert assume(Facts(), RTX).driver.driver_cuda.need() == "12.4"
