"""fit_batch: the largest batch that fits, found by really trying."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any, SupportsIndex

from gpuwhy.answer.text import size as shown
from gpuwhy.api.memory import clean, forget, out_of_memory, requested, settle

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
    size = index(start)
    if not 1 <= least <= size <= most:
        given = f"{least}, {size} and {most}"
        raise ValueError(f"fit_batch needs 1 <= least <= start <= most; got {given}")
    tries: list[Try] = []
    good, bad = 0, most + 1  # the largest that fits, the smallest above it that does not
    clean(failed=False)
    while True:
        found = good + 1 >= bad or (good and len(tries) >= MOST_TRIES)
        if found and not (confirm and len(tries) < MOST_TRIES):
            return Fitted(good, tuple(tries), most)
        one = _try(step, good if found else size)
        tries.append(one)
        if reset is not None:
            reset()
        clean(failed=not one.fits)
        if found and one.fits:
            return Fitted(good, tuple(tries), most)
        if not one.fits and one.size == least:
            raise NoBatchFitsError(tuple(tries))
        bad = bad if one.fits else one.size  # a size that fitted once may not fit again
        good = max((each.size for each in tries if each.fits and each.size < bad), default=0)
        if not good:
            size = max(least, bad // 2)
        else:
            size = min(most, good * 2) if bad > most else (good + bad) // 2


def _try(step: Callable[[int], Any], size: int) -> Try:
    """Try one size, and wait for its end."""
    began = time.monotonic()
    try:
        settle(step(size))
        return Try(size, True, time.monotonic() - began)
    except Exception as error:
        if not out_of_memory(error):
            raise
        line = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        took, message = time.monotonic() - began, f"{type(error).__name__}: {line}"
        one = Try(size, False, took, requested(error), message)
        forget(error)
        return one
