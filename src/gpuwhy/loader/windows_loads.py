"""Loads on Windows: which nvcuda.dll wins, and what the search finds for every DLL that a framework opens."""

from __future__ import annotations

import re

from gpuwhy.host.base import Host
from gpuwhy.loader.glibc import Tried
from gpuwhy.loader.windows import PLAIN, WindowsWorld, folders, look_at, search, split_path, tidy
from gpuwhy.loader.windows_frameworks import run
from gpuwhy.loader.windows_process import Dll, WindowsProcess
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known
from gpuwhy.model.facts import (
    DriverLibrary,
    Facts,
    Framework,
    LibraryCopy,
    LoadedLibrary,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    Opened,
    UnmetSymbol,
)

_NUMBERS = re.compile(r"\d+\.\d+\.(\d+)\.(\d+)$")  # 31.0.15.3742 is driver 537.42
_GPU = re.compile(
    r"(?i)(.*/)?(cu(da|bl|dn|ff|pt|ra|so|sp|fi|tensor)|nv(cuda|ml|rtc|jit|toolsext|infer|onnx|blas)|nccl|torch|c10|caffe2"
    r"|tensorflow|_pywrap_tensorflow|onnxruntime|_C\.|zlib|msvcp|vcruntime|concrt)[\w.-]*\.(dll|pyd)$"
)
_STEM = re.compile(r"(?i)(.{0,80}?)(64|32)?_[\d_.]{1,20}\.dll$")
_PROVIDES = re.compile(r"(?i)(cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nvJitLink|cudart)(64)?_")
_UNSEEN = "and PATH was not seen"


def concerns_gpu(path: str) -> bool:
    """Whether a DLL belongs to CUDA, to a framework or to the Visual C++ runtime, rather than to Windows."""
    return _GPU.match(path) is not None


def world_of(host: Host, facts: Facts) -> Fact[WindowsWorld]:
    """What the search depends on: the program's folder, PATH, the Windows folder."""
    interpreter = facts.target.interpreter
    environ = host.environ()
    variables = environ.value if isinstance(environ, Known) else {}
    windows = tidy(variables.get("SYSTEMROOT", "C:/Windows"))
    machine = _machine(host, facts, windows)
    if not machine:
        return Unknown("this machine's architecture is not known")
    program = base_program(host, interpreter.value.path) if isinstance(interpreter, Known) else ""
    world = WindowsWorld(
        host,
        machine,
        program.rpartition("/")[0] or windows,
        split_path(variables.get("PATH", "")),
        windows,
        packaged="/windowsapps/" in program.lower(),
        sees_path=isinstance(environ, Known),
    )
    return known(world, "call", "DLL search", "folder of the program, System32, PATH")


def _machine(host: Host, facts: Facts, windows: str) -> str:
    """That of the Python where it is known: a 32-bit program on 64-bit Windows loads 32-bit libraries."""
    interpreter = facts.target.interpreter
    if isinstance(interpreter, Known) and interpreter.value.machine:
        return interpreter.value.machine
    for path in (f"{windows}/System32/ntdll.dll", f"{windows}/System32/kernel32.dll"):
        pe = host.pe(path)
        if isinstance(pe, Known):
            return pe.value.machine
    machine = facts.surroundings.machine
    return machine.value if isinstance(machine, Known) else ""


def base_program(host: Host, path: str) -> str:
    """The program that really runs: a virtual environment's python.exe starts the one of its base."""
    path = tidy(path)
    folder = path.rpartition("/")[0]
    for config in (f"{folder.rpartition('/')[0]}/pyvenv.cfg", f"{folder}/pyvenv.cfg"):
        lines = host.lines(config, "home")
        for line in lines.value if isinstance(lines, Known) else ():
            name, _, value = line.partition("=")
            if name.strip() == "home" and value.strip():
                return f"{tidy(value)}/python.exe"
    return path


# ---------------------------------------------------------------- driver libraries


