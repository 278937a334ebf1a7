"""The frameworks' own ways of loading CUDA on Windows: folders they add, files they open.

What each does is read from its own files where it says so (TensorFlow's build_info, the Python text
of torch and ONNX Runtime), so that a release which changes its way is followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import structs

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.loader.outcome import other
from gpuwhy.loader.systems import names, site_paths
from gpuwhy.loader.windows import ALTERED, LISTED, LISTED_OWN, PLAIN, Call, WindowsWorld, tidy
from gpuwhy.loader.windows_added import added_at_start
from gpuwhy.loader.windows_process import WindowsProcess
from gpuwhy.machine.machine import Machine

CUDNN_PARTS = {
    "9": (
        "graph",
        "engines_precompiled",
        "engines_runtime_compiled",
        "heuristic",
        "ops",
        "cnn",
        "adv",
    ),
    "8": ("ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train"),
}
"""The sub-libraries that the cuDNN shim opens by name, by cuDNN major."""

_OPENS_CUBLAS = ("cudnn_ops_infer64_8.dll", "cudnn_adv64_9.dll")
_CUBLAS = tuple(f"cublasLt64_{major}.dll" for major in (10, 11, 12, 13))
_NVRTC = (
    "nvrtc64_112_0.dll",
    "nvrtc64_120_0.dll",
    "nvrtc64_130_0.dll",
)  # from CUDA 11.2 on, one name a major
_TOOLKITS = "NVIDIA GPU Computing Toolkit/CUDA"
_NAMED_DLLS = re.compile(r"""(\w+_dll_names?)["']?\s*[=:,]\s*["']([^"']+)["']""")
_CHECKED = (
    "msvcp_dll_name",
    "msvcp_dll_names",
    "nvcuda_dll_name",
    "cudart_dll_name",
    "cudnn_dll_name",
)
_RUNTIMES = ("vcruntime140.dll", "msvcp140.dll", "vcruntime140_1.dll")


class Start:
    """A Python process on Windows: its release decides how extension modules and ctypes search."""

    def __init__(self, world: WindowsWorld, facts: Facts) -> None:
        self.process = WindowsProcess(world)
        self.machine: Machine = world.machine
        self.facts = facts
        interpreter = facts.environment.python
        version = interpreter.value.version if isinstance(interpreter, Known) else ""
        self.prefix = interpreter.value.prefix if isinstance(interpreter, Known) else ""
        numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
        self.modern = not numbers or numbers >= (3, 8)
        environ = world.machine.environ()
        self.environ = value_or(environ, {})

    @property
    def extension(self) -> Call:
        """How `import` opens an extension module."""
        return LISTED_OWN if self.modern else ALTERED

    @property
    def ctypes(self) -> Call:
        """How ctypes opens a library by its name."""
        return LISTED if self.modern else PLAIN


def run(world: WindowsWorld, facts: Facts, framework: Framework) -> WindowsProcess:
    """A Python process that has imported a framework and opened its CUDA libraries."""
    start = Start(world, facts)
    start.process.load(f"{world.application}/python.exe", rule=other("the program"))
    for path in names(
        world.machine, world.application, r"(?i)python3\d+\.dll$"
    ):  # which python.exe has loaded by then
        start.process.load(path, rule=other("the program"))
    sites = site_paths(facts)
    for folder, who in added_at_start(
        start.machine, (*sites, f"{start.prefix}/Lib"), start.environ
    ):
        start.process.add_folder(folder, who)
    _WAYS.get(framework.name, _plain)(start, framework)
    _open_listed(start, framework)
    _cudnn_parts(start.process)
    _cublas_of_cudnn(start.process)
    if framework.name == "cupy":  # which compiles every kernel with it
        _nvrtc_builtins(start.process)
    return start.process


def _plain(start: Start, framework: Framework) -> None:
    """A framework without a way of its own: its modules, each with what it imports."""
    asking = dict.fromkeys(one.by for one in value_or(framework.opens, ()))
    known_one = framework.name in (*_EXTENSIONS, *_BY_NAME)
    for path in asking:
        if path.lower().endswith((".dll", ".pyd")):
            start.process.load(
                path, start.extension if known_one else ALTERED, rule=other("Python's import")
            )


def _call(start: Start, framework: Framework) -> Call:
    """How a framework opens what it names; packages that are not known may add PATH's folders."""
    return _BY_NAME.get(
        framework.name, start.extension if framework.name in _EXTENSIONS else ALTERED
    )


_BY_NAME = {"tensorflow": PLAIN, "onnxruntime": ALTERED, "ctranslate2": PLAIN}
_EXTENSIONS = frozenset(
    (
        "torch",
        "jax",
        "cupy",
        "paddle",
        "mxnet",
        "tensorrt",
        "bitsandbytes",
        "flash_attn",
        "xformers",
        "vllm",
        "triton",
    )
)


