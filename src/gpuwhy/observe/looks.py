"""Every look, in the order in which subjects build on each other; and the questions worth asking early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuwhy.model.fact import Fact, Known
from gpuwhy.observe import devices, driver, environment, libraries, surroundings, target, toolkits
from gpuwhy.observe.scene import Look, Scene

_SUBJECTS = (surroundings, target, environment, toolkits, libraries, driver, devices)


def _by_system(look: Look) -> Callable[[Scene], Fact[Any]]:
    """The look itself, or on Windows the one that takes its place there."""

    def see(scene: Scene) -> Fact[Any]:
        system = scene.facts.surroundings.system
        if not isinstance(system, Known) or system.value != "windows":
            return look.see(scene)
        from gpuwhy.observe.windows.looks import LOOKS as ON_WINDOWS  # not loaded where it is not needed

        return ON_WINDOWS.get((look.subject, look.field), look.see)(scene)

    return see


LOOKS: tuple[Look, ...] = tuple(look._replace(see=_by_system(look)) for subject in _SUBJECTS for look in subject.LOOKS)

EARLY: tuple[tuple[Any, ...], ...] = (("call", "nvml"), ("call", "nodes"), ("kernel_log",))
"""Questions whose answers come from another process."""
