"""The NVIDIA driver: kernel side, user side, device nodes, services."""

from __future__ import annotations

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record


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
    mig_parts: Fact[dict[str, str]] = NOT_OBSERVED  # {"gpu0/gi1/ci0": "/dev/nvidia-caps/nvidia-cap12"}: parts of MIG
    modprobe: Fact[str] = (
        NOT_OBSERVED  # nvidia-modprobe, which makes missing nodes on first use: "setuid" | "not setuid"
    )
    persistenced: Fact[str] = NOT_OBSERVED  # "running" | "stopped"
    fabricmanager: Fact[str] = NOT_OBSERVED  # "running" | "stopped"
