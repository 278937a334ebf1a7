"""The frameworks' own ways of loading CUDA: which files they open, in which order.

What each does is read from its own files where it says so (the lists of torch and JAX are Python
text), so that a release which changes its way is followed rather than remembered.
"""

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
from gpuwhy.loader.process import Loaded, Process
from gpuwhy.loader.systems import CUDNN_PARTS, names, site_paths

_BY_THEMSELVES = (
    *("paddle", "mxnet", "bitsandbytes", "flash_attn", "xformers", "vllm", "triton"),
    *("tensorflow", "onnxruntime", "ctranslate2"),
)
"""They open nothing of NVIDIA's wheels by path."""
_EXTENSIONS = {
    "tensorflow": (("python/", r"_pywrap_tensorflow(_internal)?\.so$"),),
    "onnxruntime": (
        ("capi/", r"onnxruntime_pybind11_state.*so$"),
        ("capi/", r"libonnxruntime_providers_shared\.so$"),
        ("capi/", r"libonnxruntime_providers_cuda\.so$"),
    ),
    "ctranslate2": (("", r"(_ext|translator)\..*so$"),),  # before 2.0: translator
}
"""The files that an import opens by path, which then open CUDA by name."""


def run(world: World, facts: Facts, framework: Framework) -> Process:
    """A Python process that has imported a framework and opened its CUDA libraries."""
    process = Process(world)
    interpreter = facts.environment.python
    if isinstance(interpreter, Known):
        program = interpreter.value.path
        process.start(value_or(world.machine.real(program), program))
    _WAYS.get(framework.name, _plain)(process, facts, framework)
    gone = {one.name for one in process.missing}
    for one in value_or(framework.opens, ()):  # what it asks for by name, each from who asks
        if one.name not in gone:
            asker = next((x for x in process.loaded if x.path == one.by), None)
            process.dlopen(one.name, asker or process.dlopen(one.by))
    _opened_later(process, framework.name == "cupy")
    return process


def _plain(process: Process, facts: Facts, framework: Framework) -> None:
    """A framework without a way of its own. Packages that are not known may open NVIDIA's wheels
    themselves: what is installed there counts as found.
    """
    for folder, match in _EXTENSIONS.get(framework.name, ()):
        for path in names(process.machine, f"{framework.path}/{folder}".rstrip("/"), match):
            process.dlopen(path)
    if framework.name in _BY_THEMSELVES:
        return
    copies = value_or(facts.libraries.copies, ())
    wheels = {one.name: one.path for one in copies if one.where == "wheel"}
    for one in value_or(framework.opens, ()):
        if one.name in wheels:
            process.dlopen(wheels[one.name], rule=other("from NVIDIA's wheels"))


# ---------------------------------------------------------------- PyTorch

_TORCH_PAIR = re.compile(r'"(\w+)"[,:] *"(lib[\w-]+\.so)')
_TORCH_CALL = re.compile(r'_preload_cuda_(?:deps|lib)\("(\w+)", *"(lib[\w-]+\.so)')
_MAY_MISS = "required=False"
_TORCH_ALL = re.compile(r"_preload_cuda_deps\((?:required=False)?\)")
_TORCH_MAPS = re.compile(r'if "([^"]+)" not in _maps')


def _torch(process: Process, facts: Facts, framework: Framework) -> None:
    """libtorch_global_deps; in releases that do so, NVIDIA's wheels by path; the extension."""
    machine = process.machine
    file, first = f"{framework.path}/__init__.py", f"{framework.path}/lib/libtorch_global_deps.so"
    named = value_or(machine.lines(file, "libtorch_global_deps"), ("not seen",))
    deps = process.dlopen(first) if named else None  # 1.0 to 1.4 have no such library
    failed = process.closed(deps) if deps else False
    pairs, needed = torch_preloads(process, framework, failed)
    major = value_or(framework.built_for_cuda, "0").split(".")[0]
    for folder, stem in pairs:
        places = (f"nvidia/{folder}/lib", f"nvidia/cu{major}/lib", f"{folder}/lib")
        path = _of_wheels(process, site_paths(facts), places, stem)
        if path:
            process.dlopen(path, rule=Found(Rule.PRELOADED, file))
        elif needed and not failed:
            break  # torch gives up quietly at the first that it does not find
    if failed:
        process.missing.clear()
        process.dlopen(first)
    for path in names(machine, framework.path, r"_C\.[\w-]*\.?so$|_C\.cpython.*\.so$"):
        process.dlopen(path)


