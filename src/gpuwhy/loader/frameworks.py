"""The frameworks' own ways of loading CUDA: which files they open, in which order.

What each does is read from its own files where it says so (the lists of torch and JAX are Python
text), so that a release which changes its way is followed rather than remembered.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from msgspec import structs

from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.loads import Found, Rule
from gpuwhy.loader.glibc import World
from gpuwhy.loader.outcome import other
from gpuwhy.loader.pathfinder import by_pathfinder
from gpuwhy.loader.process import Loaded, Process
from gpuwhy.loader.systems import CUDNN_PARTS, names, site_paths

_TORCH_PAIR = re.compile(r'"(\w+)"[,:] *"(lib[\w-]+\.so)')
_TORCH_CALL = re.compile(r'_preload_cuda_(?:deps|lib)\("(\w+)", *"(lib[\w-]+\.so)')
_MAY_MISS = "required=False"
_TORCH_ALL = re.compile(r"_preload_cuda_deps\((?:required=False)?\)")
_TORCH_MAPS = re.compile(r'if "([^"]+)" not in _maps')
_JAX_LOAD = re.compile(r'^\s*_load\("(\w+)", \[(.*)\]\)')
_QUOTED = re.compile(r'"([^"]+)"')


def run(world: World, facts: Facts, framework: Framework) -> Process:
    """A Python process that has imported a framework and opened its CUDA libraries."""
    process = Process(world)
    interpreter = facts.environment.python
    if isinstance(interpreter, Known):
        program = world.machine.real(interpreter.value.path)
        process.start(program.value if isinstance(program, Known) else interpreter.value.path)
    _WAYS.get(framework.name, _plain)(process, facts, framework)
    _open_listed(process, framework)
    _cudnn_parts(process)
    if framework.name == "cupy":  # which compiles every kernel with it
        _nvrtc_builtins(process)
    return process


def _plain(process: Process, facts: Facts, framework: Framework) -> None:
    """A framework without a way of its own. Packages that are not known may open NVIDIA's wheels
    themselves: what is installed there counts as found.
    """
    if framework.name in _BY_THEMSELVES:
        return
    copies = value_or(facts.libraries.copies, ())
    wheels = {one.name: one.path for one in copies if one.where == "wheel"}
    for one in value_or(framework.opens, ()):
        if one.name in wheels:
            process.dlopen(wheels[one.name], rule=other("from NVIDIA's wheels"))


_BY_THEMSELVES = (
    *("paddle", "mxnet", "tensorrt", "ctranslate2", "bitsandbytes"),
    *("flash_attn", "xformers", "vllm", "triton"),
)


def _torch(process: Process, facts: Facts, framework: Framework) -> None:
    """libtorch_global_deps; in releases that do so, NVIDIA's wheels by path; the extension."""
    machine = process.world.machine
    file, first = f"{framework.path}/__init__.py", f"{framework.path}/lib/libtorch_global_deps.so"
    named = value_or(machine.lines(file, "libtorch_global_deps"), ("not seen",))
    deps = process.dlopen(first) if named else None  # 1.0 to 1.4 have no such library
    failed = process.closed(deps) if deps else False
    pairs, needed = _torch_preloads(process, framework, failed)
    for folder, stem in pairs:
        path = _wheel_library(process, facts, framework, folder, stem)
        if path:
            process.dlopen(path, rule=Found(Rule.PRELOADED, file))
        elif needed and not failed:
            break  # torch gives up quietly at the first that it does not find
    if failed:
        process.missing.clear()
        process.dlopen(first)
    for path in names(machine, framework.path, r"_C\.[\w-]*\.?so$|_C\.cpython.*\.so$"):
        process.dlopen(path)


def _torch_preloads(
    process: Process, framework: Framework, failed: bool
) -> tuple[list[tuple[str, str]], bool]:
    """What torch's own text preloads, and whether it stops at the first that is missing.

    1.13 to 2.5: all, only after libtorch_global_deps failed to load. 2.6 to 2.9: nvRTC and
    nvJitLink, where the CUDA runtime is a wheel's (2.9: wherever it comes from). 2.10 and newer:
    all; since 2.14 a missing one is passed over.
    """
    file, machine = f"{framework.path}/__init__.py", process.world.machine
    lines = value_or(machine.lines(file, '"lib', "_preload_cuda_deps("), ())
    listed = _pairs(_TORCH_PAIR, (line for line in lines if "_preload_cuda_" not in line))
    every = [*listed, *_pairs(_TORCH_CALL, (line for line in lines if _MAY_MISS in line))]
    if failed:
        return every, True
    if not _torch_goes_on(process, file):
        return [], True
    at_once = _pairs(_TORCH_CALL, (line for line in lines if _MAY_MISS not in line))
    whole = next(filter(_TORCH_ALL.search, lines), "")
    if at_once or not whole:
        return at_once, True
    return every, _MAY_MISS not in whole


