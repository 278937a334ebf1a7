"""The frameworks' own ways of loading CUDA on Windows: folders they add, files they open.

What each does is read from its own files where it says so (TensorFlow's build_info, the Python text
of torch and ONNX Runtime), so that a release which changes its way is followed.
"""

import re
from collections.abc import Callable

from msgspec import structs

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.loader.outcome import other
from gpuwhy.loader.systems import CUDNN_PARTS, names, site_paths
from gpuwhy.loader.windows import (
    ALTERED,
    LISTED,
    LISTED_OWN,
    PLAIN,
    Call,
    WindowsProcess,
    WindowsWorld,
    tidy,
)
from gpuwhy.machine.machine import Machine

_OPENS_CUBLAS = ("cudnn_ops_infer64_8.dll", "cudnn_adv64_9.dll")
_CUBLAS = tuple(f"cublasLt64_{major}.dll" for major in (10, 11, 12, 13))
_TOOLKITS = "NVIDIA GPU Computing Toolkit/CUDA"
_NAMED_DLLS = re.compile(r"""(\w+_dll_names?)["']?\s*[=:,]\s*["']([^"']+)["']""")
_CHECKED = "msvcp_dll_name msvcp_dll_names nvcuda_dll_name cudart_dll_name cudnn_dll_name"
_RUNTIMES = ("vcruntime140.dll", "msvcp140.dll", "vcruntime140_1.dll")
_BY_NAME = {"tensorflow": PLAIN, "onnxruntime": ALTERED, "ctranslate2": PLAIN}
_EXTENSIONS = (
    *("torch", "jax", "cupy", "paddle", "mxnet", "tensorrt", "bitsandbytes", "flash_attn"),
    *("xformers", "vllm", "triton"),
)


class Start:
    """A Python process on Windows: its release decides how extension modules and ctypes search."""

    def __init__(self, world: WindowsWorld, facts: Facts) -> None:
        self.process = WindowsProcess(world)
        self.machine: Machine = world.machine
        self.facts = facts
        python = value_or(facts.environment.python, None)
        self.prefix = python.prefix if python else ""
        version = python.version if python else ""
        numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
        modern = not numbers or numbers >= (3, 8)
        self.extension: Call = LISTED_OWN if modern else ALTERED  # how `import` opens a module
        self.ctypes: Call = LISTED if modern else PLAIN  # how ctypes opens a library by its name
        self.call = self.extension  # how the framework opens its files
        self.environ = value_or(world.machine.environ(), {})

    def imports(self, folder: str, match: str) -> None:
        """Import the extension modules of a folder whose names match."""
        for path in names(self.machine, folder, match):
            self.process.load(path, self.extension, rule=_IMPORT)

    def lines(self, path: str, *words: str) -> str:
        """The lines of a file that hold some words, as one text."""
        found = value_or(self.machine.lines(path, *words), ())
        return "\n".join(found)

    def adds(self, folder: str, file: str) -> None:
        """A framework's file adds a folder to the search."""
        self.process.add_folder(folder, other(f"added by {file}"))

    def toolkits(self, *variables: str) -> list[str]:
        """The toolkits that variables name; where no variable was seen, the installed ones."""
        named = [tidy(self.environ[one]) for one in variables if self.environ.get(one)]
        if named or self.environ:
            return named
        installed = value_or(self.facts.libraries.toolkits, ())
        return [one.path for one in installed if one.kind != "wheel"]


_IMPORT = other("Python's import")


def run(world: WindowsWorld, facts: Facts, framework: Framework) -> WindowsProcess:
    """A Python process that has imported a framework and opened its CUDA libraries."""
    start, program = Start(world, facts), other("the program")
    start.process.load(f"{world.application}/python.exe", rule=program)
    for path in names(world.machine, world.application, r"(?i)python3\d+\.dll$"):
        start.process.load(path, rule=program)  # python.exe has it loaded by then
    known = framework.name in (*_EXTENSIONS, *_BY_NAME)  # others may add PATH's folders
    start.call = start.extension if known else ALTERED
    _WAYS.get(framework.name, _plain)(start, framework)
    call = _BY_NAME.get(framework.name, start.call)
    for one in value_or(framework.opens, ()):  # what it asks for by name
        gone = any(missing.name == one.name for missing in start.process.missing)
        if not gone and start.process.get(one.name) is None:
            start.process.load(one.name, call, one.by)
    _opened_later(start.process)
    return start.process


def _plain(start: Start, framework: Framework) -> None:
    """A framework without a way of its own: its modules, each with what it imports."""
    for path in dict.fromkeys(one.by for one in value_or(framework.opens, ())):
        if path.lower().endswith((".dll", ".pyd")):
            start.process.load(path, start.call, rule=_IMPORT)


def _cupy(start: Start, framework: Framework) -> None:
    """CuPy adds the bin folder of CUDA_PATH; on a disk without variables, of each toolkit."""
    for root in start.toolkits("CUDA_PATH"):
        start.adds(f"{root}/bin", f"{framework.path}/_environment.py")
    needed = [one.by for one in value_or(framework.opens, ()) if not one.optional]
    for path in dict.fromkeys(needed):
        start.process.load(path, start.extension, rule=_IMPORT)


