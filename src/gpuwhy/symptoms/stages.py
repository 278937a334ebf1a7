"""Stages: several programs of one run, told apart by where their tracebacks begin."""

from __future__ import annotations

import re

from gpuwhy.model.ending import Ending, Frame

_POOL = re.compile(r"[\\/](?:multiprocessing|concurrent)[\\/]")


def of_another(one: Ending, start: Frame) -> bool:
    """Whether a traceback begins with another program's first file: no program ends twice."""
    return bool(one.stack) and _starts(one.stack[0]) and _starts(start) and one.stack[0].file != start.file


def _starts(frame: Frame) -> bool:
    """Whether a process begins there: a program's first line, or what a pool of processes runs."""
    return frame.function == "<module>" or bool(_POOL.search(frame.file))
