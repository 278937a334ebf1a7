"""GPUs by NVML and by PCI, and CUDA_VISIBLE_DEVICES as CUDA reads it."""

import os
from typing import Any

import pytest

from gpuwhy.facts.devices import Fabric
from gpuwhy.facts.fact import Absent, Known, Unknown, known
from gpuwhy.look.devices import devices

from .machines import RUNNING, Made

INIT = {"init": {"code": 0}}
LOST = "NVML_ERROR_GPU_IS_LOST"
NOT_SUPPORTED = {"error": "NVML_ERROR_NOT_SUPPORTED"}
H200: dict[str, Any] = {
    "name": "NVIDIA H200",
    "uuid": "GPU-0a1b2c3d",
    "pci": "0000:00:06.0",
    "capability": "9.0",
    "memory": {"total": 150754820096, "free": 146336251904},
    "compute_mode": "default",
    "mig": {"current": False, "pending": False, "instances": []},
    "processes": [],
    "ecc": 0,
    "pages": NOT_SUPPORTED,
    "rows": {"remapped": 0, "pending": False, "failed": False},
    "throttle": [],
    "fabric": "not supported",
}


def see(machine: Made, field: str) -> Any:
    return getattr(devices(machine, RUNNING), field)


def lines(*gpus: dict[str, Any]) -> list[dict[str, Any]]:
    told = [{"gpu": index, query: answer} for index, gpu in enumerate(gpus) for query, answer in gpu.items()]
    return [INIT, {"count": len(gpus)}, *told]


def test_a_healthy_gpu_a_worn_one_and_a_consumer_card_that_lacks_what_it_lacks(machine: Made):
    worn = {"ecc": 3, "rows": {"remapped": 5, "pending": True, "failed": True}}
    less = dict.fromkeys(("mig", "ecc", "pages", "rows", "fabric", "processes"), NOT_SUPPORTED)
    machine.says("nvml", *lines(H200, {**H200, **worn}, {**H200, **less}))
    gpu, old, card = see(machine, "gpus").value
    assert (gpu.index, gpu.name, gpu.uuid, gpu.pci) == (0, "NVIDIA H200", "GPU-0a1b2c3d", "0000:00:06.0")
    assert gpu.capability.value == "9.0"
    assert (gpu.memory_total.value, gpu.memory_free.value) == (150754820096, 146336251904)
    assert gpu.ecc.value.uncorrected == 0
    ecc = old.ecc.value
    assert (ecc.uncorrected, ecc.pending, ecc.remap_failed) == (3, True, True)
    assert all(isinstance(fact, Absent) for fact in (gpu.error, card.error, card.mig, card.ecc))
    assert card.fabric.value == Fabric("not supported")
    assert isinstance(card.processes, Unknown)  # WSL: nobody may conclude that there are none
    assert isinstance(see(machine, "nvml_error"), Absent)


def test_a_lost_gpu_is_there_with_its_error(machine: Made):
    machine.says("nvml", *lines(H200, {"error": LOST}, {**H200, "memory": {"error": LOST}}))
    good, lost, going = see(machine, "gpus").value
    assert isinstance(good.error, Absent)
    assert (lost.name, lost.error.value) == ("unknown", LOST)
    assert LOST in lost.memory_free.reason
    assert going.error.value == LOST


def test_a_child_that_ran_out_of_time_leaves_what_it_learnt(machine: Made):
    machine.says("nvml", *lines({"name": "NVIDIA H200"}, {})[:3], {"ended": "nvml ran out of time"})
    first, second = see(machine, "gpus").value
    assert first.name == "NVIDIA H200"
    assert "ran out of time" in first.error.reason
    assert "ran out of time" in second.memory_total.reason


