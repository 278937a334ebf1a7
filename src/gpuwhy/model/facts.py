"""Facts: everything observed of one machine and one Python environment, by subject.

Each subject is a frozen record whose fields are all `Fact`s. A field that nobody filled is `Unknown("not observed")`,
so a cause that asks for it stays undetermined instead of guessing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.model.fact import NOT_OBSERVED, Absent, Fact, Known, known


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all observed records: frozen, and strict when read back."""


# ---------------------------------------------------------------- driver


class DeviceNode(Record, frozen=True):
    """One node below /dev that CUDA needs, and what opening it read-write gave this user."""

    path: str
    required: bool  # CUDA cannot work without it
    present: bool
    mode: str  # "crw-rw-rw-", "" when missing
    opened: Fact[str]  # "ok", or the errno name: EACCES, EPERM, ENXIO, ENODEV, EIO
    number: str = ""  # "195:255", major and minor; "" when missing, no device, or not seen


class Package(Record, frozen=True):
    """One system package (dpkg, rpm …) of the driver or of CUDA."""

    name: str
    version: str
    status: str  # "installed", "half-installed", "half-configured", "unpacked", "config-files" …
    changed: Fact[float]  # Unix time of its last change on disk


class Driver(Record, frozen=True):
    """The NVIDIA driver: kernel side, user side, device nodes, services."""

    module_version: Fact[str] = NOT_OBSERVED  # driver_version of the loaded kernel module
    module_flavour: Fact[str] = NOT_OBSERVED  # "open" | "proprietary"
    modules: Fact[tuple[str, ...]] = NOT_OBSERVED  # loaded: nvidia, nvidia_uvm, nvidia_modeset …
    module_on_disk: Fact[str] = NOT_OBSERVED  # version of the nvidia.ko that the next boot or modprobe would load
    nouveau: Fact[bool] = NOT_OBSERVED
    secure_boot: Fact[bool] = NOT_OBSERVED
    dkms: Fact[tuple[str, ...]] = NOT_OBSERVED  # "nvidia/550.54.15 6.8.0-31-generic: built|missing"
    packages: Fact[tuple[Package, ...]] = NOT_OBSERVED
    compat_packages: Fact[tuple[Package, ...]] = NOT_OBSERVED  # cuda-compat-*
    driver_cuda: Fact[str] = NOT_OBSERVED  # newest CUDA the driver speaks: 13.0
    behind_wsl: Fact[str] = NOT_OBSERVED  # version of Windows' driver under WSL; Absent elsewhere
    nodes: Fact[tuple[DeviceNode, ...]] = NOT_OBSERVED
    majors: Fact[dict[str, int]] = NOT_OBSERVED  # of /proc/devices: {"nvidia": 195, "nvidia-uvm": 511}
    modprobe: Fact[str] = (
        NOT_OBSERVED  # nvidia-modprobe, which makes missing nodes on first use: "setuid" | "not setuid"
    )
    persistenced: Fact[str] = NOT_OBSERVED  # "running" | "stopped"
    fabricmanager: Fact[str] = NOT_OBSERVED  # "running" | "stopped"


# ---------------------------------------------------------------- devices


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


# ---------------------------------------------------------------- CUDA on disk


class Toolkit(Record, frozen=True):
    """One CUDA toolkit, or the part of one, on disk."""

    path: str
    kind: Literal["system", "distribution", "conda", "wheel"]
    toolkit_cuda: Fact[str]
    nvcc: Fact[str]  # path of its nvcc


class Toolkits(Record, frozen=True):
    """Every CUDA toolkit on disk and the one that PATH and the variables choose."""

    toolkits: Fact[tuple[Toolkit, ...]] = NOT_OBSERVED
    nvcc_on_path: Fact[str] = NOT_OBSERVED
    usr_local_cuda: Fact[str] = NOT_OBSERVED  # where /usr/local/cuda leads


class LibraryCopy(Record, frozen=True):
    """One file of a CUDA library that something on this machine could load."""

    family: str  # cudart, cublas, cublasLt, cudnn, cufft, curand, cusolver, cusparse, nccl, nvrtc, nvjitlink, cupti …
    name: str  # file name as a program would ask for it: libcudnn.so.9
    path: str
    real: str
    where: str  # "ld.so.cache", "LD_LIBRARY_PATH", "wheel", "conda", "toolkit", "default folder"
    version: Fact[str]
    size: Fact[int]
    owner: Fact[str]  # "nvidia-cudnn-cu12 9.27.0.5 (pip)", "libcudnn9-cuda-13 9.14.0 (dpkg)"
    health: Fact[str]  # "ok", "empty", "truncated …", "not ELF", "wrong architecture …", "dangling link", "unreadable"


