"""What is looked at in another way on Windows: system, driver, cards, toolkits, libraries."""

import re

from gpuwhy.facts.devices import PciDevice
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import LibraryCopy, Toolkit
from gpuwhy.facts.system import Distro
from gpuwhy.look.devices import card, nvml
from gpuwhy.look.files import gone, names
from gpuwhy.look.libraries import Name, Places, described
from gpuwhy.look.look import Field
from gpuwhy.look.toolkits import conda_cuda, conda_packages, conda_prefix, toolkit_version, wheels
from gpuwhy.machine.machine import Machine

_EDITION = "HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion"
_ELEVEN = 22000  # builds from here on are Windows 11, whatever the registry's product name says
_NOT_HERE = Absent(Source("none", "Windows has no such thing"))
_EVENTS = "Get-WinEvent -FilterHashtable @{LogName='System'; ProviderName='nvlddmkm'} -MaxEvents 20"


def _distro(machine: Machine, _facts: Facts) -> Fact[Distro]:
    """Windows 10 Pro 22H2, build 19045."""
    key = machine.registry(_EDITION)
    if not isinstance(key, Known):
        return key
    build, edition = (key.value.values.get(name, "") for name in ("CurrentBuild", "ProductName"))
    if build.isdecimal() and int(build) >= _ELEVEN:
        edition = edition.replace("Windows 10", "Windows 11")
    title = f"{edition or 'Windows'} {key.value.values.get('DisplayVersion', '')}".rstrip()
    return Known(Distro("windows", f"{title}, build {build}", build), key.source)


def _processor(machine: Machine, _facts: Facts) -> Fact[str]:
    """By the running system, of a disk by what its system files are compiled for."""
    said = machine.uname()
    names = {"AMD64": "x86_64", "ARM64": "aarch64"}
    if isinstance(said, Known):
        return Known(names.get(said.value.machine, said.value.machine), said.source)
    pe = machine.pe(f"{system_folder(machine)}/kernel32.dll")
    return Known(pe.value.machine, pe.source) if isinstance(pe, Known) else said


_LINUX_ONLY = (
    *("libc", "container", "injected", "wsl", "wsl_device", "open_files_limit"),
    *("address_space_limit", "tasks", "shm", "uptime", "booted"),
)
SYSTEM: dict[str, Field] = {
    "distro": _distro,
    "machine": _processor,
    "memory": lambda *_: Unknown("host memory is not read on Windows", "Task Manager, Performance"),
    "kernel_log": lambda *_: Unknown("the event log of Windows is not read", _EVENTS),
    **dict.fromkeys(_LINUX_ONLY, lambda *_: _NOT_HERE),
}


_SERVICES = "HKLM/SYSTEM/CurrentControlSet/Services"
_PCI = "HKLM/SYSTEM/CurrentControlSet/Enum/PCI"
_DRIVER_FILES = ("nvcuda64.dll", "nvcuda.dll", "nvml.dll")
_CARD = re.compile(r"(?:PCI\\)?VEN_10DE&DEV_([0-9A-F]{4})", re.IGNORECASE)


def dotted(file_version: str) -> str:
    """The driver's version by that of its files, the last five digits: 31.0.15.3623 → 536.23."""
    found = re.fullmatch(r"\d+\.\d+\.1(\d)\.(\d{1,4})", file_version)
    digits = f"{found[1]}{found[2].zfill(4)}" if found else ""
    return f"{digits[:3]}.{digits[3:]}" if digits and digits[0] != "0" else ""


def _driver_version(machine: Machine, _facts: Facts) -> Fact[str]:
    """The driver in use by NVML; else that of the files that the installer put there, where
    programs find them or in its package.
    """
    said = nvml(machine)
    version = said.value.system.get("driver") if isinstance(said, Known) else None
    if isinstance(version, str) and re.fullmatch(r"\d+(\.\d+)+", version):
        return known(version, "call", "nvmlSystemGetDriverVersion")
    system = system_folder(machine)
    store = folders(machine, f"{system}/DriverStore/FileRepository", r"(?i)nv\w*\.inf_")[::-1]
    files = [f"{system}/{name}" for name in _DRIVER_FILES[1:]]
    files += [f"{folder}/{name}" for folder in store for name in _DRIVER_FILES]
    for path in files:
        pe = machine.pe(path)
        of_file = dotted(pe.value.version) if isinstance(pe, Known) else ""
        if isinstance(pe, Known) and of_file:
            return known(of_file, "file", path, f"file version {pe.value.version}")
    there = machine.stat(files[0])
    if isinstance(there, Known):
        return Unknown(f"{files[0]} is there, but does not tell its version", "nvidia-smi")
    lost = isinstance(there, Absent) and gone(machine, system)
    return Unknown("System32 is not among these files") if lost else there


