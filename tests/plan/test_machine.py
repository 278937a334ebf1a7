"""Machines, described and seen."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts
from gpuwhy.plan.machine import BadMachineError, described, gpu, seen
from tests.rooms.facts import base


@pytest.mark.parametrize(
    "text, capability", [("GTX 1080", "6.1"), ("sm_89", "8.9"), ("12.0", "12.0"), ("rtx 4090", "8.9")]
)
def test_gpus(text, capability):
    assert gpu(text).capability == capability


@pytest.mark.parametrize(
    "given, said",
    [
        ({"names": ("GTX 10800",)}, "no such GPU is known"),
        ({"names": ("sm_99",)}, "no such compute capability"),
        ({"driver": "new"}, "expected a driver version"),
        ({"driver": "100"}, "older than every driver"),
        ({"python": "4"}, "expected a version"),
        ({"python": "3.99"}, "no release has a wheel"),
        ({"system": "macos"}, "has none for macOS"),
        ({"machine": "riscv"}, "expected x86_64 or aarch64"),
        ({"keep": ("gpu",)}, "expected driver, python"),
        ({"glibc": "1.0"}, "expected a version such as 2.28"),
    ],
)
def test_bad_descriptions(given, said):
    with pytest.raises(BadMachineError, match=said):
        described(**given)


def test_what_is_not_told_is_assumed_and_said():
    machine = described()
    assert {line.kind for line in machine.lines} == {"assumed"}
    assert len(machine.lines) == 3
    assert (machine.platform, machine.driver, machine.gpus) == ("linux-x86_64", "", ())


def test_a_machine_that_was_seen():
    machine = seen(msgspec.convert(base("healthy"), type=Facts))
    assert machine.driver
    assert machine.gpus[0].capability
    assert machine.python.startswith("3.")
    assert machine.libc.startswith("glibc 2.")
    assert not machine.fixed_python
    assert "saw" in {line.kind for line in machine.lines}


def test_a_windows_that_was_seen_is_planned_for():
    facts = msgspec.convert(base("healthy"), type=Facts)
    around = msgspec.structs.replace(facts.surroundings, system=Known("windows", Source("call", "test")))
    assert seen(msgspec.structs.replace(facts, surroundings=around)).system == "windows"


def test_nothing_seen_is_assumed_and_said():
    machine = seen(Facts())
    assert (machine.driver, machine.gpus) == ("", ())
    assert [line.kind for line in machine.lines] == ["assumed", "assumed"]