class Libraries(Record, frozen=True):
    """Every copy of the CUDA libraries."""

    copies: Fact[tuple[LibraryCopy, ...]] = NOT_OBSERVED


# ---------------------------------------------------------------- environment


class Fault(Record, frozen=True):
    """What a reader makes of a variable that was meant otherwise."""

    kind: Literal["off", "rejected", "ignored", "misspelt"]
    frameworks: tuple[str, ...]  # names of the frameworks that it concerns; () = whatever uses CUDA here
    text: str  # "PyTorch stops at 'yes', which is neither True nor False"
    allowed: tuple[str, ...] = ()  # the values its reader takes, where they can be listed
    instead: str = ""  # the nearest value or name that would be read
    source: str = ""  # how that is known


class Variable(Record, frozen=True):
    """An environment variable that steers the GPU stack, what it steers, and what is wrong with its value."""

    name: str
    value: str
    steers: str  # who reads it: "the dynamic loader", "TensorFlow" …; "" = nothing that is installed here
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()  # worth knowing, nothing wrong: "TensorFlow on Linux does not read it"
    faults: tuple[Fault, ...] = ()  # what its readers, as installed here, do not take as it was meant


class Environment(Record, frozen=True):
    """The variables of the shell that gpuwhy was started from."""

    variables: Fact[tuple[Variable, ...]] = NOT_OBSERVED

    def value(self, name: str) -> Fact[str]:
        """Return one variable's value: Known, Absent (not set) or Unknown (the environment was not seen)."""
        if not isinstance(self.variables, Known):
            return self.variables
        for variable in self.variables.value:
            if variable.name == name:
                return known(variable.value, "env", name)
        return Absent(known(None, "env", name, "not set").source)


# ---------------------------------------------------------------- target


class Interpreter(Record, frozen=True):
    """The Python of the environment under diagnosis."""

    path: str
    version: str  # 3.12.1
    prefix: str
    kind: str  # "venv", "conda", "system", "pyenv", "store" …
    chosen_by: str  # "--python", "VIRTUAL_ENV", "CONDA_PREFIX", ".venv", "PATH"
    machine: str  # x86_64, aarch64
    gone: str = ""  # what is wrong with its executable: "a link that leads nowhere" | "not there"


class Distribution(Record, frozen=True):
    """An installed distribution, read from its metadata folder."""

    name: str  # normalised: tensorflow-cpu
    version: str
    location: str  # the dist-info or egg-info folder
    installer: Fact[str]


class Opened(Record, frozen=True):
    """A library that a framework asks the loader for, and the file that asks."""

    name: str  # libcudnn.so.9
    by: str  # path of the file whose NEEDED entry or dlopen call asks
    optional: bool  # the framework works on the GPU without it


class Framework(Record, frozen=True):
    """A framework installed in the target, and what it was built for."""

    name: str  # tensorflow, torch, jax, onnxruntime, cupy …
    title: str  # TensorFlow
    distribution: str  # tensorflow-cpu
    version: str
    path: str  # package folder
    gpu_build: Fact[bool]
    built_for_cuda: Fact[str]  # Absent for a build without CUDA
    built_for_cudnn: Fact[str]
    sass: Fact[tuple[str, ...]]  # sm_70 …
    ptx: Fact[tuple[str, ...]]  # compute_90 …
    opens: Fact[tuple[Opened, ...]]  # the CUDA libraries it opens, before anybody looks for them


class Conflict(Record, frozen=True):
    """Files that two installed distributions both claim."""

    owners: tuple[str, ...]  # "tensorflow 2.21.0", "tensorflow-cpu 2.21.0"
    files: int
    example: str
    module: str  # import name whose files are shared
    winner: Fact[str]  # the distribution whose bytes are on disk


class Unfit(Record, frozen=True):
    """A version that an installed GPU package asks of another, and that the installed one is not."""

    by: str  # torch
    by_version: str
    name: str  # nvidia-nvjitlink-cu12
    wants: str  # ==12.4.127
    installed: str  # 12.1.105
    file: str  # the metadata that asks