def _pairs(expression: re.Pattern[str], lines: Iterable[str]) -> list[tuple[str, str]]:
    """The folder and the library of each line that has them."""
    return [(found[1], found[2]) for found in map(expression.search, lines) if found]


def _torch_goes_on(process: Process, file: str) -> bool:
    """Whether the loaded CUDA runtime is one that torch's text looks for in /proc/self/maps."""
    said = process.world.machine.lines(file, "not in _maps")
    if not isinstance(said, Known):
        return True
    wanted = next((m[1] for line in said.value if (m := _TORCH_MAPS.search(line))), "")
    return bool(wanted) and any(wanted in posixpath.normpath(one.path) for one in process.loaded)


def _wheel_library(
    process: Process, facts: Facts, framework: Framework, folder: str, stem: str
) -> str:
    """What torch's glob finds first on sys.path: nvidia/<folder>/lib, then nvidia/cuNN/lib."""
    cuda = framework.built_for_cuda
    major = cuda.value.split(".")[0] if isinstance(cuda, Known) else "0"
    for site in site_paths(facts):
        for place in (f"nvidia/{folder}/lib", f"nvidia/cu{major}/lib", f"{folder}/lib"):
            found = names(process.world.machine, f"{site}/{place}", re.escape(stem) + r"\..*[0-9]$")
            if found:
                return found[0]
    return ""


def _tensorflow(process: Process, facts: Facts, framework: Framework) -> None:
    """The Python extension, which needs the framework library; that one opens CUDA by name."""
    for path in names(
        process.world.machine, f"{framework.path}/python", r"_pywrap_tensorflow(_internal)?\.so$"
    ):
        process.dlopen(path)


def _jax(process: Process, facts: Facts, framework: Framework) -> None:
    """The plugin's own list of nvidia wheels, loaded by path; then the plugin."""
    machine = process.world.machine
    for site in site_paths(facts):
        for folder in names(machine, f"{site}/jax_plugins", r"xla_cuda\d+$"):
            listed = machine.lines(f"{folder}/__init__.py", '_load("')
            for line in value_or(listed, ()):
                match = _JAX_LOAD.match(line)
                for name in _QUOTED.findall(match.group(2)) if match else ():
                    path = f"{site}/nvidia/{match.group(1)}/lib/{name}" if match else ""
                    if isinstance(machine.stat(path), Known):
                        process.dlopen(path, rule=Found(Rule.PRELOADED, f"{folder}/__init__.py"))
            process.dlopen(f"{folder}/xla_cuda_plugin.so")


def _onnxruntime(process: Process, facts: Facts, framework: Framework) -> None:
    """The extension, then the CUDA provider by path."""
    machine = process.world.machine
    for match in (
        r"onnxruntime_pybind11_state.*so$",
        r"libonnxruntime_providers_(shared|cuda)\.so$",
    ):
        for path in reversed(names(machine, f"{framework.path}/capi", match)):
            process.dlopen(path)


def _cupy(process: Process, facts: Facts, framework: Framework) -> None:
    """CuPy 14 has cuda-pathfinder open each library before the module that needs it."""
    text = f"{framework.path.rpartition('/')[0]}/cupy_backends/cuda/libs/__init__.py"
    lines = process.world.machine.lines(text, "load_nvidia_dynamic_lib")
    found = bool(value_or(lines, ()))
    if isinstance(lines, Unknown):  # a recording that did not ask
        found = int(framework.version.partition(".")[0] or 0) >= 14
    if found:
        for one in value_or(framework.opens, ()):
            by_pathfinder(process, facts, one.name)


def _ctranslate2(process: Process, facts: Facts, framework: Framework) -> None:
    """The extension (before 2.0: translator), whose RPATH leads to what the wheel brings."""
    for path in names(process.world.machine, framework.path, r"(_ext|translator)\..*so$"):
        process.dlopen(path)


