"""The driver's kernel side, packages, nodes and services, on small machines made of files."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.fact import Absent, Known, Unknown, absent, known
from gpuwhy.look.driver import driver

from .machines import KERNEL, RUNNING, Made

CTL_OK = {"path": "/dev/nvidiactl", "opened": "ok"}


@pytest.fixture
def machine(tmp_path: Path) -> Made:
    host = Made(tmp_path)
    for folder in ("/sys/module/ext4", "/dev", "/proc", "/sys/firmware/acpi"):
        os.makedirs(host.root + folder)
    host.write("/proc/version", "Linux version 6.8.0\n")
    return host


def see(machine: Made, field: str) -> Any:
    return getattr(driver(machine, RUNNING), field)


def test_a_module_that_no_dkms_built_is_asked_for_its_version(machine: Made):
    machine.write(f"/lib/modules/{KERNEL}/modules.dep", "kernel/nvidia-550/nvidia.ko:\n")
    path = f"/lib/modules/{KERNEL}/kernel/nvidia-550/nvidia.ko"
    machine.answers[("module_info", path)] = known("550.90.07", "file", path)
    assert see(machine, "module_on_disk").value == "550.90.07"


def test_driver_cuda_from_nvml_else_from_the_table(machine: Made):
    machine.says("nvml", {"init": {"code": 0}}, {"count": 0}, {"cuda": 12040})
    assert see(machine, "driver_cuda").value == "12.4"
    machine.says("nvml", {"init": {"code": 18, "name": "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "call": "nvmlInit"}})
    assert isinstance(see(machine, "driver_cuda"), Absent)
    machine.write("/sys/module/nvidia/version", "580.159.04\n")
    answer = see(machine, "driver_cuda")
    assert (answer.value, answer.source.kind) == ("13.0", "know")


def gpus(machine: Made, *minors: int) -> None:
    for minor in minors:
        machine.write(
            f"/proc/driver/nvidia/gpus/0000:0{minor}:00.0/information",
            f"Model: \t\t X\nDevice Minor: \t {minor}\n",
        )


def by_path(answer: Any) -> dict[str, Any]:
    assert isinstance(answer, Known), answer
    return {node.path: node for node in answer.value}


def test_every_gpu_that_the_module_drives_needs_its_node(machine: Made):
    gpus(machine, 0, 1)
    for name in ("nvidiactl", "nvidia0", "nvidia-modeset", "nvidia-caps/nvidia-cap1"):
        machine.write(f"/dev/{name}")
    machine.says("nodes", CTL_OK, {"path": "/dev/nvidia0", "opened": "EACCES"})
    nodes = by_path(see(machine, "nodes"))
    assert {path: (n.required, n.present) for path, n in nodes.items()} == {
        "/dev/nvidiactl": (True, True),
        "/dev/nvidia-uvm": (True, False),
        "/dev/nvidia0": (True, True),
        "/dev/nvidia1": (True, False),
        "/dev/nvidia-modeset": (False, True),
        "/dev/nvidia-caps/nvidia-cap1": (False, True),
    }
    assert nodes["/dev/nvidia0"].opened.value == "EACCES"
    assert isinstance(nodes["/dev/nvidia1"].opened, Absent)
    assert isinstance(nodes["/dev/nvidia-modeset"].opened, Unknown)


def test_a_node_that_hung_is_unknown_alone(machine: Made):
    for name in ("nvidiactl", "nvidia0"):
        machine.write(f"/dev/{name}")
    late = {"ended": "nodes ran out of time"}
    machine.says("nodes", {"opening": "/dev/nvidiactl"}, CTL_OK, {"opening": "/dev/nvidia0"}, late)
    nodes = by_path(see(machine, "nodes"))
    assert nodes["/dev/nvidiactl"].opened.value == "ok"
    assert nodes["/dev/nvidia0"].opened == Unknown("/dev/nvidia0: open hung")


def container(machine: Made, fact: Any) -> Any:
    around = msgspec.structs.replace(RUNNING.system, container=fact)
    return by_path(driver(machine, msgspec.structs.replace(RUNNING, system=around)).nodes)


def test_a_gpu_that_a_container_or_job_was_not_given_is_not_required(machine: Made):
    gpus(machine, 0, 1, 2)
    for name in ("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia2"):
        machine.write(f"/dev/{name}")
    machine.says("nodes", {"path": "/dev/nvidia0", "opened": "ok"}, {"path": "/dev/nvidia2", "opened": "EPERM"})
    inside = container(machine, known("docker", "file", "/.dockerenv"))
    assert [inside[f"/dev/nvidia{n}"].required for n in (0, 1, 2)] == [True, False, False]
    outside = container(machine, absent("file", "/.dockerenv"))
    assert [outside[f"/dev/nvidia{n}"].required for n in (0, 1, 2)] == [True, True, False]


@pytest.mark.parametrize("mode, setuid", [(0o4755, True), (0o755, False)])
def test_the_mode_of_nvidia_modprobe_decides(machine: Made, mode: int, setuid: bool):
    machine.write("/usr/bin/nvidia-modprobe", "x", mode)
    assert see(machine, "modprobe_setuid").value is setuid
    machine.answers[("stat", "/usr/bin/nvidia-modprobe")] = Unknown("permission denied")
    assert isinstance(see(machine, "modprobe_setuid"), Unknown)