class Contradiction(Record, frozen=True):
    """An installed release that another installed one cannot work with, and how that is known."""

    by: str  # jax
    by_version: str
    name: str  # jaxlib; the distribution that is installed for it may be a flavour: tensorflow-cpu
    wants: str  # "<=0.4.35,>=0.4.34"; a sentence's object, as its source says it
    installed: str  # "0.4.31"; "" = not installed
    how: Literal["stated", "extra", "unstated", "compiled", "generated", "same release"]
    file: str  # the metadata or the library that tells
    effect: str = ""  # what then happens, where that is known: "so its import fails"
    know: str = ""  # the knowledge row behind it, where there is one
    stops: bool = False  # `by` cannot be imported, or not be used on a GPU, whatever else is right
    near: bool = True  # `by` belongs to the GPU stack, or something of it needs it


class Damage(Record, frozen=True):
    """An installed file that is not what its RECORD says."""

    path: str
    owner: str  # "nvidia-cudnn-cu12 9.27.0.5"
    what: str  # "empty", "missing", "truncated", "not ELF", "wrong architecture", "other size", "other hash" …
    expected: str
    actual: str


class Shadow(Record, frozen=True):
    """A file or folder that Python imports instead of the module that was meant."""

    module: str  # torch
    path: str  # what is imported
    instead: str  # the folder that holds what was meant, or "Python's own library"
    via: str  # "the script's folder", "the working folder", "PYTHONPATH", "the user's site-packages", a .pth file
    version: str = ""  # of what is imported, where it is an installed package
    meant: str = ""  # of what was meant
    other_python: str = ""  # the Python that the folder's packages were installed for, where that is another


class Target(Record, frozen=True):
    """The Python environment under diagnosis."""

    interpreter: Fact[Interpreter] = NOT_OBSERVED
    site_packages: Fact[tuple[str, ...]] = NOT_OBSERVED
    distributions: Fact[tuple[Distribution, ...]] = NOT_OBSERVED
    frameworks: Fact[tuple[Framework, ...]] = NOT_OBSERVED
    conflicts: Fact[tuple[Conflict, ...]] = NOT_OBSERVED
    damage: Fact[tuple[Damage, ...]] = NOT_OBSERVED
    unfit: Fact[tuple[Unfit, ...]] = NOT_OBSERVED  # of what PyTorch and JAX ask for in their metadata
    contradictions: Fact[tuple[Contradiction, ...]] = NOT_OBSERVED  # among the GPU packages and their neighbours
    shadows: Fact[tuple[Shadow, ...]] = NOT_OBSERVED  # what stands in for modules of the stack
    kernels: Fact[tuple[str, ...]] = NOT_OBSERVED  # Jupyter kernels: "name: interpreter"


# ---------------------------------------------------------------- surroundings


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


class KernelLine(Record, frozen=True):
    """A kernel log line about the GPU."""

    seconds: float  # since boot
    text: str
    xid: int | None
    pci: str
    pid: int = 0  # the process it speaks of, by the kernel's own number; 0 where it names none


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


# ---------------------------------------------------------------- what the loader would do


class DriverLibrary(Record, frozen=True):
    """One copy of libcuda or libnvidia-ml that the loader could pick up; tuples of them are in the loader's order."""

    name: str  # libcuda.so.1
    path: str  # as the loader would open it
    real: str  # after following links
    found_via: str  # "LD_LIBRARY_PATH", "ld.so.cache", "default folder", "wsl folder", "not on the search path"
    kind: Literal["driver", "stub", "compat", "wsl"]
    version: Fact[str]  # driver_version of this file: 580.159.04
    health: Fact[str]  # "ok", or what is wrong with the file


class NeededLibrary(Record, frozen=True):
    """A library that a framework opens, and what the loader would find."""

    framework: str  # Framework.name
    name: str  # libcudnn.so.9
    optional: bool
    needed_by: str  # file that asks for it
    found: Fact[str]  # path; Absent = the loader finds none
    found_via: str  # "RUNPATH of …", "LD_LIBRARY_PATH", "ld.so.cache", "default folder"
    searched: tuple[str, ...]  # folders in order, for the not-found story
    elsewhere: tuple[str, ...]  # copies of that name outside the search
    other_versions: tuple[str, ...]  # copies of the same library with another SONAME


class LoadedLibrary(Record, frozen=True):
    """One library of a load tree: the file, how it was found, and who asked first."""

    name: str
    path: str
    via: str
    needed_by: str
    version: Fact[str]
    owner: Fact[str]


class MissingLibrary(Record, frozen=True):
    """A library that the loader does not find, with the search in order."""

    name: str
    needed_by: str
    why: str  # "not found", or what is wrong with the file that stops the search
    searched: tuple[str, ...]


class UnmetSymbol(Record, frozen=True):
    """Symbols that a loaded library needs and that the copy loaded for it does not define."""

    library: str  # path of the library that asks
    provider: str  # path of the copy that should define them
    symbols: tuple[str, ...]  # the first few
    count: int


