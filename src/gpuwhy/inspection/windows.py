"""A Windows library or program: what it says of itself and, where a Windows is to be searched, its load tree."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.formats.pe import Pe
from gpuwhy.host.base import Host
from gpuwhy.inspection.file import gpu_of
from gpuwhy.observe.loader_v0 import windows_system
from gpuwhy.observe.loader_v0.outcome import FOUND, Missing
from gpuwhy.observe.loader_v0.unmet import unmet_symbols
from gpuwhy.observe.loader_v0.windows import (
    ALTERED,
    LISTED_OWN,
    PLAIN,
    Call,
    WindowsWorld,
    folders,
    is_api_set,
    look_at,
    search,
    split_path,
    stem,
    tidy,
)
from gpuwhy.observe.loader_v0.windows import PART_OF_WINDOWS as WINDOWS
from gpuwhy.observe.loader_v0.windows_process import Dll, WindowsProcess
from gpuwhy.observe.loader_v0.windows_system import base_program, concerns_gpu
from gpuwhy.model import inspected
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.inspected import Asker, Header, Inspected, Library, Lost, Searched, Tree

NOWHERE = "for Windows: what it would get can be told on Windows, or with --root for a Windows disk"
_SITE = re.compile(r"(.*)/Lib/site-packages(?=/|$)", re.IGNORECASE)
_PYTHON = re.compile(r"python3(\d+)\.dll$", re.IGNORECASE)
_DRIVER = re.compile(r"(?i)nv(cuda|ml|api64|cuvid|encodeapi64|optix)\.dll$")
_FRAMEWORK = re.compile(r"(?i)(torch|c10|caffe2|tensorflow|_pywrap_|onnxruntime|paddle|python3)")
_RUNTIME = re.compile(r"(?i)(msvc|vcruntime|concrt|zlib)")
_TOOLKITS = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"


def inspect_pe(host: Host, path: str, folder: str, pe: Pe, size: int) -> Inspected:
    """Inspect one PE file."""
    notes = [f"truncated: its headers describe {pe.extent} bytes, it has {size}"] if pe.extent > size else []
    answer = Inspected(
        path=path,
        kind="library" if pe.is_dll else "program",
        needed=pe.imports,
        gpu=gpu_of(host, path),
        header=Header(
            pe.machine, pe.bits, "", "", "", "", "", version_of(host, path, pe), None, (), delayed=pe.delayed
        ),
    )
    if not is_windows(host):
        return msgspec.structs.replace(answer, notes=(*notes, NOWHERE), searched=False)
    call, world = call_for(path, pe), world_for(host, pe.machine, path, folder)
    process = WindowsProcess(world)
    process.load(path, call)
    return msgspec.structs.replace(
        answer,
        tree=tree_of(process, call),
        variables=variables(host),
        notes=(*notes, f"looked for as {_WORDS[call.title]}"),
    )


_WORDS = {
    PLAIN.title: "Windows does for a program that is started",
    ALTERED.title: "LoadLibrary does with the altered search path",
    LISTED_OWN.title: "Python 3.8 and newer does for what it opens by path",
}


def is_windows(host: Host) -> bool:
    """Whether the host is a Windows machine, or the disk of one."""
    uname = host.uname()
    if isinstance(uname, Known):
        return uname.value.system == "windows"
    return isinstance(host.stat("C:/Windows/System32"), Known)


def call_for(path: str, pe: Pe) -> Call:
    """How it is opened: a program is started; what belongs to Python is opened as its release does."""
    if not pe.is_dll:
        return PLAIN
    releases = [int(match[1]) for name in pe.imports if (match := _PYTHON.match(name))]
    if releases or _SITE.match(path):
        return LISTED_OWN if not releases or releases[0] >= 8 else ALTERED
    return ALTERED


def world_for(host: Host, machine: str, path: str, folder: str) -> WindowsWorld:
    """What the search depends on; the program is the file itself, or the Python that it is installed for."""
    environ = host.environ()
    told = value_or(environ, {})
    program = _python_of(host, path) or path
    return WindowsWorld(
        host,
        machine,
        program.rpartition("/")[0],
        split_path(told.get("PATH", "")),
        tidy(told.get("SYSTEMROOT", "C:/Windows")),
        folder if folder not in ("", "/") else "",
        packaged="/windowsapps/" in program.lower(),
        sees_path="PATH" in told,
    )


def _python_of(host: Host, path: str) -> str:
    """The Python in whose site-packages a file lies."""
    site = _SITE.match(path)
    for name in ("python.exe", "Scripts/python.exe") if site else ():
        if site and isinstance(host.stat(f"{site[1]}/{name}"), Known):
            return base_program(host, f"{site[1]}/{name}")
    return ""


def variables(host: Host) -> tuple[str, ...]:
    """PATH, as it is set."""
    environ = value_or(host.environ(), {})
    return (f"PATH={environ['PATH']}",) if environ.get("PATH") else ()


def version_of(host: Host, path: str, pe: Pe) -> str | None:
    """The version of a CUDA library from its bytes, else that of the version resource."""
    exact = host.cuda_version(path) if concerns_gpu(path) else None
    return exact.value if isinstance(exact, Known) else pe.version or None


def kind_of(name: str) -> Asker | None:
    """Who is expected to bring a DLL: the driver, CUDA, a framework, the rest of the system; None: every Windows."""
    if is_api_set(name) or stem(name) in WINDOWS:
        return None
    if _DRIVER.match(name):
        return "driver"
    if _FRAMEWORK.match(name):
        return "framework"
    return "cuda" if concerns_gpu(name) and not _RUNTIME.match(name) else "system"


def found(world: WindowsWorld, name: str) -> str | None:
    """The file that a plain search gives."""
    return value_or(search(world, name, tuple(folders(world, ALTERED))).path, None)


# ---------------------------------------------------------------- the load tree


def tree_of(process: WindowsProcess, call: Call = PLAIN, optional: frozenset[str] = frozenset()) -> Tree:
    """The record of a process; the file itself and the parts of Windows are left out, and what is `optional`."""
    return Tree(
        libraries=tuple(_library(process, one, call) for one in process.loaded[1:]),
        missing=tuple(_missing(process.world.host, one) for one in process.missing if one.name not in optional),
        unmet=unmet_symbols(process, windows_system),
        unsure=tuple(dict.fromkeys(one.name for one in process.unsure if one.name not in optional)),
    )


def _library(process: WindowsProcess, one: Dll, call: Call) -> Library:
    return Library(
        name=one.name,
        path=one.path,
        via=one.via,
        version=version_of(process.world.host, one.path, one.pe),
        needed_by=one.needed_by,
        lost=tuple(_lost(process, one, call)),
        closed=one.path in process.failed,
    )


def _lost(process: WindowsProcess, one: Dll, call: Call) -> list[Lost]:
    """The other files that the same search would reach later."""
    world, seen, out = process.world, {one.path.lower()}, []
    own = process.loaded[0].path.rpartition("/")[0]
    for folder, via in folders(world, call, own):
        path = search(world, one.name, ((folder, via),)).tried[0].path
        if path.lower() not in seen and look_at(world, path) == FOUND:
            seen.add(path.lower())
            pe = world.host.pe(path)
            out.append(Lost(path, via, version_of(world.host, path, pe.value) if isinstance(pe, Known) else None))
    return out


def _missing(host: Host, one: Missing) -> inspected.Missing:
    places = tuple(Searched(tried.path, tried.why, str(tried.outcome)) for tried in one.tried)
    return inspected.Missing(
        one.name, one.needed_by, one.why, places, tuple(_elsewhere(host, one)), one.refused is not None
    )


def _elsewhere(host: Host, one: Missing) -> list[str]:
    """Copies in the wheels beside the asker and in the toolkits: places that the search does not reach."""
    site = _SITE.match(one.needed_by)
    within = [(f"{site[0]}/nvidia", "bin"), (_TOOLKITS, "bin")] if site else [(_TOOLKITS, "bin")]
    places = [f"{top}/{entry.name}/{below}" for top, below in within for entry in value_or(host.list(top), ())]
    places += [f"{site[0]}/torch/lib"] if site else []
    tried = {tried.path.lower() for tried in one.tried}
    paths = [f"{place}/{one.name}" for place in places]
    return [path for path in paths if path.lower() not in tried and isinstance(host.stat(path), Known)]