def _cupy(start: Start, framework: Framework) -> None:
    """CuPy adds the bin folder of CUDA_PATH; on a disk without variables, of each toolkit."""
    for root in _roots(start, "CUDA_PATH"):
        start.process.add_folder(f"{root}/bin", other(f"added by {framework.path}/_environment.py"))
    needed = [one.by for one in value_or(framework.opens, ()) if not one.optional]
    for path in dict.fromkeys(needed):
        start.process.load(path, start.extension, rule=other("Python's import"))
    _nvrtc_of_cupy(start, framework)


def _nvrtc_of_cupy(start: Start, framework: Framework) -> None:
    """Releases whose module names NVRTC's DLLs open the one of their CUDA, by the linked cuBLAS."""
    linked = (re.match(r"(?i)cublas64_(\d+)\.dll", one.name) for one in start.process.loaded)
    cuda = next((one[1] for one in linked if one), "")
    wanted = (
        next((name for name in _NVRTC if name.startswith(f"nvrtc64_{cuda}")), "") if cuda else ""
    )
    site = framework.path.rpartition("/")[0]
    for path in (
        names(start.machine, f"{site}/cupy_backends/cuda/libs", r"nvrtc\..*pyd$") if wanted else ()
    ):
        if wanted in value_or(start.machine.holds(path, wanted), ()):
            start.process.load(wanted, start.ctypes, path)


def _numba(start: Start, framework: Framework) -> None:
    """Numba's search for NVVM: CUDA_HOME or CUDA_PATH, conda; with numba-cuda, wheels too."""
    folders = [f"{root}/nvvm/bin" for root in _roots(start, "CUDA_HOME", "CUDA_PATH")]
    folders += [f"{start.prefix}/Library/nvvm/bin", f"{start.prefix}/Library/bin"]
    if any(one.name == "numba-cuda" for one in value_or(start.facts.environment.packages, ())):
        sites = site_paths(start.facts)
        folders += [f"{site}/nvidia/cuda_nvcc/nvvm/bin" for site in sites]
    found = next(
        (
            path
            for folder in folders
            for path in names(start.machine, folder, r"(?i)nvvm64.*\.dll$")
        ),
        "",
    )
    before = len(start.process.missing)
    if found and start.process.load(found, start.ctypes, rule=other("Numba's own search")) is None:
        lost = start.process.missing[before:]
        start.process.missing[before:] = [
            structs.replace(one, name="nvvm64_40_0.dll") for one in lost
        ]


def _roots(start: Start, *variables: str) -> list[str]:
    """The toolkits that variables name; where no variable was seen, those that are installed."""
    named = [tidy(start.environ[one]) for one in variables if start.environ.get(one)]
    there = value_or(start.facts.libraries.toolkits, ())
    return named or ([] if start.environ else [one.path for one in there if one.kind != "wheel"])


# ---------------------------------------------------------------- TensorFlow


def _tensorflow(start: Start, framework: Framework) -> None:
    """What self_check asks ctypes for, then the extension, which opens CUDA through PATH."""
    check = f"{framework.path}/python/platform/self_check.py"
    for name in checkednames(start.machine, framework.path):
        start.process.load(name, start.ctypes, check)
    for path in names(
        start.machine, f"{framework.path}/python", r"_pywrap_tensorflow_internal\.pyd$"
    ):
        start.process.load(path, start.extension, rule=other("Python's import"))


def checkednames(machine: Machine, package: str) -> list[str]:
    """The DLLs that TensorFlow's self_check loads before anything else, by its build_info."""
    lines = machine.lines(f"{package}/python/platform/build_info.py", "_dll_name")
    text = "\n".join(lines.value) if isinstance(lines, Known) else ""
    asked = machine.lines(f"{package}/python/platform/self_check.py", "dll_name")
    check = "\n".join(asked.value) if isinstance(asked, Known) else ""
    found = dict(_NAMED_DLLS.findall(text))
    return [
        name for key in _CHECKED if key in found and key in check for name in found[key].split(",")
    ]


# ---------------------------------------------------------------- torch


def _torch(start: Start, framework: Framework) -> None:
    """Its lib folder and some others are added; every DLL of lib is opened, then the extension."""
    lib = f"{framework.path}/lib"
    init = f"{framework.path}/__init__.py"
    added = _torch_folders(start, framework, lib)
    for folder in added:
        start.process.add_folder(folder, other(f"added by {init}"))
    for name in _RUNTIMES:
        start.process.load(name, start.ctypes, init)
    for path in names(start.machine, lib, r"(?i).*\.dll$"):
        _open_torch(start.process, path, init, added)
    for path in names(start.machine, framework.path, r"_C\.[\w.-]*pyd$"):
        start.process.load(path, start.extension, rule=other("Python's import"))


def _open_torch(process: WindowsProcess, path: str, init: str, added: list[str]) -> None:
    """Where something is not found (error 126), torch puts its folders before PATH and retries."""
    before = len(process.missing)
    if process.load(path, LISTED_OWN, init, other(f"the list in {init}")):
        return
    if not any(one.refused is not None for one in process.missing[before:]):
        del process.missing[before:]
        process.prepend_path([folder for folder in added if folder not in process.world.path])
        process.load(path, PLAIN, init, other(f"the list in {init}"))