class LoadTree(Record, frozen=True):
    """What a framework's process would load, in order; the CUDA libraries and the framework's own."""

    framework: str
    libraries: tuple[LoadedLibrary, ...]
    missing: tuple[MissingLibrary, ...]
    unmet: tuple[UnmetSymbol, ...]


class Extension(Record, frozen=True):
    """A compiled library built against a framework, and the symbols that the installed framework lacks."""

    distribution: str
    version: str
    path: str
    symbols: tuple[str, ...]  # the first few
    count: int
    wants: Fact[str] = NOT_OBSERVED  # the release of the framework that its metadata asks for: "==2.2.0"


class Loads(Record, frozen=True):
    """What the dynamic loader would pick: filled by loader/, after everything else was observed."""

    libcuda: Fact[tuple[DriverLibrary, ...]] = (
        NOT_OBSERVED  # every copy; first = the one that wins, if it is on the path
    )
    libnvml: Fact[tuple[DriverLibrary, ...]] = NOT_OBSERVED
    trees: Fact[tuple[LoadTree, ...]] = NOT_OBSERVED  # one per framework that opens CUDA libraries
    needs: Fact[tuple[NeededLibrary, ...]] = NOT_OBSERVED  # of every framework
    extensions: Fact[tuple[Extension, ...]] = NOT_OBSERVED


# ---------------------------------------------------------------- what really happens


class Call(Record, frozen=True):
    """One call into a library during the probe: what it answered, and how long it took."""

    name: str  # cuInit, dlopen, "compare with the host"
    ok: bool
    code: int | None = None
    status: str = ""  # CUDA_ERROR_NO_DEVICE
    text: str = ""  # the library's own words, the value it gave, or what was wrong with the result
    ms: float = 0.0


class Stage(Record, frozen=True):
    """One step of the staircase from the driver library to a convolution, and how it went."""

    name: str  # see probe/stages.py: "libcuda", "init", "context" …; for frameworks "import", "devices", "matmul" …
    outcome: Literal["passed", "failed", "crashed", "hung", "skipped"]
    calls: tuple[Call, ...] = ()
    ms: float = 0.0
    device: int | None = None  # as CUDA numbers them here
    why: str = ""  # failed: in one sentence; crashed: the signal; skipped: why
    library: str = ""  # the file that is really mapped

    @property
    def failing(self) -> Call | None:
        """The first call that did not succeed."""
        return next((call for call in self.calls if not call.ok), None)


class Rate(Record, frozen=True):
    """A rate that the probe reached, as a sanity check: bytes or operations per second."""

    what: str  # "copy to the GPU", "copy on the GPU", "float32 matmul"
    device: int
    per_second: float
    unit: str  # "B/s", "FLOP/s"


class FrameworkRun(Record, frozen=True):
    """What a framework did in its own interpreter: its stages, its files, its words."""

    framework: str  # Framework.name
    stages: tuple[Stage, ...]
    version: str = ""
    built_for: str = ""  # as it says itself: "CUDA 12.4, cuDNN 90100"
    devices: tuple[str, ...] = ()  # GPUs as it lists them
    mapped: tuple[str, ...] = ()  # CUDA libraries really mapped, in order of address
    said: str = ""  # the end of what it printed to standard error, and its exception
    notes: tuple[str, ...] = ()  # what the test set or left out, and what it noticed beside the result
    surprises: tuple[str, ...] = ()  # where the mapped files are not those that the loader's search predicted


class Probe(Record, frozen=True):
    """The live stages; NOT_OBSERVED unless `--probe` asked for them."""

    stages: Fact[tuple[Stage, ...]] = NOT_OBSERVED
    frameworks: Fact[tuple[FrameworkRun, ...]] = NOT_OBSERVED
    rates: Fact[tuple[Rate, ...]] = NOT_OBSERVED
    memory_used: Fact[int] = NOT_OBSERVED  # GPU bytes that the probe took at its height, contexts included


# ---------------------------------------------------------------- a program that was watched


class Moment(Record, frozen=True):
    """GPU memory at one moment of a watched program, in bytes."""

    seconds: float  # since its start
    own: int
    others: int


class GpuUse(Record, frozen=True):
    """One GPU while a watched program ran: bytes at the program's own peak and at the others' peak."""

    index: int
    total: int
    own: int  # peak of the program and its descendants
    others_then: int  # held by other processes at that moment
    free_then: int
    others: int  # peak of the others
    busy: int  # highest utilisation in per cent; -1 = the driver does not say
    guessed: bool  # the driver names processes by other numbers: what came since the start counts as the program's
    curve: tuple[Moment, ...]  # thinned; peaks stay


