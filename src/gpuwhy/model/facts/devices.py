"""The GPUs, by NVML and by PCI."""

from __future__ import annotations

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record


class GpuProcess(Record, frozen=True):
    """A process that holds memory on a GPU."""

    pid: int
    memory: Fact[int]  # bytes
    name: Fact[str]  # executable's base name, nothing of its arguments
    state: Fact[str]  # "running", "sleeping", "zombie", "stopped", "gone" (no such process that we can see)
    owner: Fact[str]  # "you" | "another user"


class Mig(Record, frozen=True):
    """Multi-Instance GPU mode and its instances."""

    current: bool
    pending: bool
    instances: tuple[str, ...]  # UUID prefixes of the MIG devices


class Ecc(Record, frozen=True):
    """Error-correction state: uncorrected errors since boot, pages retired or rows remapped, a reset that is due."""

    uncorrected: int
    retired: int
    pending: bool
    remap_failed: bool


class PcieLink(Record, frozen=True):
    """The PCIe link as it is and as it could be."""

    width: int
    max_width: int
    generation: int
    max_generation: int


class Device(Record, frozen=True):
    """One GPU as NVML describes it."""

    index: int
    name: str
    uuid: str  # shortened to the prefix that CUDA_VISIBLE_DEVICES accepts
    pci: str  # 0000:00:06.0
    capability: Fact[str]  # "9.0"
    memory_total: Fact[int]
    memory_free: Fact[int]
    processes: Fact[tuple[GpuProcess, ...]]
    compute_mode: Fact[str]  # "default" | "exclusive_process" | "prohibited" | "exclusive_thread"
    mig: Fact[Mig]
    ecc: Fact[Ecc]
    throttle: Fact[tuple[str, ...]]  # active reasons: "hw_thermal", "hw_power_brake", "sw_power_cap" …
    nvlink: Fact[int]  # active links
    pcie: Fact[PcieLink]
    fabric: Fact[str]  # "completed" | "in progress" | "not started" | "not supported"
    error: Fact[str]  # Absent when it answered; else NVML's code for this GPU: "NVML_ERROR_GPU_IS_LOST"
    driver_model: Fact[str] = NOT_OBSERVED  # on Windows: "WDDM" | "TCC" | "MCDM"


class PciDevice(Record, frozen=True):
    """An NVIDIA display or 3D controller on the PCI bus, seen without any driver."""

    address: str  # 0000:00:06.0
    device_id: str  # "2335"
    name: Fact[str]
    capability: Fact[str]
    driver: Fact[str]  # kernel driver bound to it: nvidia, nouveau, vfio-pci


class NvmlError(Record, frozen=True):
    """A failing NVML call."""

    code: int
    name: str  # NVML_ERROR_LIB_RM_VERSION_MISMATCH
    call: str  # nvmlInit


class Visibility(Record, frozen=True):
    """CUDA_VISIBLE_DEVICES read as CUDA reads it: entries up to the first that does not exist."""

    variable: str
    value: str
    visible: tuple[int, ...]  # indexes of the devices that stay visible
    first_bad: str  # the entry where CUDA stops reading, "" when all are good
    why_bad: str


class Devices(Record, frozen=True):
    """The GPUs: by NVML, and by PCI where NVML cannot answer."""

    nvml_error: Fact[NvmlError] = NOT_OBSERVED  # Absent when NVML initialised
    devices: Fact[tuple[Device, ...]] = NOT_OBSERVED
    pci: Fact[tuple[PciDevice, ...]] = NOT_OBSERVED
    visibility: Fact[Visibility] = NOT_OBSERVED  # Absent when the variable is not set
    order: Fact[str] = NOT_OBSERVED  # CUDA_DEVICE_ORDER
