"""Guard: adds the answer to a GPU error that passes through it; costs nothing until one does."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Guard:
    """A context manager, plain and async, and a decorator for functions, coroutines, generators."""

    def __init__(self, *, machine: bool = True, seconds: float = 5.0) -> None:
        self.machine = machine
        self.seconds = seconds

    def saw(self, error: BaseException | None) -> None:
        """Add the answer to an error, if it is one of the GPU stack; never raises."""
        if isinstance(error, Exception):
            from gpuwhy.api.note import annotate

            annotate(error, machine=self.machine, seconds=self.seconds)

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.saw(error)

    async def __aenter__(self) -> Guard:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.saw(error)

    def __call__(self, function: F) -> F:
        """The same function, guarded."""
        import inspect

        if isinstance(function, type) or not callable(function):
            raise TypeError(f"guard decorates functions, not {function!r}")

        def plain(*args: Any, **named: Any) -> Any:
            with self:
                return function(*args, **named)

        async def coroutine(*args: Any, **named: Any) -> Any:
            with self:
                return await function(*args, **named)

        def generator(*args: Any, **named: Any) -> Generator[Any, Any, Any]:
            with self:
                return (yield from function(*args, **named))

        guarded: Any = plain
        if inspect.iscoroutinefunction(function):
            guarded = coroutine
        elif inspect.isgeneratorfunction(function):
            guarded = generator
        return cast(F, functools.update_wrapper(guarded, function))


class Hooks:
    """Python's hooks for uncaught errors, ours put before those that were there."""

    def __init__(self) -> None:
        self._busy = threading.local()  # a hook that was put over ours may call ours in turn
        self._before: dict[Any, Any] = {}
        self._ours: dict[Any, Any] = {sys: self._uncaught, threading: self._in_thread}

    def install(self) -> None:
        """Explain every uncaught GPU error of any thread; once."""
        for module, ours in self._ours.items():
            if module.excepthook != ours:
                self._before[module], module.excepthook = module.excepthook, ours

    def uninstall(self) -> None:
        """Put back what was there, unless somebody else has put a hook over ours."""
        for module, ours in self._ours.items():
            if module.excepthook == ours:
                module.excepthook = self._before[module]

    def _uncaught(self, kind: object, error: BaseException, trace: object) -> None:
        self._explain(error, sys, kind, error, trace)

    def _in_thread(self, args: threading.ExceptHookArgs) -> None:
        self._explain(args.exc_value, threading, args)

    def _explain(self, error: BaseException | None, module: Any, *args: Any) -> None:
        if getattr(self._busy, "now", False):
            module.__excepthook__(*args)
            return
        self._busy.now = True
        try:
            Guard().saw(error)
            self._before.get(module, module.__excepthook__)(*args)
        finally:
            self._busy.now = False


HOOKS = Hooks()
