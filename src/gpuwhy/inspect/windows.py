"""A Windows library or program: what it states of itself and, below a Windows, what it loads."""

import re

from msgspec.structs import replace

from gpuwhy.facts.fact import Fact, Known, known, value_or
from gpuwhy.formats.pe import Pe
from gpuwhy.inspect.inspected import Header, Inspected
from gpuwhy.inspect.linux import gpu_of, variables
from gpuwhy.inspect.trees import tree_of, version_of
from gpuwhy.loader import windows as win
from gpuwhy.loader.windows import WindowsProcess
from gpuwhy.loader.windows_system import base_program
from gpuwhy.machine.machine import Machine

NOWHERE = "for Windows: what it would get is known on Windows, or with --root for a Windows disk"
_SITE = re.compile(r"(.*)/Lib/site-packages(?=/|$)", re.IGNORECASE)
_PYTHON = re.compile(r"python3(\d+)\.dll$", re.IGNORECASE)


def inspect_pe(machine: Machine, path: str, folder: str, pe: Pe, size: int) -> Fact[Inspected]:
    """Inspect one PE file."""
    cut = f"truncated: its headers describe {pe.extent} bytes, it has {size}"
    notes = (cut,) if pe.extent > size else ()
    version = version_of(machine, path, path)
    answer = Inspected(
        path=path,
        kind="library" if pe.is_dll else "program",
        needed=pe.imports,
        gpu=gpu_of(machine, path),
        header=Header(pe.machine, pe.bits, version=version, delayed=pe.delayed),
        notes=(*notes, NOWHERE),
        searched=False,
    )
    uname = machine.uname()
    disk = isinstance(machine.stat("C:/Windows/System32"), Known)
    if not (uname.value.system == "windows" if isinstance(uname, Known) else disk):
        return known(answer, "file", path)
    call = win.ALTERED
    releases = [int(match[1]) for name in pe.imports if (match := _PYTHON.match(name))]
    if not pe.is_dll:
        call = win.PLAIN  # a program is started
    elif releases or _SITE.match(path):  # what belongs to Python is opened as its release does
        call = win.LISTED_OWN if not releases or releases[0] >= 8 else win.ALTERED
    process = WindowsProcess(_world(machine, pe.machine, path, folder))
    process.load(path, call)
    steering = variables(machine, "PATH")
    found = replace(answer, tree=tree_of(process), variables=steering, notes=notes, searched=True)
    return known(found, "file", path)


def _world(machine: Machine, processor: str, path: str, folder: str) -> win.WindowsWorld:
    """What the search depends on; the program is the file, or the Python it is installed for."""
    environ = value_or(machine.environ(), {})
    program, site = path, _SITE.match(path)
    for name in ("Scripts/python.exe", "python.exe") if site else ():
        if site and isinstance(machine.stat(f"{site[1]}/{name}"), Known):
            program = base_program(machine, f"{site[1]}/{name}")
    return win.WindowsWorld(
        machine,
        processor,
        program.rpartition("/")[0],
        win.split_path(environ.get("PATH", "")),
        win.tidy(environ.get("SYSTEMROOT", "C:/Windows")),
        folder if folder not in ("", "/") else "",
        packaged="/windowsapps/" in program.lower(),
        sees_path="PATH" in environ,
    )