def _torch_folders(start: Start, framework: Framework, lib: str) -> list[str]:
    found = [lib, *(f"{prefix}/Library/bin" for prefix in _prefixes(start)), f"{start.prefix}/bin"]
    present = [folder for folder in found if isinstance(start.machine.stat(folder), Known)]
    cuda = framework.built_for_cuda
    if isinstance(cuda, Known) and not any(
        names(start.machine, p, r"(?i)cudart64.*\.dll$") for p in present
    ):
        files = start.environ.get("PROGRAMFILES", "C:/Program Files")
        variable = f"CUDA_PATH_V{cuda.value.replace('.', '_')}"
        present.append(
            tidy(start.environ.get(variable, f"{files}/{_TOOLKITS}/v{cuda.value}") + "/bin")
        )
    return present


def _prefixes(start: Start) -> list[str]:
    return list(dict.fromkeys((start.prefix, start.process.world.application)))


# ---------------------------------------------------------------- ONNX Runtime


def _onnxruntime(start: Start, framework: Framework) -> None:
    """Folders of CUDA_PATH in releases that say so; the extension; the CUDA provider by path."""
    text = start.machine.lines(
        f"{framework.path}/capi/_pybind_state.py", "add_dll_directory", "CUDA_PATH", "CUDNN_"
    )
    lines = "\n".join(text.value) if isinstance(text, Known) else ""
    for variable in (
        ("CUDA_PATH", "CUDNN_HOME", "CUDNN_PATH") if "add_dll_directory" in lines else ()
    ):
        if variable in lines and variable in start.environ:
            folder = tidy(start.environ[variable] + "/bin")
            start.process.add_folder(
                folder, other(f"added by {framework.path}/capi/_pybind_state.py")
            )
    for path in names(
        start.machine, f"{framework.path}/capi", r"onnxruntime_pybind11_state.*\.pyd$"
    ):
        start.process.load(path, start.extension, rule=other("Python's import"))
    for name in ("onnxruntime_providers_shared.dll", "onnxruntime_providers_cuda.dll"):
        for path in names(start.machine, f"{framework.path}/capi", re.escape(name) + "$"):
            start.process.load(path, ALTERED, rule=other("ONNX Runtime itself"))


_WAYS: dict[str, Callable[[Start, Framework], None]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "cupy": _cupy,
    "numba": _numba,
}


# ---------------------------------------------------------------- what follows


def _open_listed(start: Start, framework: Framework) -> None:
    """What it asks for by name: TensorFlow with a plain LoadLibrary, others as linked."""
    call = _call(start, framework)
    for one in value_or(framework.opens, ()):
        if start.process.get(one.name) is None and not any(
            m.name == one.name for m in start.process.missing
        ):
            start.process.load(one.name, call, one.by)


def _cudnn_parts(process: WindowsProcess) -> None:
    """What the cuDNN shim opens by name, as a plain LoadLibrary."""
    for major, parts in CUDNN_PARTS.items():
        shim = process.get(f"cudnn64_{major}.dll")
        for part in parts if shim else ():
            process.load(f"cudnn_{part}64_{major}.dll", PLAIN, shim.path if shim else "")
    _zlib(process)


def _zlib(process: WindowsProcess) -> None:
    """cuDNN 8.3 to 8.9 opens zlib's DLL, which it does not bring, by name."""
    shim = process.get("cudnn64_8.dll")
    told = process.world.machine.cuda_version(shim.path) if shim else None
    version = told.value if isinstance(told, Known) else shim.pe.version if shim else ""
    if shim and re.match(r"8\.[3-9]", version):
        process.load("zlibwapi.dll", PLAIN, shim.path)


def _cublas_of_cudnn(process: WindowsProcess) -> None:
    """A part of cuDNN names the cuBLAS of the CUDA that it was made for, and opens that one."""
    for part in filter(None, map(process.get, _OPENS_CUBLAS)):
        named = value_or(process.machine.holds(part.path, *_CUBLAS), ())
        if named and not any(map(process.get, named)):
            process.load(named[-1], PLAIN, part.path)


def _nvrtc_builtins(process: WindowsProcess) -> None:
    """What NVRTC opens at its first compilation: beside it, or by a name with its release."""
    for nvrtc in [one for one in process.loaded if re.match(r"(?i)nvrtc64_\d+_0\.dll$", one.name)]:
        version = re.match(
            r"(\d+)\.(\d+)\.", value_or(process.machine.cuda_version(nvrtc.path), "")
        )
        if version:
            name = f"nvrtc-builtins64_{version[1]}{version[2]}.dll"
            beside = f"{nvrtc.path.rpartition('/')[0]}/{name}"
            there = isinstance(process.machine.stat(beside), Known)
            process.load(beside if there else name, PLAIN, nvrtc.path)
