"""The causes, one per file, registered by hand in one sorted tuple."""

from __future__ import annotations

from gpuwhy.causes.container import no_gpu as container_no_gpu
from gpuwhy.causes.cuda import compiler_missing as cuda_compiler_missing
from gpuwhy.causes.cuda import missing_library as cuda_missing_library
from gpuwhy.causes.cuda import mixed_libraries as cuda_mixed_libraries
from gpuwhy.causes.cuda import version_mismatch as cuda_version_mismatch
from gpuwhy.causes.cudnn import dependency_missing as cudnn_dependency_missing
from gpuwhy.causes.cudnn import missing as cudnn_missing
from gpuwhy.causes.cudnn import mixed_libraries as cudnn_mixed_libraries
from gpuwhy.causes.cudnn import version_mismatch as cudnn_version_mismatch
from gpuwhy.causes.device import busy as device_busy
from gpuwhy.causes.device import hardware as device_hardware
from gpuwhy.causes.device import selection as device_selection
from gpuwhy.causes.distributed import nccl as distributed_nccl
from gpuwhy.causes.distributed import peer as distributed_peer
from gpuwhy.causes.driver import compat_misuse as driver_compat_misuse
from gpuwhy.causes.driver import library_mismatch as driver_library_mismatch
from gpuwhy.causes.driver import missing as driver_missing
from gpuwhy.causes.driver import not_ready as driver_not_ready
from gpuwhy.causes.driver import permission as driver_permission
from gpuwhy.causes.driver import stub as driver_stub
from gpuwhy.causes.driver import too_old as driver_too_old
from gpuwhy.causes.env import limit as env_limit
from gpuwhy.causes.env import path as env_path
from gpuwhy.causes.env import setting as env_setting
from gpuwhy.causes.env import shadowed as env_shadowed
from gpuwhy.causes.framework import bug as framework_bug
from gpuwhy.causes.framework import cpu_only as framework_cpu_only
from gpuwhy.causes.framework import extension_abi as framework_extension_abi
from gpuwhy.causes.framework import gpu_unsupported as framework_gpu_unsupported
from gpuwhy.causes.framework import platform_dropped as framework_platform_dropped
from gpuwhy.causes.install import conflict as install_conflict
from gpuwhy.causes.install import corrupted as install_corrupted
from gpuwhy.causes.install import inconsistent as install_inconsistent
from gpuwhy.causes.memory import fragmentation as memory_fragmentation
from gpuwhy.causes.memory import host as memory_host
from gpuwhy.causes.memory import oom as memory_oom
from gpuwhy.causes.memory import other_process as memory_other_process
from gpuwhy.causes.memory import preallocation as memory_preallocation
from gpuwhy.causes.other import not_gpu as other_not_gpu
from gpuwhy.causes.program import build as program_build
from gpuwhy.causes.program import fork as program_fork
from gpuwhy.causes.program import illegal_access as program_illegal_access
from gpuwhy.causes.program import index as program_index
from gpuwhy.causes.program import launch as program_launch
from gpuwhy.causes.program import order as program_order
from gpuwhy.causes.program import shape as program_shape
from gpuwhy.causes.wsl import setup as wsl_setup
from gpuwhy.model.cause import Cause

CAUSES: tuple[Cause, ...] = (
    container_no_gpu.CAUSE,
    cuda_compiler_missing.CAUSE,
    cuda_missing_library.CAUSE,
    cuda_mixed_libraries.CAUSE,
    cuda_version_mismatch.CAUSE,
    cudnn_dependency_missing.CAUSE,
    cudnn_missing.CAUSE,
    cudnn_mixed_libraries.CAUSE,
    cudnn_version_mismatch.CAUSE,
    device_busy.CAUSE,
    device_hardware.CAUSE,
    device_selection.CAUSE,
    distributed_nccl.CAUSE,
    distributed_peer.CAUSE,
    driver_compat_misuse.CAUSE,
    driver_library_mismatch.CAUSE,
    driver_missing.CAUSE,
    driver_not_ready.CAUSE,
    driver_permission.CAUSE,
    driver_stub.CAUSE,
    driver_too_old.CAUSE,
    env_limit.CAUSE,
    env_path.CAUSE,
    env_setting.CAUSE,
    env_shadowed.CAUSE,
    framework_bug.CAUSE,
    framework_cpu_only.CAUSE,
    framework_extension_abi.CAUSE,
    framework_gpu_unsupported.CAUSE,
    framework_platform_dropped.CAUSE,
    install_conflict.CAUSE,
    install_corrupted.CAUSE,
    install_inconsistent.CAUSE,
    memory_fragmentation.CAUSE,
    memory_host.CAUSE,
    memory_oom.CAUSE,
    memory_other_process.CAUSE,
    memory_preallocation.CAUSE,
    other_not_gpu.CAUSE,
    program_build.CAUSE,
    program_fork.CAUSE,
    program_illegal_access.CAUSE,
    program_index.CAUSE,
    program_launch.CAUSE,
    program_order.CAUSE,
    program_shape.CAUSE,
    wsl_setup.CAUSE,
)  # fmt: skip
