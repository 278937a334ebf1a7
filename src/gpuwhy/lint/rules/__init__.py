"""Rules: one room each, code and page side by side; a new one is named twice here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import NamedTuple

from gpuwhy.lint.rules import (
    bad_gpu_request,
    base_image,
    borrowed_cuda,
    broken_release,
    build_cuda_mismatch,
    compat_first,
    conda_pip_mix,
    cpu_image,
    cpu_wheel,
    driver_capabilities,
    driver_in_image,
    driver_too_old,
    framework_conflict,
    gpu_at_build,
    gpu_no_code,
    gpus_hidden,
    image_overridden,
    image_tag,
    index_outrun,
    index_replaced,
    line_option,
    local_version,
    mixed_cuda,
    musl,
    no_cuda_extra,
    no_gpu_request,
    no_nvcc,
    no_such_build,
    no_such_extra,
    no_such_index,
    no_such_release,
    no_system_cuda,
    nvidia_pin,
    old_apt_key,
    pair_mismatch,
    platform_dropped,
    python_no_wheel,
    same_files,
    shared_memory,
    stubs,
    tombstone,
    torch_at_build,
    torch_replaced,
    unstated_limit,
    visible_devices,
    windows_cpu_torch,
    wrong_name,
    yanked,
)
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine


class Room(NamedTuple):
    """A rule and what it looks at: environments, things that are started, or both."""

    rule: Rule
    check: Callable[[Scope], Iterator[Mistake]] | None
    check_workload: Callable[[Workload, Machine | None], Iterator[Mistake]] | None


def _room(module: ModuleType) -> Room:
    return Room(module.RULE, getattr(module, "check", None), getattr(module, "check_workload", None))


_MODULES: tuple[ModuleType, ...] = (
    bad_gpu_request,
    base_image,
    borrowed_cuda,
    broken_release,
    build_cuda_mismatch,
    compat_first,
    conda_pip_mix,
    cpu_image,
    cpu_wheel,
    driver_capabilities,
    driver_in_image,
    driver_too_old,
    framework_conflict,
    gpu_at_build,
    gpu_no_code,
    gpus_hidden,
    image_overridden,
    image_tag,
    index_outrun,
    index_replaced,
    line_option,
    local_version,
    mixed_cuda,
    musl,
    no_cuda_extra,
    no_gpu_request,
    no_nvcc,
    no_such_build,
    no_such_extra,
    no_such_index,
    no_such_release,
    no_system_cuda,
    nvidia_pin,
    old_apt_key,
    pair_mismatch,
    platform_dropped,
    python_no_wheel,
    same_files,
    shared_memory,
    stubs,
    tombstone,
    torch_at_build,
    torch_replaced,
    unstated_limit,
    visible_devices,
    windows_cpu_torch,
    wrong_name,
    yanked,
)

ROOMS: dict[str, Room] = {module.RULE.id: _room(module) for module in _MODULES}
"""Every rule by its id; ids never change."""
