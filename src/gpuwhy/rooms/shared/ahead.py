"""Ahead: what a variable of the loader puts first, linked to a program that ended while libraries were loaded."""

from __future__ import annotations

import re

from gpuwhy.model.cause import Case, Finding, linked, proof, saw, strong
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import Ahead
from gpuwhy.rooms.shared.watched import said

USUAL = re.compile(
    r"jemalloc|tcmalloc|mimalloc|hoard|libgomp|libiomp|libomp|libl?[atu]b?san|fakeroot|eatmydata|darshan|segfault|faker|proxychains|faketime"
    r"|scorep|extrae|nsys|injection|snoopy|stdbuf|memkind|valgrind|nvidia|libcuda",
    re.IGNORECASE,
)
"""Libraries that people preload on purpose, and that break nothing."""
LOADING = ("ImportError", "SystemError", "OSError")
"""Exceptions by which Python tells that compiled code could not be loaded, or did not start."""


def put_first(case: Case, *variables: str) -> Ahead | None:
    """What one of these variables puts first, where the program failed and needs it, or ended while it was loading."""
    if not case.facts.run.failed:
        return None
    found = [one for one in value_or(case.facts.run.ahead, ()) if one.variable in variables]
    needed = next((one for one in found if one.needed_by), None)
    if needed is not None or not _loading(case):
        return needed
    return next((one for one in found if one.variable != "LD_LIBRARY_PATH" and not USUAL.search(one.path)), None)


def _loading(case: Case) -> bool:
    """Whether the program ended while libraries were loaded or started, and by no reason of its own."""
    if case.facts.run.crashed or said(case, "loader.") is not None:
        return True
    frame = case.ending.frame
    native = case.ending.name != "ImportError" or (frame is not None and frame.code.startswith(("import", "from")))
    return case.ending.name in LOADING and native and frame is not None and frame.owner != "user"


def told(case: Case, one: Ahead) -> Finding:
    """The finding: a proof where the object that cannot be loaded needs a library of that name."""
    seen = saw(f"{one.variable} puts {one.path} first", Source("env", one.variable))
    name = one.path.rpartition("/")[2]
    if one.needed_by:
        by = saw(f"needs {name}", Source("file", one.needed_by))
        broken = one.needed_by.rpartition("/")[2]
        text = f"{one.variable} puts {one.path} first, and {broken}, which needs {name}, cannot be loaded with it"
        return linked(proof(text, seen, by))
    return linked(
        strong(f"{one.variable} puts {one.path} into the program, which ended while it loaded its libraries", seen)
    )
