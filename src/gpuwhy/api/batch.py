"""fit_batch: the largest batch that fits, found by really trying."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any, SupportsIndex

from gpuwhy.api.memory import clean, forget, out_of_memory, requested, settle
from gpuwhy.fit.dtypes import shown

MOST_TRIES = 64


@dataclass(frozen=True)
class Try:
    """One try: its size, whether it fitted, and what a failed one asked for when memory ran out."""

    size: int
    fits: bool
    seconds: float
    needed: int | None = None  # bytes of the request that failed, where the message tells
    message: str = ""  # the first line of the error

    @property
    def needed_for(self) -> str:
        """What the request that failed was for, as part of a sentence."""
        return f": a request for {shown(self.needed)} failed" if self.needed else ""


@dataclass(frozen=True)
class Fitted:
    """The answer: `size` fits; `failed` is the smallest larger try that did not."""

    size: int
    tries: tuple[Try, ...]
    most: int

    @property
    def failed(self) -> Try | None:
        """The smallest failed try above the size; None where the limit ended the search."""
        above = [one for one in self.tries if not one.fits and one.size > self.size]
        return min(above, key=lambda one: one.size, default=None)

    def __index__(self) -> int:
        return self.size

    def __str__(self) -> str:
        said = f"batch {self.size} fits ({len(self.tries)} tries)"
        if self.failed is None:
            return f"{said}; larger ones were not tried, {self.most} being the limit"
        return f"{said}, {self.failed.size} does not{self.failed.needed_for}"


class NoBatchFitsError(MemoryError):
    """Not even the smallest batch fits; `tries` tells what was tried."""

    def __init__(self, tries: tuple[Try, ...]) -> None:
        last = tries[-1]
        super().__init__(f"a batch of {last.size} does not fit{last.needed_for} ({last.message})")
        self.tries = tries


def fit_batch(
    step: Callable[[int], Any],
    start: SupportsIndex = 1,
    *,
    least: int = 1,
    most: int = 1 << 16,
    reset: Callable[[], object] | None = None,
    confirm: bool = True,
) -> Fitted:
    """Find the largest batch size for which `step(size)` does not run out of memory.

    Sizes are doubled from `start` (halved where it does not fit), then the gap is bisected. Only
    out-of-memory errors mean "does not fit"; any other exception passes through. Between tries
    memory is cleaned up and `reset` is called: for what the step leaves in the program's own
    objects, such as gradients. `confirm` runs the answer once more, because a size that fitted once
    may not fit again.
    """
    start = index(start)
    if not 1 <= least <= start <= most:
        raise ValueError(
            f"fit_batch needs 1 <= least <= start <= most; got {least}, {start} and {most}"
        )
    search = _Search(step, reset, least, most)
    search.narrow(start)
    while confirm and not search.enough and not search.fits(search.good):
        search.narrow(max(least, search.good or search.bad // 2))
    return Fitted(search.good, tuple(search.tries), most)


class _Search:
    """The tries so far; `good` fits, or is 0, and `bad` above it does not, or is over the limit."""

    def __init__(
        self, step: Callable[[int], Any], reset: Callable[[], object] | None, least: int, most: int
    ) -> None:
        self.step, self.reset, self.least, self.most = step, reset, least, most
        self.good, self.bad = 0, most + 1
        self.tries: list[Try] = []

    @property
    def enough(self) -> bool:
        """Whether there were enough tries: a step may fit or not by chance."""
        return len(self.tries) >= MOST_TRIES

    def narrow(self, size: int) -> None:
        """Try sizes from this one on until `good` and `bad` are neighbours."""
        while self.good + 1 < self.bad and not (self.good and self.enough):
            if not self.fits(size) and size == self.least:
                raise NoBatchFitsError(tuple(self.tries))
            if not self.good:
                size = max(self.least, self.bad // 2)
            elif self.bad > self.most:
                size = min(self.most, self.good * 2)
            else:
                size = (self.good + self.bad) // 2

    def fits(self, size: int) -> bool:
        """Try one size, from clean memory to clean memory."""
        if not self.tries:
            clean(failed=False)
        one = self._try(size)
        self.tries.append(one)
        if self.reset is not None:
            self.reset()
        clean(failed=not one.fits)
        if not one.fits:
            self.bad = size
        fitted = [each.size for each in self.tries if each.fits and each.size < self.bad]
        self.good = max(fitted, default=0)
        return one.fits

    def _try(self, size: int) -> Try:
        began = time.monotonic()
        try:
            settle(self.step(size))
            return Try(size, True, time.monotonic() - began)
        except Exception as error:
            if not out_of_memory(error):
                raise
            line = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
            took, message = time.monotonic() - began, f"{type(error).__name__}: {line}"
            one = Try(size, False, took, requested(error), message)
            forget(error)
            return one