def _numba(start: Start, _framework: Framework) -> None:
    """Numba's search for NVVM: CUDA_HOME or CUDA_PATH, conda; with numba-cuda, wheels too."""
    folders = [f"{root}/nvvm/bin" for root in start.toolkits("CUDA_HOME", "CUDA_PATH")]
    folders += [f"{start.prefix}/Library/nvvm/bin", f"{start.prefix}/Library/bin"]
    if any(one.name == "numba-cuda" for one in value_or(start.facts.environment.packages, ())):
        folders += [f"{site}/nvidia/cuda_nvcc/nvvm/bin" for site in site_paths(start.facts)]
    found = [path for one in folders for path in names(start.machine, one, r"(?i)nvvm64.*\.dll$")]
    missing, rule = start.process.missing, other("Numba's own search")
    before = len(missing)
    if found and start.process.load(found[0], start.ctypes, rule=rule) is None:
        lost = (structs.replace(one, name="nvvm64_40_0.dll") for one in missing[before:])
        missing[before:] = list(lost)


def _tensorflow(start: Start, framework: Framework) -> None:
    """What self_check asks ctypes for, by build_info, then the extension, which opens CUDA through
    PATH.
    """
    python = f"{framework.path}/python"
    check = f"{python}/platform/self_check.py"
    built = start.lines(f"{python}/platform/build_info.py", "_dll_name")
    found, lines = dict(_NAMED_DLLS.findall(built)), start.lines(check, "dll_name")
    for key in _CHECKED.split():
        for name in found[key].split(",") if key in found and key in lines else ():
            start.process.load(name, start.ctypes, check)
    start.imports(python, r"_pywrap_tensorflow_internal\.pyd$")


def _torch(start: Start, framework: Framework) -> None:
    """Its lib folder and some others are added; every DLL of lib is opened, then the extension."""
    lib, init = f"{framework.path}/lib", f"{framework.path}/__init__.py"
    added = _torch_folders(start, framework, lib)
    for folder in added:
        start.adds(folder, init)
    for name in _RUNTIMES:
        start.process.load(name, start.ctypes, init)
    process, rule = start.process, other(f"the list in {init}")
    for path in names(start.machine, lib, r"(?i).*\.dll$"):
        before = len(process.missing)
        if process.load(path, LISTED_OWN, init, rule):
            continue
        if not any(one.refused is not None for one in process.missing[before:]):
            # nothing found (error 126): torch puts its folders before PATH and tries again
            del process.missing[before:]
            process.prepend_path([folder for folder in added if folder not in process.world.path])
            process.load(path, PLAIN, init, rule)
    start.imports(framework.path, r"_C\.[\w-]*pyd$")


def _torch_folders(start: Start, framework: Framework, lib: str) -> list[str]:
    prefixes = dict.fromkeys((start.prefix, start.process.world.application))
    found = [lib, *(f"{prefix}/Library/bin" for prefix in prefixes), f"{start.prefix}/bin"]
    present = [folder for folder in found if isinstance(start.machine.stat(folder), Known)]
    cuda = value_or(framework.built_for_cuda, "")
    runtime = r"(?i)cudart64.*\.dll$"
    if cuda and not any(names(start.machine, folder, runtime) for folder in present):
        files = start.environ.get("PROGRAMFILES", "C:/Program Files")
        usual = f"{files}/{_TOOLKITS}/v{cuda}"
        named = start.environ.get(f"CUDA_PATH_V{cuda.replace('.', '_')}", usual)
        present.append(tidy(f"{named}/bin"))
    return present


def _onnxruntime(start: Start, framework: Framework) -> None:
    """Folders of CUDA_PATH in releases that say so; the extension; the CUDA provider by path."""
    capi = f"{framework.path}/capi"
    file = f"{capi}/_pybind_state.py"
    lines = start.lines(file, "add_dll_directory", "CUDA_PATH", "CUDNN_")
    for variable in ("CUDA_PATH", "CUDNN_HOME", "CUDNN_PATH"):
        named = variable in lines and variable in start.environ
        if named and "add_dll_directory" in lines:
            start.adds(tidy(start.environ[variable] + "/bin"), file)
    start.imports(capi, r"onnxruntime_pybind11_state.*\.pyd$")
    for name in ("shared", "cuda"):
        for path in names(start.machine, capi, rf"onnxruntime_providers_{name}\.dll$"):
            start.process.load(path, ALTERED, rule=other("ONNX Runtime itself"))


_WAYS: dict[str, Callable[[Start, Framework], None]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "cupy": _cupy,
    "numba": _numba,
}


# ---------------------------------------------------------------- what follows


def _opened_later(process: WindowsProcess) -> None:
    """What cuDNN opens by itself, as a plain LoadLibrary."""
    cuda_version = process.machine.cuda_version
    for major, parts in CUDNN_PARTS.items():
        cudnn = process.get(f"cudnn64_{major}.dll")
        for part in parts.split() if cudnn else ():
            process.load(f"cudnn_{part}64_{major}.dll", PLAIN, cudnn.path if cudnn else "")
    cudnn = process.get("cudnn64_8.dll")
    version = value_or(cuda_version(cudnn.path), cudnn.pe.version) if cudnn else ""
    if cudnn and re.match(r"8\.[3-9]", version):
        process.load("zlibwapi.dll", PLAIN, cudnn.path)
    # a part of cuDNN names the cuBLAS of the CUDA that it was made for, and opens that one
    for opener in filter(None, map(process.get, _OPENS_CUBLAS)):
        named = value_or(process.machine.holds(opener.path, *_CUBLAS), ())
        if named and not any(map(process.get, named)):
            process.load(named[-1], PLAIN, opener.path)
