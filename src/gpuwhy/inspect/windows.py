"""A Windows library or program: what it states of itself and, below a Windows, its load tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gpuwhy.facts.fact import Fact, Known, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.formats.pe import Pe
from gpuwhy.inspect.inspected import (
    Bringer,
    Header,
    Inspected,
    Library,
    Lost,
    Missing,
    Searched,
    Tree,
)
from gpuwhy.inspect.linux import gpu_of, missing_of, variables
from gpuwhy.loader import outcome, windows_system
from gpuwhy.loader import windows as win
from gpuwhy.loader.outcome import FOUND
from gpuwhy.loader.symbols import unmet_symbols
from gpuwhy.loader.windows import Dll, WindowsProcess
from gpuwhy.loader.windows_frameworks import run
from gpuwhy.loader.windows_system import base_program, concerns_gpu
from gpuwhy.machine.machine import Machine

NOWHERE = "for Windows: what it would get is known on Windows, or with --root for a Windows disk"
_SITE = re.compile(r"(.*)/Lib/site-packages(?=/|$)", re.IGNORECASE)
_PYTHON = re.compile(r"python3(\d+)\.dll$", re.IGNORECASE)
_DRIVER = re.compile(r"(?i)nv(cuda|ml|api64|cuvid|encodeapi64|optix)\.dll$")
_FRAMEWORK = re.compile(r"(?i)(torch|c10|caffe2|tensorflow|_pywrap_|onnxruntime|paddle|python3)")
_RUNTIME = re.compile(r"(?i)(msvc|vcruntime|concrt|zlib)")
_TOOLKITS = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"
_WORDS = {
    win.PLAIN.title: "Windows does for a program that is started",
    win.ALTERED.title: "LoadLibrary does with the altered search path",
    win.LISTED_OWN.title: "Python 3.8 and newer does for what it opens by path",
}


def inspect_pe(machine: Machine, path: str, folder: str, pe: Pe, size: int) -> Fact[Inspected]:
    """Inspect one PE file."""
    cut = f"truncated: its headers describe {pe.extent} bytes, it has {size}"
    notes = [cut] if pe.extent > size else []
    version = version_of(machine, path, pe)
    answer = Inspected(
        path=path,
        kind="library" if pe.is_dll else "program",
        needed=pe.imports,
        gpu=gpu_of(machine, path),
        header=Header(pe.machine, pe.bits, version=version, delayed=pe.delayed),
        notes=(*notes, NOWHERE),
        searched=False,
    )
    if not is_windows(machine):
        return known(answer, "file", path)
    call = _call_for(path, pe)
    process = WindowsProcess(world_for(machine, pe.machine, path, folder))
    process.load(path, call)
    searched = replace(
        answer,
        tree=_tree_of(process, call),
        variables=variables(machine, ("PATH",)),
        notes=(*notes, f"searched as {_WORDS[call.title]}"),
        searched=True,
    )
    return known(searched, "file", path)


def is_windows(machine: Machine) -> bool:
    """Whether it is a Windows machine, or the disk of one."""
    uname = machine.uname()
    if isinstance(uname, Known):
        return uname.value.system == "windows"
    return isinstance(machine.stat("C:/Windows/System32"), Known)


def _call_for(path: str, pe: Pe) -> win.Call:
    """A program is started; what belongs to Python is opened as its release does."""
    if not pe.is_dll:
        return win.PLAIN
    releases = [int(match[1]) for name in pe.imports if (match := _PYTHON.match(name))]
    if releases or _SITE.match(path):
        return win.LISTED_OWN if not releases or releases[0] >= 8 else win.ALTERED
    return win.ALTERED


def world_for(machine: Machine, processor: str, path: str, folder: str) -> win.WindowsWorld:
    """What the search depends on; the program is the file, or the Python it is installed for."""
    environ = value_or(machine.environ(), {})
    program = _python_of(machine, path) or path
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


def _python_of(machine: Machine, path: str) -> str:
    """The Python in whose site-packages a file lies."""
    site = _SITE.match(path)
    for name in ("python.exe", "Scripts/python.exe") if site else ():
        if site and isinstance(machine.stat(f"{site[1]}/{name}"), Known):
            return base_program(machine, f"{site[1]}/{name}")
    return ""


def version_of(machine: Machine, path: str, pe: Pe) -> str | None:
    """The version of a CUDA library from its bytes, else that of the version resource."""
    stated = value_or(machine.cuda_version(path), "") if concerns_gpu(path) else ""
    return stated or pe.version or None


def kind_of(name: str) -> Bringer | None:
    """Who is expected to bring a DLL; None: every Windows has it."""
    if win.is_api_set(name) or win.stem(name) in win.PART_OF_WINDOWS:
        return None
    if _DRIVER.match(name):
        return "driver"
    if _FRAMEWORK.match(name):
        return "framework"
    return "cuda" if concerns_gpu(name) and not _RUNTIME.match(name) else "system"


def found(world: win.WindowsWorld, name: str) -> str | None:
    """The file that a plain search gives."""
    return value_or(win.search(world, name, tuple(win.folders(world, win.ALTERED))).path, None)


# The load tree


def runner(machine: Machine, facts: Facts) -> Fact[Callable[[Framework, frozenset[str]], Tree]]:
    """What gives the load tree of a framework's process."""
    around = windows_system.world_of(machine, facts)
    if not isinstance(around, Known):
        return around
    world = around.value
    return Known(
        lambda one, optional: _tree_of(run(world, facts, one), win.PLAIN, optional),
        around.source,
    )


