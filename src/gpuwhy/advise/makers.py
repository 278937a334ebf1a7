"""Makers: remedies that take more than a row to make; a row names one by `make`."""

from __future__ import annotations

from collections.abc import Callable

from gpuwhy.advise.names import Names
from gpuwhy.advise.remedy import Remedy

MAKERS: dict[str, Callable[[Names], Remedy | None]] = {}