def cards(machine: Machine, _facts: Facts) -> Fact[tuple[PciDevice, ...]]:
    """The NVIDIA cards that a display driver holds; else those that Windows has ever seen."""
    for service in ("nvlddmkm", "BasicDisplay"):
        key = machine.registry(f"{_SERVICES}/{service}/Enum")
        values = key.value.values if isinstance(key, Known) else {}
        ids = [_CARD.match(text) for name, text in sorted(values.items()) if name.isdecimal()]
        name = "nvidia" if service == "nvlddmkm" else service
        driver = known(name, "call", "registry", service)
        held = [_card(one[1], driver) for one in ids if one]
        if held:
            return known(tuple(held), "call", "registry", f"{_SERVICES}/{service}/Enum")
    listed = machine.registry(_PCI)
    if not isinstance(listed, Known):
        return or_unknown(listed, f"{_PCI} is not there")
    rows = (_CARD.match(name) for name in listed.value.keys)
    absent = Absent(Source("call", "registry", _SERVICES))
    seen = [_card(one, absent) for one in dict.fromkeys(row[1] for row in rows if row)]
    found = tuple(one for one in seen if isinstance(one.name, Known))
    return known(found, "call", "registry", _PCI)


def _card(device: str, driver: Fact[str]) -> PciDevice:
    """The registry gives no bus address that others use."""
    address, how = f"PCI id 10de:{device.lower()}", "Device Manager, Display adapters"
    return card(address, device.lower(), driver, how)


DRIVER: dict[str, Field] = {"module_version": _driver_version}


_INSTALLED = "NVIDIA GPU Computing Toolkit/CUDA"
_RUNTIME = r"(?i)cudart64_\w+\.dll$"
_NAMED = re.compile(r"CUDA_(PATH(_V\d+_\d+)?|HOME|ROOT|TOOLKIT_ROOT_DIR)$")


def _toolkits(machine: Machine, facts: Facts) -> Fact[tuple[Toolkit, ...]]:
    """Every CUDA toolkit, or part of one, each once: the installer's, the newest first, then those
    that variables and PATH name, conda's and those of wheels.
    """
    roots = folders(machine, f"{program_files(machine)}/{_INSTALLED}", r"v\d+\.\d+$")[::-1]
    named = [tidy(value) for name, value in environ(machine).items() if _NAMED.match(name)]
    roots += [root for root in named if is_whole(root)]
    found = [re.match(r"(?i)(.*cuda.*)/bin(/x64)?$", one) for one in path_folders(machine)]
    roots += [one[1] for one in found if one]
    out: dict[str, Toolkit] = {}
    for root in roots:
        nvcc = machine.stat(f"{root}/bin/nvcc.exe")
        if not isinstance(nvcc, Known) and not names(machine, f"{root}/bin", _RUNTIME):
            continue
        version = toolkit_version(machine, root)
        by_name = re.match(r"(?i)(?:.*[/ ])?(?:cuda[-_ /]?)?v?(\d{1,2}\.\d)$", root)
        if not isinstance(version, Known) and by_name:
            version = known(by_name[1], "folder", root, "by its name only")
        out.setdefault(root.casefold(), Toolkit(root, "system", version))
    prefix = tidy(conda_prefix(machine, facts))
    match = r"(cuda-cudart|cudatoolkit|cuda-nvcc|cuda-version)-\d[^-]*-[^-]*\.json$"
    of_conda = conda_cuda(conda_packages(machine, prefix, match))
    if of_conda is not None:
        one = Toolkit(f"{prefix}/Library", "conda", of_conda)
        out.setdefault(one.path.casefold(), one)
    for one in wheels(machine, facts):
        out.setdefault(one.path.casefold(), one)
    seen = machine.environ()
    unseen = f"not seen: {seen.reason}" if isinstance(seen, Unknown) else ""
    source = Source("folder", f"{_INSTALLED}, CUDA_PATH…, PATH, conda and wheels", unseen)
    return Known(tuple(out.values()), source)


DLLS = (
    r"(?i)(cu(da|bl|dn|ff|pt|ra|so|sp|fi)|nv(?!api|wmi|spcap|containerd|displ|shext|mctray|3d|ogl"
    r"|cpl|gpu|tvmon)|zlib|nccl|msvc[pr]|vcruntime|vcomp|concrt|libiomp|python3|c10|torch|caffe2"
    r"|uv\.|onnxruntime|tensorflow)[\w.-]*\.dll$"
)
_ARCHIVES = r"(?i)(cud(a|nn)|zlib)[\w.-]*$"
_MOST_ARCHIVES = 8
_BUNDLES = r"(torch|onnxruntime|tensorrt_libs|tensorrt_bindings)$"
_INSIDE = {"torch": "/lib", "onnxruntime": "/capi"}


