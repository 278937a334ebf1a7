"""Case: everything that a text states, typed, each with its line.

Versions have the precise names of law 11.
"""

from typing import Generic, Literal, TypeVar

import msgspec

T = TypeVar("T")

Action = Literal["install", "remove", "set", "unset", "look", "restart"]
Os = Literal["", "linux", "windows", "macos"]


class Stated(msgspec.Struct, Generic[T], frozen=True):
    """A value that the text states, and the line where it does."""

    value: T
    line: int


class Release(msgspec.Struct, frozen=True):
    """A package or framework that the text names; version "" where it states none."""

    name: str  # "torch", "nvidia-cudnn-cu12"
    version: str = ""
    line: int = 0


class NamedGpu(msgspec.Struct, frozen=True):
    """A GPU that the text names, with what is stated of it or known by its name."""

    name: str  # "NVIDIA GeForce RTX 3090"; "" where only its capability is stated
    capability: str = ""  # "8.6"
    memory: int = 0  # bytes; 0 = not stated
    line: int = 0


class GpuProcess(msgspec.Struct, frozen=True):
    """A row of nvidia-smi's table of processes, or what an allocator says of others."""

    pid: int
    name: str = ""
    memory: int = 0  # bytes
    line: int = 0


class Figures(msgspec.Struct, frozen=True):
    """What an allocator's message states, in bytes; None where it does not state it."""

    asked: int | None = None
    free: int | None = None
    total: int | None = None
    held: int | None = None  # by this process: reserved, allocated
    allocated: int | None = None
    others: int | None = None  # by other processes
    cap: int | None = None  # a limit that somebody set
    device: str = ""  # "GPU 0", "cpu"
    line: int = 0


class Typed(msgspec.Struct, frozen=True):
    """A command line that the text shows."""

    words: tuple[str, ...]
    line: int
    failed: bool | None = None  # whether the text shows that it failed; None = not shown


class Done(msgspec.Struct, frozen=True):
    """Something that the text shows as done or tried already."""

    action: Action
    what: str  # the package with its bound, the variable with its value, the command
    line: int
    helped: bool | None = None


class Case(msgspec.Struct, frozen=True):
    """What a text states of the machine, the program and the person; empty where it states
    nothing.
    """

    # who prints
    frameworks: tuple[Release, ...] = ()  # the one whose words decide first
    programs: tuple[Stated[str], ...] = ()  # ids of knowledge/programs, the one that failed first
    packages: tuple[Release, ...] = ()  # everything whose version is stated
    # versions
    driver_version: Stated[str] | None = None
    driver_cuda: Stated[str] | None = None  # the newest CUDA that the driver supports
    built_for_cuda: Stated[str] | None = None
    runtime_cuda: Stated[str] | None = None
    toolkit_cuda: Stated[str] | None = None
    built_for_cudnn: Stated[str] | None = None
    runtime_cudnn: Stated[str] | None = None
    python: Stated[str] | None = None
    # where
    os: Stated[Os] | None = None
    distribution: Stated[str] | None = None  # "ubuntu 22.04"
    machine: Stated[str] | None = None  # "aarch64"
    wsl: Stated[int] | None = None  # 1 or 2
    platform: Stated[str] | None = None  # "jetson", "colab", "kaggle", "sagemaker"
    container: Stated[str] | None = (
        None  # the engine: "docker", "kubernetes"; "container" where unnamed
    )
    image: Stated[str] | None = None
    batch_system: Stated[str] | None = None  # "slurm", "lsf"
    launcher: Stated[str] | None = None  # "torchrun", "mpirun", "deepspeed", "ray"
    manager: Stated[str] | None = None  # "pip", "conda", "uv", "poetry"
    shell: Stated[str] | None = None  # "bash", "cmd", "powershell", "notebook"
    # the GPU and its memory
    gpus: tuple[NamedGpu, ...] = ()
    gpu_seen: Stated[int] | None = None  # how many GPUs the program itself sees; -1 = some
    processes: tuple[GpuProcess, ...] = ()
    memory: Figures | None = None
    # what the person has, set, typed and tried
    variables: dict[str, Stated[str]] = {}
    libraries: tuple[Stated[str], ...] = ()  # paths of libraries, as loaded or found
    files: tuple[Stated[str], ...] = ()  # paths that a listing shows to exist
    ports: tuple[Stated[int], ...] = ()
    ranks: tuple[Stated[str], ...] = ()  # processes of a job that failed, the first first
    commands: tuple[Typed, ...] = ()
    done: tuple[Done, ...] = ()

    @property
    def framework(self) -> str:
        """The framework that the deciding lines are of; "" where none is."""
        return self.frameworks[0].name if self.frameworks else ""

    @property
    def framework_version(self) -> str:
        """Its version, "" where the text does not state it."""
        return self.frameworks[0].version if self.frameworks else ""

    def version(self, package: str) -> str:
        """The stated version of a package, or ""."""
        found = (one.version for one in (*self.frameworks, *self.packages) if one.name == package)
        return next(filter(None, found), "")

    def variable(self, name: str) -> str:
        """The stated value of an environment variable, or ""."""
        found = self.variables.get(name)
        return found.value if found else ""
