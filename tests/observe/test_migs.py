"""The parts that MIG made: which nodes they need, and what is not told."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.fact import Absent, Known, Unknown
from gpuwhy.observe.migs import mig_parts
from tests.observe.machine import Machine

MINORS = "config 1\nmonitor 2\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\n"
MADE = "/proc/driver/nvidia/capabilities/gpu0/mig"
FEW, ALL = "00000000a80425fb", "000001ffffffffff"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def divided(machine: Machine) -> Machine:
    for part in ("gi1", "gi1/ci0"):
        machine.write(f"{MADE}/{part}/access", "DeviceFileMinor: 12\n")
    machine.write("/proc/self/status", f"Name:\tx\nCapEff:\t{FEW}\n")
    machine.write("/proc/driver/nvidia-caps/mig-minors", MINORS)
    return machine


def test_each_part_has_its_node(divided: Machine):
    caps = "/dev/nvidia-caps/nvidia-cap"
    found = mig_parts(divided.scene())
    assert isinstance(found, Known)
    assert found.value == {"gpu0/gi1": f"{caps}12", "gpu0/gi1/ci0": f"{caps}13"}


def test_nobody_made_a_part(machine: Machine):
    machine.write(f"{MADE}/config", "")
    assert isinstance(mig_parts(machine.scene()), Absent)


def test_an_administrator_needs_no_node(divided: Machine):
    divided.write("/proc/self/status", f"CapEff:\t{ALL}\n")
    assert isinstance(mig_parts(divided.scene()), Absent)


@pytest.mark.parametrize("text", ["gpu0/gi1/access 12\n", "no such thing\n"])
def test_a_part_that_has_no_number_is_unknown(divided: Machine, text: str):
    divided.write("/proc/driver/nvidia-caps/mig-minors", text)
    assert isinstance(mig_parts(divided.scene()), Unknown)


def test_what_cannot_be_read_is_unknown(machine: Machine):
    assert isinstance(mig_parts(machine.scene()), Unknown)