def _tensorrt(process: Process, facts: Facts, framework: Framework) -> None:
    """Its own text opens what lies beside it and in the wheel with the libraries."""
    site = framework.path.rpartition("/")[0]
    for one in value_or(framework.opens, ()):
        for folder in (f"{site}/tensorrt_libs", framework.path):
            if isinstance(process.world.machine.stat(f"{folder}/{one.name}"), Known):
                rule = Found(Rule.PRELOADED, f"{folder}/__init__.py")
                process.dlopen(f"{folder}/{one.name}", rule=rule)
                break


def _numba(process: Process, facts: Facts, framework: Framework) -> None:
    """Numba's search for NVVM: CUDA_HOME, conda, /usr/local/cuda; with numba-cuda, wheels too."""
    machine = process.world.machine
    environ, python = value_or(machine.environ(), {}), value_or(facts.environment.python, None)
    roots = [environ.get("CUDA_HOME", ""), environ.get("CUDA_PATH", "")]
    roots += [python.prefix if python else "", "/usr/local/cuda"]
    folders = [f"{root}/nvvm/lib64" for root in roots if root]
    if any(one.name == "numba-cuda" for one in value_or(facts.environment.packages, ())):
        parts = ("cuda_nvcc/nvvm/lib64", "cu13/lib", "cu13/nvvm/lib64")
        folders += [f"{site}/nvidia/{part}" for site in site_paths(facts) for part in parts]
    for folder in folders:
        found = names(machine, folder, r"libnvvm\.so(\.\d+)*$")
        if found:
            _opened_as(process, found[0], "libnvvm.so")
            return


def _opened_as(process: Process, path: str, name: str) -> None:
    """Open a file that a framework found; one that glibc refuses is missing by its plain name."""
    before = len(process.missing)
    process.dlopen(path, rule=other("Numba's own search"))
    for number in range(before, len(process.missing)):
        if process.missing[number].name == path:
            process.missing[number] = structs.replace(process.missing[number], name=name)


_WAYS: dict[str, Callable[[Process, Facts, Framework], None]] = {
    "torch": _torch,
    "tensorflow": _tensorflow,
    "jax": _jax,
    "onnxruntime": _onnxruntime,
    "cupy": _cupy,
    "numba": _numba,
    "ctranslate2": _ctranslate2,
    "tensorrt": _tensorrt,
}


def _open_listed(process: Process, framework: Framework) -> None:
    """The libraries that the framework asks for by name, each from the file that asks."""
    opened = value_or(framework.opens, ())
    gone = {one.name for one in process.missing}
    for one in opened:
        if one.name in gone:
            continue
        asker = next((x for x in process.loaded if x.path == one.by), None)
        process.dlopen(one.name, asker or process.dlopen(one.by))


def _bundled(process: Process, major: str) -> Loaded | None:
    """cuDNN's shim as wheels rename it that bring it: libcudnn-74a4c495.so.9.1.0."""
    name = re.compile(rf"libcudnn-\w+\.so\.{major}\b")
    return next((one for one in process.loaded if name.match(one.name)), None)


def _cudnn_parts(process: Process) -> None:
    """What the cuDNN shim opens from itself."""
    for major, parts in CUDNN_PARTS.items():
        shim = process.get(f"libcudnn.so.{major}") or _bundled(process, major)
        for part in parts.split() if shim else ():
            process.dlopen(f"libcudnn_{part}.so.{major}", shim)


def _nvrtc_builtins(process: Process) -> None:
    """What NVRTC opens at its first compilation: beside it, or by a name with its release."""
    for nvrtc in [one for one in process.loaded if re.match(r"libnvrtc\.so\.\d", one.name)]:
        real = value_or(process.machine.real(nvrtc.path), nvrtc.path)
        told = value_or(process.machine.cuda_version(nvrtc.path), "") or real.rpartition(".so.")[2]
        version = re.match(r"\d+\.\d+", told)
        if version:
            name = f"libnvrtc-builtins.so.{version[0]}"
            beside = f"{nvrtc.path.rpartition('/')[0]}/{name}"
            there = isinstance(process.machine.stat(beside), Known)
            process.dlopen(beside if there else name, nvrtc)