def libcuda(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of nvcuda.dll in the order of the search."""
    return _driver_library(host, facts, "nvcuda.dll")


def libnvml(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of nvml.dll in the order of the search, then the one of older drivers."""
    return _driver_library(host, facts, "nvml.dll")


def _driver_library(host: Host, facts: Facts, name: str) -> Fact[tuple[DriverLibrary, ...]]:
    world = world_of(host, facts)
    if not isinstance(world, Known):
        return Unknown(world.reason) if isinstance(world, Unknown) else Unknown("no loader")
    places = [*folders(world.value, PLAIN), ("C:/Program Files/NVIDIA Corporation/NVSMI", "not on the search path")]
    found: dict[str, DriverLibrary] = {}
    for folder, via in places:
        one = _copy(world.value, name, folder, via)
        if one and one.real.lower() not in found:
            found[one.real.lower()] = one
    return Known(tuple(found.values()), Source("call", "DLL search", name))


def _copy(world: WindowsWorld, name: str, folder: str, via: str) -> DriverLibrary | None:
    located = search(world, name, ((folder, via),))
    if isinstance(located.path, Absent):
        return None
    path = located.tried[0].path
    resolved = world.host.real(path)
    outcome = look_at(world, path)
    return DriverLibrary(
        name=name,
        path=path,
        real=resolved.value if isinstance(resolved, Known) else path,
        found_via=via,
        kind="driver",
        version=driver_version(world.host, path),
        health=known("ok" if outcome == "found" else outcome, "file", path),
    )


def driver_version(host: Host, path: str) -> Fact[str]:
    """The driver's version by the file version: its last five digits, 31.0.15.3742 → 537.42."""
    pe = host.pe(path)
    if not isinstance(pe, Known):
        return pe if isinstance(pe, Unknown) else Unknown(f"{path} is not there")
    match = _NUMBERS.match(pe.value.version)
    digits = f"{match[1][-1:]}{match[2].zfill(4)}" if match else ""
    if len(digits) == 5:
        return known(f"{digits[:3].lstrip('0')}.{digits[3:]}", "file", path, f"file version {pe.value.version}")
    return Unknown(f"{path}: no version in its resources")


# ---------------------------------------------------------------- what frameworks open


def trees(host: Host, facts: Facts) -> Fact[tuple[LoadTree, ...]]:
    """What the process of each framework would load."""
    frameworks = facts.target.frameworks
    if not isinstance(frameworks, Known):
        return frameworks
    world = world_of(host, facts)
    if not isinstance(world, Known):
        return world
    out = [
        tree_of(run(world.value, facts, one), facts, one.name)
        for one in frameworks.value
        if isinstance(one.opens, Known) and one.opens.value
    ]
    return Known(tuple(out), Source("call", "DLL search", "per framework"))


def tree_of(process: WindowsProcess, facts: Facts, name: str) -> LoadTree:
    """The record of a process: its GPU libraries, what is missing, and which symbols are unmet."""
    copies = _copies(facts)
    by_path = {c.path.lower(): c for c in copies}
    kept = [one for one in process.loaded if concerns_gpu(one.path)]
    return LoadTree(
        framework=name,
        libraries=tuple(_loaded(process, one, by_path.get(one.path.lower())) for one in kept),
        missing=tuple(
            MissingLibrary(m.name, m.needed_by, m.why, searched(m.tried)) for m in process.missing if _matters(m.name)
        ),
        unmet=unmet_symbols(process),
    )


def _matters(name: str) -> bool:
    return concerns_gpu(name) or name.lower().endswith(".dll")


def _copies(facts: Facts) -> tuple[LibraryCopy, ...]:
    return facts.libraries.copies.value if isinstance(facts.libraries.copies, Known) else ()


def _loaded(process: WindowsProcess, one: Dll, copy: LibraryCopy | None) -> LoadedLibrary:
    exact = process.world.host.cuda_version(one.path) if _PROVIDES.match(one.name) else None
    told: Fact[str] = copy.version if copy else Unknown("not among the CUDA libraries")
    return LoadedLibrary(
        name=one.name,
        path=one.path,
        via=one.via,
        needed_by=one.needed_by,
        version=exact if isinstance(exact, Known) else told,
        owner=copy.owner if copy else Unknown("not among the CUDA libraries"),
    )


def unmet_symbols(process: WindowsProcess) -> tuple[UnmetSymbol, ...]:
    """What a loaded library imports from a CUDA library that the copy loaded for it does not export (error 127)."""
    out = []
    for asker in process.loaded:
        for name in asker.pe.imports if concerns_gpu(asker.path) else ():
            provider = process.get(name) if _PROVIDES.match(name) else None
            if provider is None or provider is asker:
                continue
            lacking = process.world.host.unmet(asker.path, "", provider.path)
            if isinstance(lacking, Known) and lacking.value:
                out.append(UnmetSymbol(asker.path, provider.path, lacking.value[:3], len(lacking.value)))
    return tuple(out)


def needs(host: Host, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
    """Every library that a framework opens by name, and what its load tree says of it."""
    found = facts.loads.trees
    if not isinstance(found, Known):
        return found
    by_name = {tree.framework: tree for tree in found.value}
    frameworks = facts.target.frameworks
    sure = isinstance(host.environ(), Known)
    out = [
        _needed(facts, framework, opened, by_name[framework.name], sure)
        for framework in (frameworks.value if isinstance(frameworks, Known) else ())
        if framework.name in by_name and isinstance(framework.opens, Known)
        for opened in framework.opens.value
    ]
    return Known(tuple(out), found.source)


def _needed(facts: Facts, framework: Framework, opened: Opened, tree: LoadTree, sure: bool) -> NeededLibrary:
    wanted = opened.name.lower()
    loaded = next((one for one in tree.libraries if one.name.lower() == wanted), None)
    missing = next((one for one in tree.missing if one.name.lower() == wanted), None)
    copies = _copies(facts)
    found, via = _outcome(opened, loaded, missing)
    if isinstance(found, Absent) and not sure and missing is None:
        found = Unknown(f"{opened.name}: not in the folder of the program or System32, {_UNSEEN}")
    lost = isinstance(found, Absent)
    same = [c.path for c in copies if c.name.lower() == wanted]
    return NeededLibrary(
        framework=framework.name,
        name=opened.name,
        optional=opened.optional,
        needed_by=opened.by,
        found=found,
        found_via=via,
        searched=missing.searched if lost and missing else (),
        elsewhere=tuple(same) if lost else (),
        other_versions=_others(copies, opened.name) if lost else (),
    )


def _outcome(opened: Opened, loaded: LoadedLibrary | None, missing: MissingLibrary | None) -> tuple[Fact[str], str]:
    if loaded:
        return known(loaded.path, "file", loaded.path, loaded.via), loaded.via
    if missing and missing.why.startswith(("stops", "skipped")):
        return Unknown(f"{opened.name}: {missing.why}"), ""
    return Absent(Source("call", "DLL search", opened.name)), ""


def _others(copies: tuple[LibraryCopy, ...], name: str) -> tuple[str, ...]:
    match = _STEM.match(name)
    wanted = match[1].lower() if match else ""
    return tuple(
        c.path
        for c in copies
        if c.name.lower() != name.lower() and (m := _STEM.match(c.name)) and m[1].lower() == wanted
    )


def searched(tries: tuple[Tried, ...]) -> tuple[str, ...]:
    """Each folder once, in order, with why it was searched and what was skipped there."""
    out: dict[str, None] = {}
    for tried in tries:
        note = "" if tried.outcome == "not there" else f", {tried.outcome}"
        out.setdefault(f"{tried.path.rpartition('/')[0]} ({tried.why}{note})")
    return tuple(out)
