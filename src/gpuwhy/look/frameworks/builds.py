"""What a framework was built for: the record that readers fill, and the tools that they share."""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Fact, Known, SourceKind, Unknown, absent, known, or_unknown, value_or
from gpuwhy.facts.frameworks import Opened
from gpuwhy.look.files import paths
from gpuwhy.machine.machine import Machine

CUDA_LIBRARY = (
    r"lib(cudart|cublas|cublasLt|cudnn\w*|cufftw?|curand|cusolver(Mg)?|cusparse|cusparseLt|nccl"
    r"|nvrtc|nvJitLink|cupti|nvToolsExt|cufile|nvshmem_host|nvinfer\w*|nvonnxparser|nvparsers"
    r"|cutensor(Mg)?|cudss|nvjpeg|nvvm)(-[\w.]+)?\.so"
)
Opens = Fact[tuple[Opened, ...]]
NO_CUDNN = Unknown("this framework does not state its cuDNN version")
NOT_READ = Unknown("the GPU code of this framework was not read")
COMPILES = Unknown("it compiles for the GPU at run time")
_PAIR = (
    r"""(?<!\w)(\w{1,80})['"]?\s{0,40}(?::\s{0,40}[\w.\[\]]{1,80}\s{0,40}=|[,:=])\s{0,40}"""
    r"""(None|True|False|'[^'\n]{0,4000}'|"[^"\n]{0,4000}"|\[[^\[\]]{0,4000}\])"""
)
_LONGEST_MODULE = 1 << 18  # no generated module is longer


class Installed(NamedTuple):
    """One framework as installed: its package, the folder that it is imported from, the others."""

    machine: Machine
    package: Package
    path: str
    others: tuple[Package, ...]
    windows: bool

    @property
    def site(self) -> str:
        """The folder of packages that it lies in."""
        return self.package.site

    def names(self, folder: str, match: str) -> list[str]:
        """The paths of what a folder holds by some names."""
        return paths(self.machine, folder, match)

    def text(self, path: str) -> str:
        """The text of a file; "" where it cannot be read."""
        return value_or(self.machine.read(path), "")


class Built(NamedTuple):
    """What a framework was built for; what nobody read is Unknown."""

    gpu_build: Fact[bool]
    built_for_cuda: Fact[str] = Unknown("this framework does not state its CUDA version")
    built_for_cudnn: Fact[str] = NO_CUDNN
    sass: Fact[tuple[str, ...]] = NOT_READ
    ptx: Fact[tuple[str, ...]] = NOT_READ
    opens: Opens = Unknown("which libraries this framework opens is not known")
    path: str = ""  # where its libraries are, when not in the folder it is imported from


def without_gpu(kind: SourceKind, where: str, detail: str, path: str = "") -> Built:
    """A build without CUDA: it opens nothing and was built for nothing."""
    gone = absent(kind, where, detail)
    nothing: Opens = known((), kind, where, detail)
    return Built(known(False, kind, where, detail), gone, gone, gone, gone, nothing, path)


def assigned(text: str) -> dict[str, str]:
    """The plain `name = value` and `'name': value` pairs of a generated Python module."""
    pairs = re.findall(_PAIR, text[:_LONGEST_MODULE])
    return {name: value if value.startswith("[") else value.strip("'\"") for name, value in pairs}


def pinned(package: Package, match: str) -> Fact[str]:
    """The version that metadata pins a requirement to, or its lower bound."""
    for line in value_or(package.requires, ()):
        bound = re.search(r"(?:==|>=|~=)\s*(\d[\d.]*)", line.partition(";")[0])
        if bound and re.match(rf"(?:{match})(?![\w.-])", line.replace("_", "-").lower()):
            return known(bound[1].rstrip("."), "file", f"{package.location}/METADATA", line)
    return or_unknown(package.requires, f"{package.location}/METADATA names no version")


def cudnn_pin(package: Package) -> Fact[str]:
    """The cuDNN that metadata asks for, without its build number."""
    found = pinned(package, r"nvidia-cudnn-cu\d+")
    if not isinstance(found, Known):
        return found
    return Known(".".join(found.value.split(".")[:3]), found.source)


def needed(one: Installed, files: Iterable[str], optional: Iterable[str] = ()) -> Opens:
    """The CUDA libraries that some files are linked with, each with the first file that asks."""
    is_cuda: Callable[[str], object] = re.compile(CUDA_LIBRARY).match
    if one.windows:
        from gpuwhy.knowledge.libraries import parse as is_cuda
    found: dict[str, Opened] = {}
    seen = []
    for path, may_miss in [*((o, False) for o in files), *((o, True) for o in optional)]:
        read: Fact[Any] = one.machine.pe(path) if one.windows else one.machine.elf(path)
        if isinstance(read, Known):
            seen.append(path)
            late = read.value.delayed if one.windows else ()  # waits for their use
            for name in filter(is_cuda, read.value.imports if one.windows else read.value.needed):
                found.setdefault(name, Opened(name, path, may_miss))
            for name in filter(is_cuda, late):
                found.setdefault(name, Opened(name, path, True))
        elif isinstance(read, Unknown) and (not may_miss or one.windows):
            return read
    if not seen:
        return Unknown("no library to read")
    return known(tuple(found.values()), "file", ", ".join(seen), "NEEDED")


def gpu_code(machine: Machine, path: str) -> tuple[Fact[tuple[str, ...]], Fact[tuple[str, ...]]]:
    """The architectures that most of a library's GPU code is for: SASS, PTX."""
    code = machine.gpu_code(path)
    if isinstance(code, Known) and code.value.containers:
        return Known(code.value.usual_sass, code.source), Known(code.value.usual_ptx, code.source)
    why = or_unknown(code, f"{path}: no GPU code found")
    return why, why


def dotted(digits: str) -> str:
    """11.2 of 112, 9.2 of 92, 12 of 12: how package names write CUDA versions."""
    short = len(digits) == 3 or digits in ("75", "80", "90", "91", "92")
    return f"{digits[:-1]}.{digits[-1]}" if short else digits


def cuda_by_names(opens: Opens) -> Fact[str]:
    """The CUDA version by the name of the runtime or of cuBLAS: libcudart.so.12."""
    for one in value_or(opens, ()):
        linux = re.match(r"lib(?:cudart|cublas|cublasLt)(?:-\w+)?\.so\.(\d+(?:\.\d+)?)", one.name)
        windows = re.match(r"(?i)(?:cudart|cublas|cublasLt)64_(\d+)\.dll", one.name)
        if cuda := linux[1] if linux else dotted(windows[1]) if windows else "":
            cuda = "11" if cuda == "11.0" else cuda
            return known(cuda, "file", one.by, f"needs {one.name}")
    return Unknown("no library name tells the CUDA version")
