"""The guard: `gpuwhy.guard()` around code or a function.

The module itself is callable, so that `gpuwhy.guard` is one name for both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from gpuwhy.api.guard import Guard

F = TypeVar("F", bound=Callable[..., Any])

SECONDS = 5.0


class Guarding(ModuleType):
    """The type of this module: it can be called."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, /, *, machine: bool = True, seconds: float = SECONDS) -> Guard: ...
    def __call__(
        self, function: Any = None, /, *, machine: bool = True, seconds: float = SECONDS
    ) -> Any:
        """A guard to use with `with` or `@`, or the guarded function where one is given.

        `machine=False` reads the error alone; `seconds` is the most that a look may take.
        """
        from gpuwhy.api.guard import Guard

        guard = Guard(machine=machine, seconds=seconds)
        return guard if function is None else guard(function)

    def install(self) -> None:
        """Explain every uncaught GPU error of this process; `uninstall` takes it back."""
        from gpuwhy.api.guard import HOOKS

        HOOKS.install()

    def uninstall(self) -> None:
        """Take back what `install` did."""
        from gpuwhy.api.guard import HOOKS

        HOOKS.uninstall()


sys.modules[__name__].__class__ = Guarding
