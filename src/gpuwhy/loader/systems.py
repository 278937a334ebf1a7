"""What differs between the loaders of two systems, as small questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from gpuwhy.facts.fact import Fact, Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import DriverLibrary, Outcome
from gpuwhy.loader.outcome import Library, Missing
from gpuwhy.machine.machine import Machine

CUDNN_PARTS = {
    "9": "graph engines_precompiled engines_runtime_compiled heuristic ops cnn adv",
    "8": "ops_infer ops_train cnn_infer cnn_train adv_infer adv_train",
}
"""The sub-libraries that cuDNN opens by itself, by its major."""


class Process(Protocol):
    """What a program has loaded, in order, and what it has not found."""

    machine: Machine
    missing: list[Missing]

    @property
    def loaded(self) -> Sequence[Library]: ...
    def get(self, name: str) -> Library | None: ...


class System(Protocol):
    """One system's answers: linux.py or windows_system.py, where each is described."""

    SEARCH: str
    LIBCUDA: str
    LIBNVML: str
    REFUSES: tuple[Outcome, ...]

    def world_of(self, machine: Machine, facts: Facts) -> Fact[Any]: ...
    def driver_copies(self, world: Any, facts: Facts, name: str) -> Iterator[DriverLibrary]: ...
    def run(self, world: Any, facts: Facts, framework: Framework) -> Process: ...
    def fold(self, name: str) -> str: ...
    def stem(self, name: str) -> str: ...
    def concerns_gpu(self, path: str) -> bool: ...
    def matters(self, missing: Missing) -> bool: ...
    def provides(self, name: str) -> str | None: ...
    def tells(self, name: str, copy: LibraryCopy | None) -> bool: ...
    def doubt(self, sees_variables: bool, missing: bool) -> str: ...
    def not_cached(self, machine: Machine, name: str, processor: str) -> str: ...


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
