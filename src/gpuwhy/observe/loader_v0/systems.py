"""What differs between the loaders of two systems, as small questions: loads.py and unmet.py do not branch on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0.outcome import Library, Missing
from gpuwhy.model.fact import Fact, Known
from gpuwhy.model.facts import DriverLibrary, Facts, Fate, Framework, LibraryCopy


class Process(Protocol):
    """What a program has loaded, in order, and what it has not found."""

    host: Host
    missing: list[Missing]

    @property
    def loaded(self) -> Sequence[Library]: ...
    def get(self, name: str) -> Library | None: ...


class System(Protocol):
    """One system's answers: linux.py or windows_system.py, where each is described."""

    SEARCH: str
    LIBCUDA: str
    LIBNVML: str
    REFUSES: tuple[Fate, ...]

    def world_of(self, host: Host, facts: Facts) -> Fact[Any]: ...
    def driver_copies(self, world: Any, facts: Facts, name: str) -> Iterator[DriverLibrary]: ...
    def run(self, world: Any, facts: Facts, framework: Framework) -> Process: ...
    def fold(self, name: str) -> str: ...
    def stem(self, name: str) -> str: ...
    def concerns_gpu(self, path: str) -> bool: ...
    def matters(self, missing: Missing) -> bool: ...
    def provides(self, name: str) -> str | None: ...
    def tells(self, name: str, copy: LibraryCopy | None) -> bool: ...
    def doubt(self, sees_variables: bool, missing: bool) -> str: ...
    def unlisted(self, host: Host, name: str, machine: str) -> str: ...


def system_of(facts: Facts) -> System:
    """The system under diagnosis; that of Windows is imported where it is needed."""
    if is_windows(facts):
        from gpuwhy.observe.loader_v0 import windows_system

        return windows_system
    from gpuwhy.observe.loader_v0 import linux

    return linux


def is_windows(facts: Facts) -> bool:
    """Whether the machine is a Windows machine."""
    system = facts.surroundings.system
    return isinstance(system, Known) and system.value == "windows"
