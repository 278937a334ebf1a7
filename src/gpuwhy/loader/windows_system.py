"""Windows for the walk of loads.py: where the driver's libraries lie, what library names mean."""

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import DriverLibrary, Found, Outcome, Rule
from gpuwhy.loader.outcome import Missing
from gpuwhy.loader.windows import PLAIN, WindowsWorld, folders, look_at, search, split_path, tidy
from gpuwhy.loader.windows_frameworks import run as run
from gpuwhy.machine.machine import Machine

SEARCH = "DLL search"
LIBCUDA, LIBNVML = "nvcuda.dll", "nvml.dll"
REFUSES: tuple[Outcome, ...] = (Outcome.STOPS, Outcome.SKIPPED)
"""What becomes of a file that leaves a program without its library: no other was found."""
UNSEEN = "not in the folder of the program or System32, and PATH was not seen"
fold = str.lower  # a name or path as the system compares it

_NUMBERS = re.compile(r"\d+\.\d+\.(\d+)\.(\d+)$")  # 31.0.15.3742 is driver 537.42
_GPU = re.compile(
    r"(?i)(.*/)?(cu(da|bl|dn|ff|pt|ra|so|sp|fi|tensor)|nv(cuda|ml|rtc|jit|toolsext|infer|onnx|blas"
    r"|vm)|nccl|torch|c10|caffe2|tensorflow|_pywrap_tensorflow|onnxruntime|_C\.|zlib|msvcp"
    r"|vcruntime|concrt)[\w.-]*\.(dll|pyd)$"
)
_ASIDE = re.compile(
    r"(?i)/(downloads|desktop|documents|temp|site-packages)/|/cuda/cuda/|/CUDA/v[\d.]+/(?!bin/)"
)
"""Where files lie that no installer and no guide puts on PATH."""
_WIDE = ("x86_64", "aarch64", "arm64")
_STEM = re.compile(r"(?i)(.{0,80}?)(64|32)?_[\d_.]{1,20}\.dll$")
_PROVIDES = re.compile(
    r"(?i)(cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nvJitLink|cudart)(64)?_"
)


def concerns_gpu(path: str) -> bool:
    """Whether a DLL belongs to CUDA, to a framework or to the Visual C++ runtime."""
    return _GPU.match(path) is not None


def world_of(machine: Machine, facts: Facts) -> Fact[WindowsWorld]:
    """What the search depends on: the program's folder, PATH, the Windows folder."""
    environ = machine.environ()
    variables = value_or(environ, {})
    windows = tidy(variables.get("SYSTEMROOT", "C:/Windows"))
    python = value_or(facts.environment.python, None)
    # a 32-bit program loads 32-bit libraries
    system = (machine.pe(f"{windows}/System32/{name}.dll") for name in ("ntdll", "kernel32"))
    seen = (pe.value.machine for pe in system if isinstance(pe, Known))
    processor = python.machine if python else ""
    processor = processor or next(seen, value_or(facts.system.machine, ""))
    if not processor:
        return Unknown("this machine's architecture is not known")
    program = base_program(machine, python.path) if python else ""
    sees, disk = isinstance(environ, Known), isinstance(facts.system.offline, Known)
    world = WindowsWorld(
        machine,
        processor,
        program.rpartition("/")[0] or windows,
        split_path(variables.get("PATH", "")) if sees else _usual_path(facts) if disk else (),
        windows,
        packaged="/windowsapps/" in program.lower(),
        sees_path=sees or disk,
    )
    return known(world, "call", "DLL search", "folder of the program, System32, PATH")


def _usual_path(facts: Facts) -> tuple[str, ...]:
    """PATH of a disk whose registry is not there, at its best: each folder with CUDA's libraries
    that an installer or a guide puts on it. What is found may still not be on the real PATH.
    """
    python = value_or(facts.environment.python, None)
    # what activating a conda environment puts before everything else
    below = ("", "/Library/mingw-w64/bin", "/Library/usr/bin", "/Library/bin", "/Scripts", "/bin")
    first = [f"{python.prefix}{one}" for one in below] if python and python.kind == "conda" else []
    found = (one.path.rpartition("/")[0] for one in value_or(facts.libraries.copies, ()))
    return tuple(dict.fromkeys((*first, *(one for one in found if not _ASIDE.search(f"{one}/")))))


def base_program(machine: Machine, path: str) -> str:
    """The program that really runs: in a virtual environment, the one of its base."""
    path = tidy(path)
    folder = path.rpartition("/")[0]
    for config in (f"{folder.rpartition('/')[0]}/pyvenv.cfg", f"{folder}/pyvenv.cfg"):
        lines = machine.lines(config, "home")
        for line in value_or(lines, ()):
            name, _, value = line.partition("=")
            if name.strip() == "home" and value.strip():
                return f"{tidy(value.strip())}/python.exe"
    return path


def driver_copies(world: WindowsWorld, facts: Facts, name: str) -> Iterator[DriverLibrary]:
    """The copies of a driver library in the order of the search, then the one of older drivers."""
    aside = ("C:/Program Files/NVIDIA Corporation/NVSMI", Found(Rule.OFF_PATH))
    found = [
        one
        for folder, rule in (*folders(world, PLAIN), aside)
        if (one := _copy(world, name, folder, rule))
    ]
    # a 32-bit program gets the driver's own from SysWOW64; else a 32-bit copy is passed over, and
    # where no other follows, it is all that a program gets
    taken = any(one.on_path and value_or(one.health, None) is Flaw.NONE for one in found)
    whole = taken or world.processor not in _WIDE
    for one in found:
        yield one if whole or not one.on_path else msgspec.structs.replace(one, broken=True)


def _copy(world: WindowsWorld, name: str, folder: str, found: Found) -> DriverLibrary | None:
    located = search(world, name, ((folder, found),))
    path = located.tried[0].path
    met = look_at(world, path)
    if isinstance(located.path, Absent):
        return None
    return DriverLibrary(
        name=name,
        path=path,
        real=value_or(world.machine.real(path), path),
        found=found,
        kind="driver",
        version=driver_version(world.machine, path),
        health=known(met.flaw, "file", path, met.note),
        broken=met.outcome is Outcome.STOPS,
    )


def driver_version(machine: Machine, path: str) -> Fact[str]:
    """The driver's version by the file version: its last five digits, 31.0.15.3742 → 537.42."""
    pe = machine.pe(path)
    if not isinstance(pe, Known):
        return or_unknown(pe, f"{path} is not there")
    match = _NUMBERS.match(pe.value.version)
    digits = f"{match[1][-1:]}{match[2].zfill(4)}" if match else ""
    if len(digits) == 5:
        version = f"{digits[:3].lstrip('0')}.{digits[3:]}"
        return known(version, "file", path, f"file version {pe.value.version}")
    return Unknown(f"{path}: no version in its resources")


def stem(name: str) -> str:
    """cudnn of cudnn64_9.dll."""
    match = _STEM.match(name)
    return (match[1] if match else name).lower()


def matters(missing: Missing) -> bool:
    """Whether a missing library is worth telling."""
    return concerns_gpu(missing.name) or missing.name.lower().endswith(".dll")


def provides(name: str) -> str | None:
    """A pattern of the symbols that a CUDA library provides; None for any other."""
    return "" if _PROVIDES.match(name) else None


def tells(name: str, copy: LibraryCopy | None) -> bool:
    """Whether a file's bytes are asked for its version."""
    return _PROVIDES.match(name) is not None


def not_cached(machine: Machine, name: str, processor: str) -> str:
    """Windows keeps no cache of its search."""
    return ""
