"""The causes, one per file, registered by hand in one sorted tuple."""

from __future__ import annotations

from gpuwhy.causes.container import no_gpu as container_no_gpu
from gpuwhy.causes.cuda import missing_library as cuda_missing_library
from gpuwhy.causes.cudnn import missing as cudnn_missing
from gpuwhy.causes.device import busy as device_busy
from gpuwhy.causes.device import hardware as device_hardware
from gpuwhy.causes.device import selection as device_selection
from gpuwhy.causes.driver import compat_misuse as driver_compat_misuse
from gpuwhy.causes.driver import library_mismatch as driver_library_mismatch
from gpuwhy.causes.driver import missing as driver_missing
from gpuwhy.causes.driver import not_ready as driver_not_ready
from gpuwhy.causes.driver import permission as driver_permission
from gpuwhy.causes.driver import stub as driver_stub
from gpuwhy.causes.driver import too_old as driver_too_old
from gpuwhy.causes.env import path as env_path
from gpuwhy.causes.framework import cpu_only as framework_cpu_only
from gpuwhy.causes.framework import gpu_unsupported as framework_gpu_unsupported
from gpuwhy.causes.framework import platform_dropped as framework_platform_dropped
from gpuwhy.causes.install import conflict as install_conflict
from gpuwhy.causes.install import corrupted as install_corrupted
from gpuwhy.causes.memory import host as memory_host
from gpuwhy.causes.memory import other_process as memory_other_process
from gpuwhy.causes.wsl import setup as wsl_setup
from gpuwhy.model.cause import Cause

CAUSES: tuple[Cause, ...] = (
    container_no_gpu.CAUSE,
    cuda_missing_library.CAUSE,
    cudnn_missing.CAUSE,
    device_busy.CAUSE,
    device_hardware.CAUSE,
    device_selection.CAUSE,
    driver_compat_misuse.CAUSE,
    driver_library_mismatch.CAUSE,
    driver_missing.CAUSE,
    driver_not_ready.CAUSE,
    driver_permission.CAUSE,
    driver_stub.CAUSE,
    driver_too_old.CAUSE,
    env_path.CAUSE,
    framework_cpu_only.CAUSE,
    framework_gpu_unsupported.CAUSE,
    framework_platform_dropped.CAUSE,
    install_conflict.CAUSE,
    install_corrupted.CAUSE,
    memory_host.CAUSE,
    memory_other_process.CAUSE,
    wsl_setup.CAUSE,
)  # fmt: skip
