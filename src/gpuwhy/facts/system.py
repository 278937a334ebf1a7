"""The system: operating system, container, limits, memory, kernel log."""

from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Record

KernelEvent = Literal["", "killed for memory", "fell off the bus", "stopped a program"]
"""What a kernel log line states; the last is an Xid that a program caused itself."""


class Distro(Record, frozen=True, omit_defaults=True):
    """A Linux distribution by its os-release file."""

    id: str  # "ubuntu", "rhel"; "" where the file names none
    title: str  # "Ubuntu 24.04.3 LTS"
    version: str = ""  # "24.04"
    like: tuple[str, ...] = ()  # what it is made of, the nearest first: ("ubuntu", "debian")


class Libc(Record, frozen=True, omit_defaults=True):
    """The C library."""

    name: Literal["glibc", "musl"]
    version: str = ""  # "2.39"


class Offline(Record, frozen=True, omit_defaults=True):
    """Files that stand for a machine that does not run."""

    kind: Literal["folder", "image", "archive"]
    name: str = ""  # of an image, its name and platform: "python:3.11, linux/amd64"


class Injected(Record, frozen=True):
    """What a container runtime brought in: the traces of `--gpus`, CDI or `--nv`."""

    devices: bool  # /dev/nvidia*
    libraries: bool  # libcuda from the host
    requested: str  # NVIDIA_VISIBLE_DEVICES, "" when not set
    capabilities: str  # NVIDIA_DRIVER_CAPABILITIES
    lacking: tuple[str, ...] = ()  # under WSL: driver libraries that are nowhere in the container


class Memory(Record, frozen=True):
    """Host memory in bytes; `limit` is the control group's, where there is one."""

    total: int
    available: int
    limit: Fact[int]
    used_in_limit: Fact[int]


class Space(Record, frozen=True):
    """A file system's size in bytes."""

    path: str
    total: int
    free: int


class KernelLine(Record, frozen=True, omit_defaults=True):
    """A kernel log line about the driver, the GPU or memory; `xid` and `pci` where the driver names
    a GPU.
    """

    seconds: float  # since boot
    text: str
    xid: int | None
    pci: str
    pid: int = 0  # the process it names, by the kernel's own number; 0 where it names none
    event: KernelEvent = ""


class System(Record, frozen=True):
    """Operating system, container, limits, kernel log."""

    os: Fact[str] = NOT_OBSERVED  # "linux", "windows", "darwin"
    distro: Fact[Distro] = NOT_OBSERVED
    kernel: Fact[str] = NOT_OBSERVED
    machine: Fact[str] = NOT_OBSERVED  # "x86_64", "aarch64"
    libc: Fact[Libc] = NOT_OBSERVED
    offline: Fact[Offline] = NOT_OBSERVED  # Absent on a machine that runs
    container: Fact[str] = NOT_OBSERVED  # "docker", "podman", "kubernetes", "singularity", "image"
    injected: Fact[Injected] = NOT_OBSERVED  # Absent outside a container
    wsl: Fact[int] = NOT_OBSERVED  # 1 or 2
    wsl_device: Fact[bool] = NOT_OBSERVED  # /dev/dxg; Absent outside WSL
    open_files_limit: Fact[int] = NOT_OBSERVED  # -1 = unlimited
    address_space_limit: Fact[int] = NOT_OBSERVED  # -1 = unlimited
    tasks: Fact[int] = NOT_OBSERVED  # that the control group allows; Absent = no limit
    shm: Fact[Space] = NOT_OBSERVED
    memory: Fact[Memory] = NOT_OBSERVED
    kernel_log: Fact[tuple[KernelLine, ...]] = NOT_OBSERVED
    uptime: Fact[float] = NOT_OBSERVED  # seconds
    booted: Fact[float] = NOT_OBSERVED  # Unix time
