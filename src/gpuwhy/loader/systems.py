"""Which of the two systems is under diagnosis, and what their frameworks have in common."""

from collections.abc import Sequence
from typing import Any, Protocol

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.loader.outcome import Library, Missing
from gpuwhy.machine.machine import Machine

CUDNN_PARTS = {
    "9": "graph engines_precompiled engines_runtime_compiled heuristic ops cnn adv",
    "8": "ops_infer ops_train cnn_infer cnn_train adv_infer adv_train",
}
"""The sub-libraries that cuDNN opens by itself, by its major."""
System = Any
"""linux.py or windows_system.py: the same functions and constants, each described there."""


class Process(Protocol):
    """What a program has loaded, in order, and what it has not found."""

    machine: Machine
    missing: list[Missing]

    @property
    def loaded(self) -> Sequence[Library]: ...
    def get(self, name: str) -> Library | None: ...


def system_of(facts: Facts) -> System:
    """The system under diagnosis; that of Windows is imported where it is needed."""
    if is_windows(facts):
        from gpuwhy.loader import windows_system

        return windows_system
    from gpuwhy.loader import linux

    return linux


def is_windows(facts: Facts) -> bool:
    """Whether the machine is a Windows machine."""
    return value_or(facts.system.os, "") == "windows"


def site_paths(facts: Facts) -> tuple[str, ...]:
    """The folders of packages, in the order of Python's path."""
    return tuple(one.path for one in value_or(facts.environment.sites, ()))


def names(machine: Machine, folder: str, match: str) -> list[str]:
    """The paths in a folder whose names match."""
    listed = machine.list(folder, match)
    return [f"{folder}/{one.name}" for one in listed.value] if isinstance(listed, Known) else []