def _tree_of(
    process: WindowsProcess, call: win.Call, optional: frozenset[str] = frozenset()
) -> Tree:
    """The tree without the file itself, the parts of Windows, and what is missing but optional."""
    missing = [one for one in process.missing if one.name not in optional]
    unsure = (one.name for one in process.unsure if one.name not in optional)
    return Tree(
        libraries=tuple(_library(process, one, call) for one in process.loaded[1:]),
        missing=tuple(_missing(process.machine, one) for one in missing),
        unmet=unmet_symbols(process, windows_system),
        unsure=tuple(dict.fromkeys(unsure)),
    )


def _library(process: WindowsProcess, one: Dll, call: win.Call) -> Library:
    version = version_of(process.machine, one.path, one.pe)
    lost, closed = tuple(_lost(process, one, call)), one.path in process.failed
    return Library(one.name, one.path, str(one.rule), version, one.needed_by, lost, closed)


def _lost(process: WindowsProcess, one: Dll, call: win.Call) -> Iterator[Lost]:
    """The other files that the same search would reach later."""
    world, seen = process.world, {one.path.lower()}
    own = process.loaded[0].path.rpartition("/")[0]
    for folder, rule in win.folders(world, call, own):
        path = win.search(world, one.name, ((folder, rule),)).tried[0].path
        if path.lower() not in seen and win.look_at(world, path) == FOUND:
            seen.add(path.lower())
            pe = world.machine.pe(path)
            version = version_of(world.machine, path, pe.value) if isinstance(pe, Known) else None
            yield Lost(path, str(rule), version)


def _missing(machine: Machine, one: outcome.Missing) -> Missing:
    """With copies in the wheels beside the asker and in the toolkits, off the search path."""
    searched = (Searched(tried.path, str(tried.rule), str(tried.met)) for tried in one.tried)
    site = _SITE.match(one.needed_by)
    tops = [f"{site[0]}/nvidia", _TOOLKITS] if site else [_TOOLKITS]
    listed = ((top, entry.name) for top in tops for entry in value_or(machine.list(top), ()))
    places = [f"{top}/{name}/bin" for top, name in listed]
    places += [f"{site[0]}/torch/lib"] if site else []
    tried = {tried.path.lower() for tried in one.tried}
    paths = (f"{place}/{one.name}" for place in places)
    elsewhere = (path for path in paths if path.lower() not in tried)
    return missing_of(machine, one, one.needed_by, searched, elsewhere)
