"""Guard: adds the answer to a GPU error that passes through it; costs nothing until one does."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from types import TracebackType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Guard:
    """A context manager, plain and async, and a decorator for functions, coroutines, generators."""

    __slots__ = ("machine", "seconds")

    def __init__(self, *, machine: bool, seconds: float) -> None:
        self.machine = machine
        self.seconds = seconds

    def saw(self, error: BaseException | None) -> None:
        """Add the answer to an error, if it is one of the GPU stack; never raises."""
        if isinstance(error, Exception):
            from gpuwhy.api.note import annotate

            annotate(error, machine=self.machine, seconds=self.seconds)

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.saw(error)

    async def __aenter__(self) -> Guard:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.saw(error)

    def __call__(self, function: F) -> F:
        """The same function, guarded."""
        import inspect

        if isinstance(function, type) or not callable(function):
            raise TypeError(f"guard decorates functions, not {function!r}")
        wrap = self._plain
        if inspect.isasyncgenfunction(function):
            wrap = self._async_generator
        elif inspect.iscoroutinefunction(function):
            wrap = self._coroutine
        elif inspect.isgeneratorfunction(function):
            wrap = self._generator
        guarded: Any = functools.wraps(function)(wrap(function))
        result: F = guarded
        return result

    def _plain(self, function: Any) -> Any:
        def guarded(*args: Any, **named: Any) -> Any:
            try:
                return function(*args, **named)
            except Exception as error:
                self._passing(error)
                raise

        return guarded

    def _coroutine(self, function: Any) -> Any:
        async def guarded(*args: Any, **named: Any) -> Any:
            try:
                return await function(*args, **named)
            except Exception as error:
                self._passing(error)
                raise

        return guarded

    def _generator(self, function: Any) -> Any:
        def guarded(*args: Any, **named: Any) -> Generator[Any, Any, Any]:
            try:
                return (yield from function(*args, **named))
            except Exception as error:
                self._passing(error)
                raise

        return guarded

    def _async_generator(self, function: Any) -> Any:
        async def guarded(*args: Any, **named: Any) -> AsyncGenerator[Any, Any]:
            inner = function(*args, **named)
            step = inner.__anext__()
            try:
                while True:
                    value = await step
                    try:
                        step = inner.asend((yield value))
                    except GeneratorExit:
                        await inner.aclose()
                        raise
                    except BaseException as thrown:
                        step = inner.athrow(thrown)
            except StopAsyncIteration:
                return
            except Exception as error:
                self._passing(error)
                raise

        return guarded

    def _passing(self, error: Exception) -> None:
        """Note an error that leaves a guarded function; our frame stays out of its traceback."""
        self.saw(error)
        trace = error.__traceback__
        if trace is not None and trace.tb_next is not None:
            BaseException.with_traceback(error, trace.tb_next)