def _copies(machine: Machine, facts: Facts) -> Fact[tuple[LibraryCopy, ...]]:
    """Every copy, in the order in which the places are searched."""
    from gpuwhy.knowledge.libraries import parse

    found: dict[str, Name] = {}
    for folder, where in _places(machine, facts):
        for name in names(machine, folder, DLLS):
            library, path = parse(name), f"{folder}/{name}"
            if library is not None:
                found.setdefault(path.casefold(), Name(library, name, path, path, where))
    seen = machine.environ()
    unseen = f"not seen: PATH ({seen.reason})" if isinstance(seen, Unknown) else ""
    source = Source("folder", "PATH, System32, toolkits, conda and wheels", unseen)
    return Known(described(machine, facts, found.values()), source)


def _places(machine: Machine, facts: Facts) -> Places:
    """Every folder in which a CUDA library may lie, PATH first."""
    for folder in path_folders(machine):
        yield folder, "PATH"
    yield system_folder(machine), "default folder"
    for toolkit in (o for o in value_or(facts.libraries.toolkits, ()) if o.kind != "wheel"):
        for below in ("bin", "bin/x64"):
            yield f"{toolkit.path}/{below}", "conda" if toolkit.kind == "conda" else "toolkit"
    yield from ((folder, "toolkit") for folder in _of_cudnn(machine))
    prefix = tidy(conda_prefix(machine, facts))
    if prefix:
        yield f"{prefix}/Library/bin", "conda"
    for site in (one.path for one in value_or(facts.environment.sites, ())):
        for name in names(machine, site, _BUNDLES):
            yield f"{site}/{name}{_INSIDE.get(name, '')}", "wheel"
        for part in folders(machine, f"{site}/nvidia", r"[a-z]\w*$"):
            yield from ((f"{part}/bin{below}", "wheel") for below in ("", "/x86_64"))


def _of_cudnn(machine: Machine) -> list[str]:
    """cuDNN apart from a toolkit: by its variables, its installer, and unpacked somewhere."""
    variables = environ(machine)
    named = (tidy(variables.get(f"CUDNN_{end}", "")) for end in ("PATH", "HOME", "ROOT"))
    found = [f"{root}{below}" for root in named if is_whole(root) for below in ("", "/bin")]
    for root in folders(machine, f"{program_files(machine)}/NVIDIA/CUDNN", r"v\d")[::-1]:
        found += [f"{root}/bin", *folders(machine, f"{root}/bin", r"\d+\.\d+$")]
    for parent in (f"{machine.home}/Downloads", "C:", "C:/tools", "D:"):
        for folder in folders(machine, parent, _ARCHIVES)[:_MOST_ARCHIVES]:
            for one in (folder, *folders(machine, folder, _ARCHIVES)[:_MOST_ARCHIVES]):
                found += [f"{one}{below}" for below in ("", "/bin", "/bin/x64", "/cuda/bin")]
    return found


LIBRARIES: dict[str, Field] = {
    "toolkits": _toolkits,
    "copies": _copies,
}


def tidy(path: str) -> str:
    """A path with forward slashes, without quotes around it and without a slash at its end."""
    plain = re.sub(r"(?<!^)/+", "/", path.strip().strip('"').strip().replace("\\", "/"))
    return plain if re.fullmatch(r"[A-Za-z]:/", plain) else plain.rstrip("/")


def is_whole(path: str) -> bool:
    """Whether a path starts at a drive or at a share."""
    return re.match(r"[A-Za-z]:/|//", path) is not None


def environ(machine: Machine) -> dict[str, str]:
    """The variables with upper-case names, as Windows compares them; {} where not seen."""
    return {name.upper(): value for name, value in value_or(machine.environ(), {}).items()}


def expanded(machine: Machine, text: str) -> str:
    """%NAME% replaced where the variable is known."""
    known = environ(machine)
    return re.sub(r"%([^%;]+)%", lambda found: known.get(found[1].upper(), found[0]), text)


def system_folder(machine: Machine) -> str:
    """System32."""
    return f"{tidy(environ(machine).get('SYSTEMROOT', '')) or 'C:/Windows'}/System32"


def program_files(machine: Machine) -> str:
    """The folder of 64-bit programs."""
    return tidy(environ(machine).get("PROGRAMFILES", "")) or "C:/Program Files"


def path_folders(machine: Machine) -> tuple[str, ...]:
    """The folders of PATH, each once, in order."""
    entries = environ(machine).get("PATH", "").split(";")
    tidied = [tidy(expanded(machine, one)) for one in entries]
    found: dict[str, str] = {}
    for one in tidied:
        if is_whole(one):
            found.setdefault(one.casefold(), one)
    return tuple(found.values())


def folders(machine: Machine, parent: str, match: str) -> list[str]:
    """The folders below another one whose names match, newest version last."""
    listed = value_or(machine.list(parent, match), ())
    found = [entry.name for entry in listed if entry.kind != "file"]
    found.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)])
    return [f"{parent}/{name}" for name in found]
