"""Operating system, container, limits, memory, kernel log."""

from __future__ import annotations

from typing import Literal

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record


class Memory(Record, frozen=True):
    """Host memory in bytes; `limit` is the cgroup's, where there is one."""

    total: int
    available: int
    limit: Fact[int]
    used_in_limit: Fact[int]


class Space(Record, frozen=True):
    """A file system's size in bytes."""

    path: str
    total: int
    free: int


class Tasks(Record, frozen=True):
    """How many processes and threads a control group may have, and has."""

    limit: int
    used: int


KernelEvent = Literal["", "killed", "fallen", "stopped"]
"""What a line without an Xid tells: a process was killed because memory ran out; a GPU has fallen off the bus."""


class KernelLine(Record, frozen=True):
    """A kernel log line about the GPU."""

    seconds: float  # since boot
    text: str
    xid: int | None
    pci: str
    pid: int = 0  # the process it speaks of, by the kernel's own number; 0 where it names none
    event: KernelEvent = ""

    @property
    def killed(self) -> bool:
        """Whether that process was killed because memory ran out: beside an Xid, the kernel names none otherwise."""
        return self.xid is None and self.pid > 0


class Injected(Record, frozen=True):
    """What a container runtime brought in: the traces of `--gpus`, CDI or `--nv`."""

    devices: bool  # /dev/nvidia*
    libraries: bool  # libcuda from the host
    requested: str  # NVIDIA_VISIBLE_DEVICES, "" when not set
    capabilities: str  # NVIDIA_DRIVER_CAPABILITIES
    lacking: tuple[str, ...] = ()  # under WSL: driver libraries that are nowhere in the container


class Surroundings(Record, frozen=True):
    """Operating system, container, limits, kernel log."""

    system: Fact[str] = NOT_OBSERVED  # linux, windows, darwin
    distribution: Fact[str] = NOT_OBSERVED  # Ubuntu 24.04.3 LTS
    resembles: Fact[str] = NOT_OBSERVED  # what it is made of, the nearest first: "ubuntu debian"
    kernel: Fact[str] = NOT_OBSERVED
    machine: Fact[str] = NOT_OBSERVED  # x86_64
    libc: Fact[str] = NOT_OBSERVED  # "glibc 2.39" | "musl"
    offline: Fact[str] = NOT_OBSERVED  # only files, nothing runs: "a folder" | "an image (python:3.11, linux/amd64)"
    container: Fact[str] = NOT_OBSERVED  # docker, podman, kubernetes, singularity, lxc
    injected: Fact[Injected] = NOT_OBSERVED  # Absent outside a container
    wsl: Fact[str] = NOT_OBSERVED  # "1" | "2"
    wsl_device: Fact[bool] = NOT_OBSERVED  # /dev/dxg; Absent outside WSL
    vm: Fact[str] = NOT_OBSERVED
    cgroup_devices: Fact[str] = NOT_OBSERVED
    open_files_limit: Fact[int] = NOT_OBSERVED
    locked_memory_limit: Fact[int] = NOT_OBSERVED  # -1 = unlimited
    address_space_limit: Fact[int] = NOT_OBSERVED  # -1 = unlimited
    tasks: Fact[Tasks] = NOT_OBSERVED  # processes and threads of the control group; Absent = no limit
    shm: Fact[Space] = NOT_OBSERVED
    memory: Fact[Memory] = NOT_OBSERVED
    disks: Fact[tuple[Space, ...]] = NOT_OBSERVED
    kernel_log: Fact[tuple[KernelLine, ...]] = NOT_OBSERVED
    uptime: Fact[float] = NOT_OBSERVED  # seconds
    booted: Fact[float] = NOT_OBSERVED  # Unix time
