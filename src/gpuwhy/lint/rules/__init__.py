"""Rules: one room each, code and page side by side; a new one has its line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

NAMES = (
    "apt_cuda",
    "apt_gone",
    "apt_python",
    "bad_gpu_request",
    "base_image",
    "borrowed_cuda",
    "broken_release",
    "build_alone",
    "build_cuda_mismatch",
    "cloned_head",
    "cmake_gone",
    "cog_key",
    "cog_python",
    "colab_gone",
    "compat_first",
    "conda_activate",
    "conda_pip_mix",
    "conda_terms",
    "copy_missing",
    "cpu_image",
    "cpu_wheel",
    "cuda_for_cpu",
    "cuda_path",
    "dead_address",
    "discarded_image",
    "driver_capabilities",
    "driver_in_image",
    "driver_too_old",
    "ended_system",
    "ended_runner",
    "entrypoint_arguments",
    "env_command",
    "externally_managed",
    "foreign_line",
    "framework_conflict",
    "git_address",
    "gpu_at_build",
    "gpu_no_code",
    "gpus_hidden",
    "image_outrun",
    "image_overridden",
    "image_tag",
    "index_ended",
    "index_late",
    "index_outrun",
    "index_replaced",
    "line_option",
    "local_image",
    "local_version",
    "lost_argument",
    "lost_variable",
    "marker_skips",
    "missing_neighbour",
    "module_gone",
    "mixed_cuda",
    "musl",
    "named_wheel",
    "no_answer",
    "no_command",
    "no_cuda_extra",
    "no_gpu_request",
    "no_libgl",
    "no_library",
    "no_nv",
    "no_nvcc",
    "no_program",
    "no_root",
    "no_solution",
    "no_such_build",
    "no_such_extra",
    "no_such_index",
    "no_such_release",
    "no_system_cuda",
    "nvcc_arch",
    "nvidia_docker",
    "nvidia_pin",
    "old_apt_key",
    "old_build_flag",
    "old_get_pip",
    "old_gpus",
    "old_pip",
    "old_pip_option",
    "other_python",
    "pair_mismatch",
    "pin_undone",
    "platform_dropped",
    "python_no_wheel",
    "python_unnamed",
    "refused_metadata",
    "same_files",
    "shared_memory",
    "slurm_job",
    "stage_python",
    "stubs",
    "swallowed_instruction",
    "tf1_open",
    "tombstone",
    "torch_at_build",
    "torch_replaced",
    "unbuildable",
    "unquoted_bound",
    "unstated_limit",
    "uv_no_environment",
    "uv_path",
    "visible_devices",
    "windows_cpu_torch",
    "wrong_name",
    "wrong_variable",
    "yanked",
)


class Room(NamedTuple):
    """A rule and what it looks at: environments, things that are started, or both."""

    rule: Rule
    check: Callable[[Scope], Iterator[Mistake]] | None
    check_workload: Callable[[Workload, Machine | None], Iterator[Mistake]] | None


def _room(name: str) -> Room:
    module = import_module(f"gpuwhy.lint.rules.{name}")
    return Room(module.RULE, getattr(module, "check", None), getattr(module, "check_workload", None))


ROOMS: dict[str, Room] = {room.rule.id: room for room in map(_room, NAMES)}
"""Every rule by its id; ids never change."""
