"""Libraries that variables of the loader put first, and which of them a failed import needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from gpuwhy.facts.fact import Fact, Known, Source, absent, value_or
from gpuwhy.facts.run import PutFirst
from gpuwhy.machine.machine import Machine

Variable = Literal["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"]
MOST_FILES, MOST_FOLDERS, TAIL = 400, 20, 60
"""How many files and folders are looked at, and how many of the last lines of the output."""
_LIBRARY = re.compile(r"lib[\w+.-]{1,80}\.so(?:\.[\d.]+)?$")
_OBJECT = re.compile(
    r"(?P<object>[~/][^\s:'\"]{1,400}\.so[\w.]{0,20}): "
    r"(?:undefined symbol|symbol lookup error|version [`'\"]|cannot)"
    r"|symbol lookup error: (?P<object2>[~/][^\s:'\"]{1,400}): "
)


def put_first(
    variables: Mapping[str, str], machine: Machine, output: str
) -> Fact[tuple[PutFirst, ...]]:
    """What is put first; before all, what an object needs that the output says cannot be loaded."""
    found = list(_named(variables, machine))
    if not found:
        return absent("env", "LD_PRELOAD, LD_LIBRARY_PATH")
    needs = _needs(machine, "\n".join(output.splitlines()[-TAIL:]))
    rows = [PutFirst(path, name, needs.get(path.rpartition("/")[2], "")) for path, name in found]
    kept = [one for one in rows if one.needed_by or one.variable != "LD_LIBRARY_PATH"]
    kept.sort(key=lambda one: not one.needed_by)
    return Known(tuple(kept), Source("env", "LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH"))


def _named(variables: Mapping[str, str], machine: Machine) -> Iterator[tuple[str, Variable]]:
    everywhere: tuple[Variable, ...] = ("LD_PRELOAD", "LD_AUDIT")
    for variable in everywhere:
        for path in re.split(r"[: ]+", variables.get(variable, "")):
            if path:
                yield path, variable
    folders = [one for one in variables.get("LD_LIBRARY_PATH", "").split(":") if one]
    for folder in folders[:MOST_FOLDERS]:
        names = value_or(machine.list(folder), ())
        for entry in names[:MOST_FILES]:
            if _LIBRARY.match(entry.name):
                yield f"{folder.rstrip('/')}/{entry.name}", "LD_LIBRARY_PATH"


def _needs(machine: Machine, output: str) -> dict[str, str]:
    """By the name of a library: the object that needs it and that cannot be loaded."""
    out: dict[str, str] = {}
    for match in _OBJECT.finditer(output):
        path = match["object"] or match["object2"]
        elf = value_or(machine.elf(path), None)
        for name in elf.needed if elf is not None else ():
            out.setdefault(name, path)
    return out
