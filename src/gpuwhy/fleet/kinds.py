"""Kinds: the facts that nodes are compared by, and what a difference can do."""

from __future__ import annotations

from functools import cache

from gpuwhy.fleet.answer import Kind

_NCCL, _HARDWARE, _LIMIT = ("distributed.nccl",), ("device.hardware",), ("env.limit",)

KINDS: tuple[Kind, ...] = (
    Kind("causes", "what its own report names", 3),
    Kind("gpu.count", "GPUs", 3, "less", ("device.hardware", "driver.missing", "container.no_gpu")),
    Kind("gpu.names", "kinds of GPU", 3, "any", ("framework.gpu_unsupported",)),
    Kind("gpu.lost", "GPUs that NVML cannot speak to", 3, "more", _HARDWARE),
    Kind("gpu.xids", "Xid errors in the kernel log", 3, "any", _HARDWARE),
    Kind("gpu.ecc_uncorrected", "uncorrected memory errors since boot", 3, "more", _HARDWARE),
    Kind("gpu.ecc_retired", "retired pages or remapped rows", 1, "more", _HARDWARE),
    Kind("gpu.reset_due", "GPUs with a remap or a reset pending", 3, "more", _HARDWARE),
    Kind("gpu.mig", "MIG mode", 3, "any", ("device.selection",)),
    Kind("gpu.compute_mode", "compute mode", 3, "any", ("device.busy",)),
    Kind("gpu.fabric", "NVLink fabric", 3, "any", ("driver.not_ready",)),
    Kind(
        "gpu.nvlink",
        "active NVLinks of the worst GPU",
        3,
        "less",
        ("distributed.nccl", "device.hardware"),
    ),
    Kind("gpu.pcie_width", "PCIe lanes of the worst GPU", 1, "less", _HARDWARE),
    Kind("gpu.pcie_generation", "PCIe generation that the worst GPU can use", 1, "less", _HARDWARE),
    Kind("gpu.throttle", "why clocks are held down", 1, "any", _HARDWARE),
    Kind("gpu.clock_max", "highest SM clock of the slowest GPU, MHz", 1, "less", _HARDWARE, 0.02),
    Kind("gpu.clock_limit", "SM clock set by hand, MHz", 1, "less", _HARDWARE, 0.02),
    Kind("gpu.power_limit", "power limit of the lowest GPU, W", 1, "less", _HARDWARE, 0.02),
    Kind("gpu.ecc_mode", "ECC", 2, "any", ("memory.oom",)),
    Kind("gpu.memory", "memory of the smallest GPU, GiB", 3, "less", ("memory.oom",), 0.02),
    Kind("gpu.held", "GPUs with memory held by others", 2, "more", ("memory.other_process",)),
    Kind("driver.version", "driver", 3, "any", ("driver.too_old", "driver.library_mismatch")),
    Kind("driver.cuda", "newest CUDA of the driver", 3, "less", ("driver.too_old",)),
    Kind(
        "driver.library",
        "driver library",
        3,
        "any",
        ("driver.library_mismatch", "driver.compat_misuse"),
    ),
    Kind("driver.flavour", "flavour of the kernel module", 1),
    Kind("driver.peermem", "nvidia_peermem (GPUDirect RDMA)", 2, "any", _NCCL),
    Kind("driver.fabricmanager", "nvidia-fabricmanager", 3, "any", ("driver.not_ready",)),
    Kind(
        "driver.refused",
        "device nodes that are missing or refused",
        3,
        "more",
        ("driver.permission",),
    ),
    Kind("lib.nccl", "NCCL", 3, "any", _NCCL),
    Kind(
        "lib.cudnn",
        "cuDNN",
        3,
        "any",
        ("cudnn.version_mismatch", "cudnn.mixed_libraries", "cudnn.missing"),
    ),
    Kind(
        "lib.",
        "CUDA library",
        3,
        "any",
        ("cuda.version_mismatch", "cuda.mixed_libraries", "cuda.missing_library"),
    ),
    Kind(
        "missing.", "library that is not found", 3, "any", ("cuda.missing_library", "cudnn.missing")
    ),
    Kind("framework.", "framework", 3, "any", ("install.inconsistent", "framework.cpu_only")),
    Kind("package.", "package", 3, "any", ("install.inconsistent", "install.conflict")),
    Kind("python.packages", "all packages together", 1, "any", ("install.inconsistent",)),
    Kind("python.version", "Python", 2, "any", ("install.inconsistent",)),
    Kind("toolkit.cuda", "CUDA toolkit on PATH", 1, "any", ("program.build",)),
    Kind("env.CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", 2, "any", ("device.selection",)),
    Kind("env.LD_LIBRARY_PATH", "LD_LIBRARY_PATH", 2, "any", ("env.path",)),
    Kind("env.LD_PRELOAD", "LD_PRELOAD", 2, "any", ("env.path",)),
    Kind("env.NCCL_", "variable of NCCL", 3, "any", _NCCL),
    Kind("env.", "variable", 2, "any", ("env.setting",)),
    Kind("net.ib_devices", "InfiniBand or RoCE devices", 3, "less", _NCCL),
    Kind("net.ib_active", "ports of them that are up", 3, "less", _NCCL),
    Kind("net.ib_layer", "link layer", 3, "any", _NCCL),
    Kind("net.ib_rate", "rate of the slowest active port, Gb/s", 1, "less", _NCCL),
    Kind("net.ib_firmware", "firmware of the adapters", 1, "any", _NCCL),
    Kind("net.ib_pcie_width", "PCIe lanes of the worst adapter", 1, "less", _HARDWARE),
    Kind("net.interfaces", "network interfaces that are up", 2, "any", _NCCL),
    Kind("net.mtu", "MTU of them", 2, "any", _NCCL),
    Kind("nccl.plugins", "NCCL plugins", 3, "any", _NCCL),
    Kind("nccl.config", "NCCL's configuration file", 3, "any", _NCCL),
    Kind("limits.open_files", "open files", 2, "less", _LIMIT, 0.0, True),
    Kind("limits.locked_memory", "locked memory", 3, "less", _LIMIT, 0.0, True),
    Kind("limits.address_space", "address space", 2, "less", _LIMIT, 0.0, True),
    Kind("limits.tasks", "processes and threads", 2, "less", _LIMIT, 0.0, True),
    Kind("host.shm", "/dev/shm, MiB", 3, "less", _LIMIT, 0.05),
    Kind("host.memory", "memory, GiB", 1, "less", ("memory.host",), 0.05),
    Kind(
        "host.memory_limit",
        "memory limit of the control group, GiB",
        2,
        "less",
        ("memory.host",),
        0.02,
        True,
    ),
    Kind("host.cpus", "CPUs", 1, "less", (), 0.0),
    Kind("host.cpu_quota", "CPU quota of the control group", 1, "less", (), 0.0, True),
    Kind("host.governor", "frequency governor", 1),
    Kind("host.cgroup", "version of control groups", 1),
    Kind("host.kernel", "kernel", 1),
    Kind("host.distribution", "distribution", 1),
    Kind("host.libc", "C library", 2, "any", ("framework.extension_abi",)),
    Kind("host.machine", "machine", 3, "any", ("framework.platform_dropped",)),
    Kind("host.system", "system", 3),
    Kind("host.container", "container", 1, "any", ("container.no_gpu",)),
    Kind("host.clock", "seconds that its clock is off", 2, "more", ("distributed.peer",)),
)

_EXACT = {kind.name: kind for kind in KINDS}
_PREFIXES = sorted(
    (kind for kind in KINDS if kind.name.endswith((".", "_"))), key=lambda kind: -len(kind.name)
)
_OTHER = Kind("", "", 0)


@cache
def kind_of(fact: str) -> Kind:
    """The kind of a fact by its name; what nobody knows has no weight."""
    if fact in _EXACT:
        return _EXACT[fact]
    return next((kind for kind in _PREFIXES if fact.startswith(kind.name)), _OTHER)


def title(fact: str) -> str:
    """What a fact is called: "NCCL", "variable NCCL_IB_HCA"."""
    kind = kind_of(fact)
    if not kind.name or kind.name == fact:
        return kind.title or fact
    return f"{kind.title} {fact.split('.', 1)[1]}"