class HostUse(Record, frozen=True):
    """Host memory while a watched program ran, in bytes."""

    peak: int  # resident, the program and its descendants
    least_available: Fact[int]
    limit: Fact[int]  # of the control group
    held: Fact[int]  # highest use within that limit, file cache left out


class Limit(Record, frozen=True):
    """A resource limit that a program ran under; -1 = unlimited."""

    name: str  # "NOFILE", as in RLIMIT_NOFILE
    soft: int
    hard: int


class Place(Record, frozen=True):
    """A folder that a program writes to, or a path that its output names, as it was right after the end."""

    path: str
    role: str  # "temporary", "cache of Triton", "working folder", "home", "named in the output"
    exists: bool
    nearest: str  # the folder that holds it: itself, or the nearest above it that exists
    writable: bool  # this user may write in `nearest`
    read_only: bool  # its file system is mounted so
    programs: bool  # libraries and programs in it may be run: not mounted noexec
    total: int
    free: int
    inodes: int  # how many files can still be made; -1 where the file system has no such count


class Run(Record, frozen=True):
    """A program that `gpuwhy run` watched; NOT_OBSERVED everywhere else."""

    program: Fact[str] = NOT_OBSERVED  # base name, nothing of its arguments
    exit: Fact[int] = NOT_OBSERVED  # Absent when a signal ended it
    signal: Fact[str] = NOT_OBSERVED  # SIGKILL; Absent when it exited, unless with 128 + n
    sent: Fact[tuple[str, ...]] = NOT_OBSERVED  # signals that somebody sent it through us or through the terminal
    seconds: Fact[float] = NOT_OBSERVED
    started: Fact[float] = NOT_OBSERVED  # seconds since boot
    silent: Fact[float] = NOT_OBSERVED  # seconds without output before the end; Absent when it printed nothing
    gpus: Fact[tuple[GpuUse, ...]] = NOT_OBSERVED
    host: Fact[HostUse] = NOT_OBSERVED
    oom_kills: Fact[int] = NOT_OBSERVED  # processes that the kernel killed for memory while it ran
    frameworks: Fact[tuple[str, ...]] = NOT_OBSERVED  # seen mapped in its processes: torch, tensorflow, jax …
    touched_gpu: Fact[bool] = NOT_OBSERVED  # whether a process of it was seen with a GPU open
    wanted_gpu: Fact[str] = NOT_OBSERVED  # where the program's own text asks for a GPU: "train.py, line 3"
    first_rank: Fact[str] = NOT_OBSERVED  # the rank that failed first, as the launcher's output tells
    pids: Fact[tuple[int, ...]] = NOT_OBSERVED  # its processes by the kernel's numbers, which the kernel log uses
    limits: Fact[tuple[Limit, ...]] = NOT_OBSERVED  # the tightest among its processes
    folder: Fact[str] = NOT_OBSERVED  # its working folder
    variables: Fact[dict[str, str]] = NOT_OBSERVED  # those that steer the stack and that it had otherwise than we
    places: Fact[tuple[Place, ...]] = NOT_OBSERVED

    @property
    def failed(self) -> bool:
        """Whether a program was watched and ended badly; for refinement, never for a decision on what was not seen."""
        return isinstance(self.signal, Known) or (isinstance(self.exit, Known) and self.exit.value != 0)

    def concerns(self, line: KernelLine) -> bool:
        """Whether a kernel log line may speak of this program: not where it names a process that is none of its own."""
        return not line.pid or not isinstance(self.pids, Known) or line.pid in self.pids.value

    @property
    def how_it_ended(self) -> str:
        """In words: python was ended by SIGSEGV."""
        program = self.program.value if isinstance(self.program, Known) else "the program"
        code = self.exit.value if isinstance(self.exit, Known) else None
        if isinstance(self.signal, Known):
            inside = f" (exit code {code})" if code is not None else ""
            return f"{program} was ended by {self.signal.value}{inside}"
        return f"{program} ended with code {code or 0}"


class Facts(Record, frozen=True):
    """All subjects of one machine."""

    surroundings: Surroundings = Surroundings()
    environment: Environment = Environment()
    driver: Driver = Driver()
    devices: Devices = Devices()
    toolkits: Toolkits = Toolkits()
    target: Target = Target()
    libraries: Libraries = Libraries()
    loads: Loads = Loads()
    probe: Probe = Probe()
    run: Run = Run()