def test_nvml_that_does_not_start(machine: Made):
    init = {"code": 18, "name": "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "call": "nvmlInit"}
    machine.says("nvml", {"step": "nvmlInit"}, {"init": {**init, "detail": "version mismatch"}})
    error = see(machine, "nvml_error")
    assert (error.value.code, error.value.name, error.value.call) == (18, init["name"], "nvmlInit")
    assert error.source.detail == "version mismatch"
    assert "NVML_ERROR_LIB_RM_VERSION_MISMATCH" in see(machine, "gpus").reason
    machine.says("nvml", {"missing": "nvidia-ml-py"})
    assert see(machine, "gpus").how == "pip install nvidia-ml-py"


WRONG = [{"init": 7}, {"init": {"code": "x"}}, {"count": "many", **INIT}, {"gpu": 0, "memory": 3, "processes": 5}]


@pytest.mark.parametrize("line", WRONG)
def test_answers_of_the_wrong_shape_raise_nothing(machine: Made, line: dict[str, Any]):
    machine.says("nvml", *([] if "init" in line else lines({})), line)
    answer = see(machine, "gpus")
    assert "gpuwhy failed" not in getattr(answer, "reason", "")
    if isinstance(answer, Known):
        assert isinstance(answer.value[0].memory_total, Unknown)
        assert isinstance(answer.value[0].processes, Unknown)


def test_processes_with_name_state_and_owner(machine: Made):
    machine.write("/proc/11/status", "Name:\tpython3\nState:\tS (sleeping)\nUid:\t1000\n")
    machine.write("/proc/12/status", "Name:\tpython3\nState:\tZ (zombie)\n")
    held = [
        {"pid": 11, "memory": 5, "mine": True},
        {"pid": 12, "memory": None, "mine": False},
        {"pid": 13, "memory": 7, "mine": None},
    ]
    machine.says("nvml", *lines({**H200, "processes": held}))
    mine, zombie, gone = see(machine, "gpus").value[0].processes.value
    said = (mine.name.value, mine.state.value, mine.own.value, mine.memory.value)
    assert said == ("python3", "sleeping", True, 5)
    assert (zombie.state.value, zombie.own.value) == ("zombie", False)
    assert isinstance(zombie.memory, Unknown)
    assert gone.state.value == "gone"
    assert isinstance(gone.own, Unknown)
    assert isinstance(gone.name, Unknown)


def card(machine: Made, address: str, vendor: str, kind: str, device: str) -> None:
    folder = f"/sys/bus/pci/devices/{address}"
    for name, text in (("vendor", vendor), ("class", kind), ("device", device)):
        machine.write(f"{folder}/{name}", text + "\n")


def test_gpus_on_the_bus(machine: Made):
    card(machine, "0000:00:06.0", "0x10de", "0x030200", "0x2335")
    card(machine, "0001:02:00.0", "0x10de", "0x030000", "0xffff")
    card(machine, "0000:02:00.1", "0x10de", "0x040300", "0x22ba")  # its audio function
    card(machine, "0000:00:02.0", "0x8086", "0x030000", "0x3e98")
    os.symlink("../../../bus/pci/drivers/vfio-pci", f"{machine.root}/sys/bus/pci/devices/0000:00:06.0/driver")
    h200, other = see(machine, "pci").value
    assert (h200.address, h200.device_id, h200.driver.value) == ("0000:00:06.0", "2335", "vfio-pci")
    assert ("H200" in h200.name.value, h200.capability.value) == (True, "9.0")
    assert other.address == "0001:02:00.0"
    assert (type(other.driver), type(other.name)) == (Absent, Unknown)
    os.makedirs(f"{machine.root}/sys/bus/pci/devices/0000:00:07.0/vendor")
    assert isinstance(see(machine, "pci"), Unknown)


def visible(machine: Made, value: str, gpus: int = 3, **more: Any) -> Any:
    machine.answers[("environ",)] = known({"CUDA_VISIBLE_DEVICES": value}, "env", "environment")
    machine.says("nvml", *lines(*({**H200, "uuid": f"GPU-0a1b2c{n}d", **more} for n in range(gpus))))
    answer = see(machine, "visibility").value
    return answer.visible, answer.bad_entry


# The one-GPU rows were seen on driver 580.159.04 (cuInit and cuDeviceGetCount); the rest is the programming guide's.
@pytest.mark.parametrize(
    "value, indexes, bad",
    [
        ("0", (0,), ""), ("2,1", (2, 1), ""), ("0,2,-1,1", (0, 2), "-1"), ("0,3,1", (0,), "3"),
        ("", (), ""), (" ", (), ""), ("-1", (), "-1"), ("NoDevFiles", (), "NoDevFiles"), ("void", (), "void"),
        (" 0 , 1 ", (0, 1), ""), ("+0", (0,), ""), ("0abc", (0,), ""), ("0;1", (0,), ""), ("0x1", (0,), ""),
        ("0,", (0,), ""), ("0,,", (0,), ""), (",0", (), ",,"), ("0,,1", (0,), ",,"), ("all", (), "all"),
        ("'0'", (), "'0'"), ("cuda:0", (), "cuda:0"),
        ("GPU-0a1b2c1d", (1,), ""), ("GPU-0A1B2C1D-1111-2222", (1,), ""), ("GPU-0a1b2c2d,GPU-0a1b2c0d", (2, 0), ""),
        ("GPU-0a1b2c", (), "GPU-0a1b2c"), ("GPU-ffffffff", (), "GPU-ffffffff"), ("GPU-", (), "GPU-"),
        (" GPU-0a1b2c1d", (), "GPU-0a1b2c1d"), ("0,GPU-0a1b2c1d", (0,), "GPU-0a1b2c1d"),
        ("0,0", (), "0"), ("GPU-0a1b2c1d,GPU-0a1b2c1d", (), "GPU-0a1b2c1d"),
    ],
)  # fmt: skip
def test_visible_devices(machine: Made, value: str, indexes: tuple[int, ...], bad: str):
    assert visible(machine, value) == (indexes, bad)


def test_without_devices_only_what_is_bad_everywhere_is_known(machine: Made):
    machine.says("nvml", {"init": {"code": 9, "name": "NVML_ERROR_DRIVER_NOT_LOADED", "call": "nvmlInit"}})
    for value, sure in (("-1", True), ("", True), ("none", True), ("0", False), ("GPU-0a1b2c3d", False)):
        machine.answers[("environ",)] = known({"CUDA_VISIBLE_DEVICES": value}, "env", "environment")
        assert isinstance(see(machine, "visibility"), Known if sure else Unknown), value
