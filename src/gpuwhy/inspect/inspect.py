"""Which kind of thing a path is, and who inspects it."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from gpuwhy.facts.fact import Fact, Known, Unknown, value_or
from gpuwhy.inspect.bundle import inspect_folder, inspect_wheel
from gpuwhy.inspect.environment import inspect_environment, prefix_of
from gpuwhy.inspect.file import inspect_elf
from gpuwhy.inspect.inspected import Inspected
from gpuwhy.inspect.probe import probed
from gpuwhy.inspect.windows import inspect_pe
from gpuwhy.look.look import Options, look
from gpuwhy.machine.machine import Machine

_WINDOWS = re.compile(r"\.(dll|pyd|exe|sys)$", re.IGNORECASE)
_SPECIAL = {"char": "a device", "block": "a device", "other": "a pipe or a socket"}


def inspect(
    machine: Machine,
    path: str,
    folder: str = "/",
    probe: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> Fact[Inspected]:
    """What a file, folder or environment needs and would load; `folder` is the current one.

    With `probe` the system's own loader is asked too.
    """
    note(f"reading {path}")
    prefix = prefix_of(machine, path)
    found = (
        inspect_environment(machine, path, prefix, note)
        if prefix
        else _inspect_path(machine, path, folder)
    )
    if probe and isinstance(found, Known):
        return Known(replace(found.value, probe=probed(machine, found.value)), found.source)
    return found


def _inspect_path(machine: Machine, path: str, folder: str) -> Fact[Inspected]:
    stat = machine.stat(path)
    if not isinstance(stat, Known):
        return stat
    if stat.value.kind == "folder":
        return inspect_folder(machine, path, folder)
    if stat.value.kind != "file":
        return Unknown(f"{path}: not a regular file but {_SPECIAL[stat.value.kind]}")
    if not stat.value.size:  # the kernel's files have no size, and some never end
        return Unknown(f"{path}: empty file at offset 0")
    if path.endswith(".whl"):
        return inspect_wheel(machine, path, folder)
    named = _WINDOWS.search(path) is not None
    elf = machine.elf(path)
    if not named and isinstance(elf, Known):
        return inspect_elf(machine, path, folder, elf.value, stat.value)
    pe = machine.pe(path)
    if isinstance(pe, Known):
        return inspect_pe(machine, path, folder, pe.value, stat.value.size)
    if named or isinstance(elf, Known):
        return pe
    first = value_or(machine.read(path), "")[:256].split("\n", 1)[0]
    if first.startswith("#!"):
        runs = f"gpuwhy run -- {path} shows what it starts"
        return Unknown(f"{path}: a script for {first[2:].strip()}, not a program; {runs}")
    return elf


def active_prefix(machine: Machine) -> str:
    """The folder of the environment that `gpuwhy check` would look at; "" where there is none."""
    python = look(machine, Options(folder="."), ("environment",)).environment.python
    return python.value.prefix if isinstance(python, Known) else ""
