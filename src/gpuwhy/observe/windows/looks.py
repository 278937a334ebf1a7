"""The looks of Windows, by the field that they fill; a field that is not here is looked at as on Linux."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuwhy.model.fact import Fact
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.windows import driver, environment, frameworks, libraries, surroundings, target, toolkits

_NOT_ON_WINDOWS = (
    ("surroundings", "resembles libc cgroup_devices container injected wsl wsl_device shm uptime booted"),
    ("surroundings", "open_files_limit locked_memory_limit address_space_limit"),
    ("driver", "module_flavour modules module_on_disk nouveau secure_boot dkms packages compat_packages nodes"),
    ("driver", "modprobe persistenced fabricmanager"),
    ("toolkits", "usr_local_cuda"),
)

LOOKS: dict[tuple[str, str], Callable[[Scene], Fact[Any]]] = {
    **{(subject, field): surroundings.none_here for subject, fields in _NOT_ON_WINDOWS for field in fields.split()},
    ("surroundings", "distribution"): surroundings.distribution,
    ("surroundings", "kernel"): surroundings.kernel,
    ("surroundings", "machine"): surroundings.machine,
    ("surroundings", "vm"): surroundings.vm,
    ("surroundings", "memory"): surroundings.memory,
    ("surroundings", "disks"): surroundings.disks,
    ("surroundings", "kernel_log"): surroundings.kernel_log,
    ("target", "interpreter"): target.interpreter,
    ("target", "site_packages"): target.site_packages,
    ("target", "frameworks"): frameworks.frameworks,
    ("target", "kernels"): target.kernels,
    ("environment", "variables"): environment.variables,
    ("toolkits", "toolkits"): toolkits.toolkits,
    ("toolkits", "nvcc_on_path"): toolkits.nvcc_on_path,
    ("libraries", "copies"): libraries.copies,
    ("driver", "module_version"): driver.driver_version,
    ("devices", "pci"): driver.cards,
}