def torch_preloads(
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
    # whether the loaded CUDA runtime is one that torch's text looks for in /proc/self/maps
    said = machine.lines(file, "not in _maps")
    if isinstance(said, Known):
        maps = (m[1] for line in said.value if (m := _TORCH_MAPS.search(line)))
        wanted = next(maps, "\0")
        if not any(wanted in posixpath.normpath(one.path) for one in process.loaded):
            return [], True
    at_once = _pairs(_TORCH_CALL, (line for line in lines if _MAY_MISS not in line))
    whole = next(filter(_TORCH_ALL.search, lines), "")
    return (at_once, True) if at_once or not whole else (every, _MAY_MISS not in whole)


def _pairs(expression: re.Pattern[str], lines: Iterable[str]) -> list[tuple[str, str]]:
    """The folder and the library of each line that has them."""
    return [(found[1], found[2]) for found in map(expression.search, lines) if found]


def _of_wheels(process: Process, sites: tuple[str, ...], places: tuple[str, ...], stem: str) -> str:
    """What torch's glob finds first on sys.path."""
    for folder in (f"{site}/{place}" for site in sites for place in places):
        found = names(process.machine, folder, re.escape(stem) + r"\..*[0-9]$")
        if found:
            return found[0]
    return ""


# ---------------------------------------------------------------- others

_JAX_LOAD = re.compile(r'^\s*_load\("(\w+)", \[(.*)\]\)')
_QUOTED = re.compile(r'"([^"]+)"')


def _jax(process: Process, facts: Facts, _framework: Framework) -> None:
    """The plugin's own list of nvidia wheels, loaded by path; then the plugin."""
    machine = process.machine
    for site in site_paths(facts):
        for folder in names(machine, f"{site}/jax_plugins", r"xla_cuda\d+$"):
            lines = value_or(machine.lines(f"{folder}/__init__.py", '_load("'), ())
            for match in filter(None, map(_JAX_LOAD.match, lines)):
                for name in _QUOTED.findall(match[2]):
                    path = f"{site}/nvidia/{match[1]}/lib/{name}"
                    if isinstance(machine.stat(path), Known):
                        process.dlopen(path, rule=Found(Rule.PRELOADED, f"{folder}/__init__.py"))
            process.dlopen(f"{folder}/xla_cuda_plugin.so")


def _tensorrt(process: Process, _facts: Facts, framework: Framework) -> None:
    """Its own text opens what lies beside it and in the wheel with the libraries."""
    site = framework.path.rpartition("/")[0]
    for one in value_or(framework.opens, ()):
        for folder in (f"{site}/tensorrt_libs", framework.path):
            if isinstance(process.machine.stat(f"{folder}/{one.name}"), Known):
                rule = Found(Rule.PRELOADED, f"{folder}/__init__.py")
                process.dlopen(f"{folder}/{one.name}", rule=rule)
                break


def _numba(process: Process, facts: Facts, _framework: Framework) -> None:
    """Numba's search for NVVM: CUDA_HOME, conda, /usr/local/cuda; with numba-cuda, wheels too."""
    machine = process.machine
    environ, python = value_or(machine.environ(), {}), value_or(facts.environment.python, None)
    roots = [environ.get("CUDA_HOME", ""), environ.get("CUDA_PATH", "")]
    roots += [python.prefix if python else "", "/usr/local/cuda"]
    folders = [f"{root}/nvvm/lib64" for root in roots if root]
    if any(one.name == "numba-cuda" for one in value_or(facts.environment.packages, ())):
        parts = ("cuda_nvcc/nvvm/lib64", "cu13/lib", "cu13/nvvm/lib64")
        folders += [f"{site}/nvidia/{part}" for site in site_paths(facts) for part in parts]
    found = [path for one in folders for path in names(machine, one, r"libnvvm\.so(\.\d+)*$")]
    before = len(process.missing)
    if found:
        process.dlopen(found[0], rule=other("Numba's own search"))
    process.missing[before:] = [  # one that glibc refuses is missing by its plain name
        structs.replace(one, name="libnvvm.so") if one.name == found[0] else one
        for one in process.missing[before:]
    ]


# ---------------------------------------------------------------- CuPy and cuda-pathfinder

FROM_WHEELS = other("cuda-pathfinder, from NVIDIA's wheels")
_FROM_CONDA = other("cuda-pathfinder, from CONDA_PREFIX")
_FROM_CUDA_PATH = other("cuda-pathfinder, from CUDA_PATH")


def _cupy(process: Process, facts: Facts, framework: Framework) -> None:
    """CuPy 14 has cuda-pathfinder open each library before the module that needs it."""
    text = f"{framework.path.rpartition('/')[0]}/cupy_backends/cuda/libs/__init__.py"
    lines = process.machine.lines(text, "load_nvidia_dynamic_lib")
    found = bool(value_or(lines, ()))
    if isinstance(lines, Unknown):  # a recording that did not ask
        found = int(framework.version.partition(".")[0] or 0) >= 14
    for one in value_or(framework.opens, ()) if found else ():
        _by_pathfinder(process, facts, one.name)


def _by_pathfinder(process: Process, facts: Facts, name: str) -> Loaded | None:
    """What is loaded where cuda-pathfinder is asked: NVIDIA's wheels first, then conda's prefix;
    without one the loader's own search, and last `CUDA_PATH` or `CUDA_HOME`.
    """
    found = process.get(name)
    if found is not None and not process.closed(found):
        return found
    early = _wheel(facts, name) or _below(process, ("CONDA_PREFIX",), name)
    if early:
        return _opened(process, facts, early, FROM_WHEELS if "/nvidia/" in early else _FROM_CONDA)
    gaps = len(process.missing)
    found = process.dlopen(name, None)
    late = _below(process, ("CUDA_PATH", "CUDA_HOME"), name) if found is None else ""
    if not late:
        return found
    del process.missing[gaps:]
    return _opened(process, facts, late, _FROM_CUDA_PATH)


def _opened(process: Process, facts: Facts, path: str, rule: Found) -> Loaded | None:
    """A file by its path, after what it needs of its kind."""
    elf = process.machine.elf(path)
    for need in elf.value.needed if isinstance(elf, Known) else ():
        if _wheel(facts, need):
            _by_pathfinder(process, facts, need)
    return process.dlopen(path, None, rule)


def _wheel(facts: Facts, name: str) -> str:
    """The file of NVIDIA's wheels that it takes: of CUDA 13 and newer first, then by release."""
    found = []
    for one in value_or(facts.libraries.copies, ()):
        of_wheel = one.where == "wheel" and "/nvidia/" in one.path
        if of_wheel and one.name.partition(".so")[0] == name.partition(".so")[0]:
            number = re.search(r"\.so\.(\d+)", one.name)
            found.append(("/nvidia/cu1" in one.path, int(number[1]) if number else 0, one.path))
    return max(found, key=lambda row: row[:2])[2] if found else ""


def _below(process: Process, variables: tuple[str, ...], name: str) -> str:
    """The file of that name below the folder that a variable names."""
    environ = value_or(process.machine.environ(), {})
    roots = [root for one in variables if (root := environ.get(one, ""))]
    paths = [f"{root}/{place}/{name}" for root in roots for place in ("lib64", "lib")]
    return next((path for path in paths if isinstance(process.machine.stat(path), Known)), "")


_WAYS: dict[str, Callable[[Process, Facts, Framework], None]] = {
    "torch": _torch,
    "jax": _jax,
    "cupy": _cupy,
    "numba": _numba,
    "tensorrt": _tensorrt,
}

# ---------------------------------------------------------------- what follows


def _opened_later(process: Process, cupy: bool) -> None:
    """What cuDNN and NVRTC open by themselves; wheels that bring the cuDNN shim rename it:
    libcudnn-74a4c495.so.9.1.0.
    """
    machine = process.machine
    for major, parts in CUDNN_PARTS.items():
        bundled = re.compile(rf"libcudnn-\w+\.so\.{major}\b")
        renamed = (one for one in process.loaded if bundled.match(one.name))
        shim = process.get(f"libcudnn.so.{major}") or next(renamed, None)
        for part in parts.split() if shim else ():
            process.dlopen(f"libcudnn_{part}.so.{major}", shim)
    # CuPy compiles every kernel with NVRTC: its builtins lie beside it, or bear its release
    nvrtcs = [one for one in process.loaded if re.match(r"libnvrtc\.so\.\d", one.name)]
    for nvrtc in nvrtcs if cupy else ():
        real = value_or(machine.real(nvrtc.path), nvrtc.path)
        told = value_or(machine.cuda_version(nvrtc.path), "") or real.rpartition(".so.")[2]
        if version := re.match(r"\d+\.\d+", told):
            name = f"libnvrtc-builtins.so.{version[0]}"
            beside = f"{nvrtc.path.rpartition('/')[0]}/{name}"
            process.dlopen(beside if isinstance(machine.stat(beside), Known) else name, nvrtc)
