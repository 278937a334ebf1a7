"""The causes, one room each, registered by hand in one sorted tuple.

The room of "layer.name" is causes/<layer>/<name>.py (what facts show), <name>_text.py (what texts say) and <name>.md.
"""

from __future__ import annotations

from importlib import import_module

from gpuwhy.model.cause import Cause

IDS = (
    "container.no_gpu",
    "cuda.compiler_missing",
    "cuda.missing_library",
    "cuda.mixed_libraries",
    "cuda.version_mismatch",
    "cudnn.dependency_missing",
    "cudnn.missing",
    "cudnn.mixed_libraries",
    "cudnn.version_mismatch",
    "device.busy",
    "device.hardware",
    "device.selection",
    "distributed.nccl",
    "distributed.peer",
    "driver.compat_misuse",
    "driver.library_mismatch",
    "driver.missing",
    "driver.not_ready",
    "driver.permission",
    "driver.stub",
    "driver.too_old",
    "env.limit",
    "env.path",
    "env.setting",
    "env.shadowed",
    "framework.bug",
    "framework.cpu_only",
    "framework.extension_abi",
    "framework.gpu_unsupported",
    "framework.platform_dropped",
    "install.cache",
    "install.conflict",
    "install.corrupted",
    "install.inconsistent",
    "memory.fragmentation",
    "memory.host",
    "memory.oom",
    "memory.other_process",
    "memory.preallocation",
    "other.not_gpu",
    "program.build",
    "program.fork",
    "program.illegal_access",
    "program.index",
    "program.launch",
    "program.order",
    "program.shape",
    "wsl.setup",
)  # fmt: skip

CAUSES: tuple[Cause, ...] = tuple(import_module(f"gpuwhy.rooms.{one}").CAUSE for one in IDS)
