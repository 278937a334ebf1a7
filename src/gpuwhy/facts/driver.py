"""The NVIDIA driver: kernel side, user side, device nodes, services."""

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Record


class DeviceNode(Record, frozen=True):
    """One node below /dev that CUDA needs, and what opening it read-write gave this user."""

    path: str
    required: bool  # CUDA cannot work without it
    present: bool
    mode: str  # "crw-rw-rw-", "" when missing
    opened: Fact[str]  # "ok", "hung", "not a device", or the errno name: EACCES, EPERM, ENXIO, EIO
    number: str = ""  # "195:255", major and minor; "" when missing, no device, or not seen


class SystemPackage(Record, frozen=True):
    """One system package (dpkg, pacman …) of the driver or of CUDA."""

    name: str
    version: str
    status: str  # "installed", "half-installed", "half-configured", "unpacked", "config-files" …
    changed: Fact[float]  # Unix time of its last change on disk


class Driver(Record, frozen=True):
    """The NVIDIA driver: kernel side, user side, device nodes, services."""

    module_version: Fact[str] = NOT_OBSERVED  # driver_version of the loaded kernel module
    modules: Fact[tuple[str, ...]] = NOT_OBSERVED  # loaded: nvidia, nvidia_uvm … or nouveau
    module_on_disk: Fact[str] = NOT_OBSERVED  # driver_version that the next boot would load
    secure_boot: Fact[bool] = NOT_OBSERVED
    packages: Fact[tuple[SystemPackage, ...]] = NOT_OBSERVED
    driver_cuda: Fact[str] = NOT_OBSERVED  # newest CUDA that the driver supports: 13.0
    windows_version: Fact[str] = NOT_OBSERVED  # under WSL: driver_version on the Windows side
    nodes: Fact[tuple[DeviceNode, ...]] = NOT_OBSERVED
    majors: Fact[dict[str, int]] = NOT_OBSERVED  # of /proc/devices: {"nvidia": 195}
    mig_nodes: Fact[dict[str, str]] = NOT_OBSERVED  # {"gpu0/gi1/ci0": "/dev/nvidia-caps/…12"}
    modprobe_setuid: Fact[bool] = NOT_OBSERVED  # nvidia-modprobe makes missing nodes where it is
    fabricmanager: Fact[bool] = NOT_OBSERVED  # whether it runs; Absent = not installed
