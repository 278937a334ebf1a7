"""Imports: whether packages can be imported, each tried in a child process of the environment's own Python."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from gpuwhy.host.process import End, Limits, collect
from gpuwhy.repair.child import REDIRECTS

SECONDS = 180.0
MEMORY = 24 << 30
_QUIET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "MPLBACKEND": "Agg"}
_WORDS = 300
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt):.*\w")
_WITHOUT_CODE = """
if not getattr(m, '__file__', None) and getattr(m, '__path__', None) is not None:
    raise ImportError('%s is an empty folder: its __init__.py cannot be read' % m.__name__)
"""
"""A package whose first file is gone, or leads nowhere, is imported all the same, as a name with nothing in it."""


def tried(
    python: str, modules: Sequence[str], environ: Mapping[str, str], say: Callable[[str], None] = lambda _: None
) -> dict[str, str]:
    """For each module how its import ended: "" where it went well; nothing is written into the environment."""
    clean = {name: value for name, value in environ.items() if name not in REDIRECTS} | _QUIET
    with tempfile.TemporaryDirectory(prefix="gpuwhy-") as empty, ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda module: _end(python, module, clean, empty), modules))
    return dict(zip(modules, ends, strict=True))


def _end(python: str, module: str, environ: dict[str, str], folder: str) -> str:
    """In an empty folder, so that no file of the user's stands in for a module."""
    code = f"import os; os.chdir({folder!r}); m = __import__({module!r})\n{_WITHOUT_CODE}"
    try:
        end = collect([python, "-c", code], Limits(SECONDS, MEMORY), environ)
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    return "" if end.code == 0 else _told(end)


def _told(end: End) -> str:
    """The last error with words of its own, the last line that says something, or how it died.

    CuPy draws lines of signs around its errors, and sets the one that was first in between.
    """
    if end.code is None or end.code < 0:
        return end.words
    lines = [line.strip() for line in end.err.splitlines()]
    raised = [line for line in lines if _RAISED.match(line)]
    said = [line for line in lines if re.search(r"\w", line)]
    last = (raised or said or [end.words])[-1]
    return last.replace(os.sep * 2, os.sep)[:_WORDS]
