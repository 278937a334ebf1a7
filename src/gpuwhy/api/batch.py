"""fit_batch: the largest batch that fits, found by really trying."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any, SupportsIndex

from gpuwhy.api.loaded import clean, settle
from gpuwhy.api.out_of_memory import forget, out_of_memory, requested
from gpuwhy.api.sizes import shown

MOST_TRIES = 64


@dataclass(frozen=True)
class Try:
    """One try: its size, whether it fitted, and what a failed one asked for when memory ran out."""

    size: int
    fits: bool
    seconds: float
    needed: int | None = None  # bytes of the request that failed, where the message tells
    message: str = ""  # the first line of the error


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
        needed = f": a request for {shown(self.failed.needed)} failed" if self.failed.needed else ""
        return f"{said}, {self.failed.size} does not{needed}"


class NoBatchFitsError(MemoryError):
    """Not even the smallest batch fits; `tries` tells what was tried."""

    def __init__(self, tries: tuple[Try, ...]) -> None:
        last = tries[-1]
        needed = f": a request for {shown(last.needed)} failed" if last.needed else ""
        super().__init__(f"a batch of {last.size} does not fit{needed} ({last.message})")
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
    search = _Search(step, reset)
    good, bad = _bracket(search, start, least, most)
    good = _bisect(search, good, bad)
    while confirm and not search.spent and not search.fits(good):
        good = _bisect(search, _below(search, good, least), good)
    return Fitted(good, tuple(search.tries), most)


def _bracket(search: _Search, start: int, least: int, most: int) -> tuple[int, int | None]:
    """A size that fits, and the smallest larger one that fails; None where the limit fits."""
    good, bad = start, None
    while not search.fits(good):
        if good == least:
            raise NoBatchFitsError(tuple(search.tries))
        good, bad = max(least, good // 2), good
    while bad is None and good < most:
        larger = min(most, good * 2)
        good, bad = (larger, None) if search.fits(larger) else (good, larger)
    return good, bad


def _bisect(search: _Search, good: int, bad: int | None) -> int:
    """The largest size that fits between one that does and one that does not."""
    while bad is not None and bad - good > 1 and not search.spent:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if search.fits(middle) else (good, middle)
    return good


def _below(search: _Search, size: int, least: int) -> int:
    """A smaller size that fits: the largest that has fitted so far, else by halving."""
    known = [one.size for one in search.tries if one.fits and least <= one.size < size]
    if known:
        return max(known)
    if size == least:
        raise NoBatchFitsError(tuple(search.tries))
    return _bracket(search, max(least, size // 2), least, max(least, size // 2))[0]


class _Search:
    """The tries so far."""

    def __init__(self, step: Callable[[int], Any], reset: Callable[[], object] | None) -> None:
        self.step, self.reset = step, reset
        self.tries: list[Try] = []

    @property
    def spent(self) -> bool:
        """Whether there were enough tries: a step may fit or not by chance."""
        return len(self.tries) >= MOST_TRIES

    def fits(self, size: int) -> bool:
        """Try one size, from clean memory to clean memory."""
        if not self.tries:
            clean(failed=False)
        one = self._try(size)
        self.tries.append(one)
        if self.reset is not None:
            self.reset()
        clean(failed=not one.fits)
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
            one = Try(
                size,
                False,
                time.monotonic() - began,
                requested(error),
                f"{type(error).__name__}: {line}",
            )
            forget(error)
            return one
