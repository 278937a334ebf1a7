"""Ahead: libraries that the loader's variables put before all others, and which of them a failed import needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Fact, Known, Source, absent, value_or
from gpuwhy.model.facts import Ahead

MOST_FILES, MOST_FOLDERS, TAIL = 400, 20, 60
"""How many files and folders are looked at, and how many of the last lines of the output."""
_LIBRARY = re.compile(r"lib[\w+.-]{1,80}\.so(?:\.[\d.]+)?$")
_OBJECT = re.compile(
    r"(?P<object>[~/][^\s:'\"]{1,400}\.so[\w.]{0,20}): (?:undefined symbol|symbol lookup error|version [`'\"]|cannot)"
    r"|symbol lookup error: (?P<object2>[~/][^\s:'\"]{1,400}): "
)


def ahead_of_all(variables: Mapping[str, str], host: Host, output: str) -> Fact[tuple[Ahead, ...]]:
    """What is put first, those first that an object needs which the end of the output says cannot be loaded."""
    found = list(_put_first(variables, host))
    if not found:
        return absent("env", "LD_PRELOAD, LD_LIBRARY_PATH")
    needs = _needs(host, "\n".join(output.splitlines()[-TAIL:]))
    rows = [Ahead(path, variable, needs.get(path.rpartition("/")[2], "")) for path, variable in found]
    told = sorted(
        (one for one in rows if one.needed_by or one.variable != "LD_LIBRARY_PATH"), key=lambda o: not o.needed_by
    )
    return Known(tuple(told), Source("env", "LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH"))


def _put_first(variables: Mapping[str, str], host: Host) -> Iterator[tuple[str, str]]:
    for variable in ("LD_PRELOAD", "LD_AUDIT"):
        for path in re.split(r"[: ]+", variables.get(variable, "")):
            if path:
                yield path, variable
    folders = [one for one in variables.get("LD_LIBRARY_PATH", "").split(":") if one][:MOST_FOLDERS]
    for folder in folders:
        names = value_or(host.list(folder), ())
        for entry in names[:MOST_FILES]:
            if _LIBRARY.match(entry.name):
                yield f"{folder.rstrip('/')}/{entry.name}", "LD_LIBRARY_PATH"


def _needs(host: Host, output: str) -> dict[str, str]:
    """By the name of a library: the object that needs it, among those that the output says cannot be loaded."""
    out: dict[str, str] = {}
    for match in _OBJECT.finditer(output):
        path = match["object"] or match["object2"]
        elf = value_or(host.elf(path), None)
        for name in elf.needed if elf is not None else ():
            out.setdefault(name, path)
    return out
