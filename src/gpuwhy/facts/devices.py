"""The GPUs, by NVML and by PCI."""

from enum import Enum
from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Record

ComputeMode = Literal["default", "exclusive_process", "prohibited", "exclusive_thread"]
ProcessState = Literal["running", "sleeping", "zombie", "stopped", "gone"]


class GpuProcess(Record, frozen=True):
    """A process that holds memory on a GPU."""

    pid: int
    memory: Fact[int]  # bytes
    name: Fact[str]  # executable's base name, nothing of its arguments
    state: Fact[ProcessState]  # "gone": no such process that we can see
    own: Fact[bool]  # whether this user started it


class Mig(Record, frozen=True):
    """Multi-Instance GPU mode and its instances."""

    current: bool
    pending: bool
    instances: tuple[str, ...]  # UUID prefixes of the MIG devices


class Ecc(Record, frozen=True):
    """Error correction: uncorrected errors since boot, a reset that is due, rows that could not be
    remapped.
    """

    uncorrected: int
    pending: bool
    remap_failed: bool


class Fabric(Record, frozen=True, omit_defaults=True):
    """How far a GPU is registered with the NVSwitch fabric."""

    state: Literal["not supported", "not started", "in progress", "completed", "failed"]
    error: str = ""  # failed: NVML's name of the status


class Gpu(Record, frozen=True):
    """One GPU as NVML describes it."""

    index: int
    name: str
    uuid: str  # shortened to the prefix that CUDA_VISIBLE_DEVICES accepts
    pci: str  # 0000:00:06.0
    capability: Fact[str]  # "9.0"
    memory_total: Fact[int]
    memory_free: Fact[int]
    processes: Fact[tuple[GpuProcess, ...]]
    compute_mode: Fact[ComputeMode]
    mig: Fact[Mig]
    ecc: Fact[Ecc]
    throttle: Fact[tuple[str, ...]]  # active reasons: "hw_thermal", "hw_power_brake" …
    fabric: Fact[Fabric]
    error: Fact[str]  # Absent when it answered; else NVML's code: "NVML_ERROR_GPU_IS_LOST"


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


class BadEntry(Enum):
    """Why CUDA stops reading CUDA_VISIBLE_DEVICES at an entry."""

    NONE = ""
    EMPTY = "empty"
    NEGATIVE = "negative"
    NO_NUMBER_OR_UUID = "neither an index nor a UUID"
    NO_SUCH_GPU = "no GPU has this index"
    NO_SUCH_UUID = "no GPU has this UUID"
    SEVERAL_FIT = "fits several GPUs"
    UUID_AMONG_INDEXES = "a UUID in a list that starts with an index"
    INDEX_AMONG_UUIDS = "an index in a list that starts with a UUID"
    BLANK_BEFORE = "a blank before it"
    TWICE = "named twice"  # cuInit then fails with error 101, and no GPU is visible


class Visibility(Record, frozen=True):
    """CUDA_VISIBLE_DEVICES read as CUDA reads it: entries up to the first that does not exist."""

    value: str
    visible: tuple[int, ...]  # indexes of the GPUs that stay visible
    bad_entry: str  # the entry where CUDA stops reading, "" when all are good
    bad: BadEntry


class Devices(Record, frozen=True):
    """The GPUs: by NVML, and by PCI where NVML cannot answer."""

    nvml_error: Fact[NvmlError] = NOT_OBSERVED  # Absent when NVML initialised
    gpus: Fact[tuple[Gpu, ...]] = NOT_OBSERVED
    pci: Fact[tuple[PciDevice, ...]] = NOT_OBSERVED
    visibility: Fact[Visibility] = NOT_OBSERVED  # Absent when the variable is not set
