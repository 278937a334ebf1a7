"""environment: the variables that steer the GPU stack, whom each of them steers, and what is wrong in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches

from msgspec import structs

from gpuwhy.knowledge.settings import ANYTHING, faults, times
from gpuwhy.knowledge.variables import FOREIGN, NOT_READ_BY_TENSORFLOW, VariableRow, variable_row
from gpuwhy.knowledge.written import WRITTEN
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Fault, Started, Variable
from gpuwhy.model.version import at_least
from gpuwhy.observe.configured import compiler_gone, keras_backend, keras_file, numba_file, protobuf_code
from gpuwhy.observe.other_cuda import no_such_build
from gpuwhy.observe.presets import LOGIN, activated, at_login, presets
from gpuwhy.observe.scene import Look, Scene
from gpuwhy.observe.search_paths import command_path, library_path, literal, not_a_folder
from gpuwhy.observe.toolkits import ROOT_VARIABLES, nvcc_of, nvcc_on_path, toolkit_version
from gpuwhy.observe.visibility import VARIABLE, reads_nothing
from gpuwhy.observe.written import cannot_be_made

MAX_VALUE, MOST_VALUES = 4096, 12
_DATA_DIR = re.compile(r"--xla_gpu_cuda_data_dir=(\S*)")

_LOG_NAME = re.compile(r'\s*(?:register_(?:log|artifact)\(\s*)?"([\w.]+)"')
_LOGS = frozenset({"all", "help"})

Problems = tuple[str, ...]


def variables(scene: Scene) -> Fact[tuple[Variable, ...]]:
    """Every variable that may be read, PATH only where something in it matters."""
    environ = scene.host.environ()
    installed = installed_releases(scene)
    if not isinstance(environ, Known):
        wrong = tuple(_judged(scene, at_login(scene), installed))
        return Known(wrong, Source("file", LOGIN)) if wrong else environ
    out = [*_preset(scene, environ.value, installed), *keras_file(scene, environ.value)]
    kept = {one.name for one in out}
    by_activation = {one.name: one.file for one in value_or(scene.facts.target.activation, ()) if not one.leads_away}
    by_activation |= {
        one.name: one.script for one in value_or(started(scene), ()) if one.script and one.name == VARIABLE
    }
    for name, value in environ.value.items():
        if name.startswith(FOREIGN) or name in kept:
            continue
        found = _path(scene, value) if name == "PATH" else variable(scene, name, value, installed, CHECKS)
        if found is not None:
            out.append(_by_activation(found, by_activation[name]) if name in by_activation else found)
    return Known(tuple(out), environ.source)


def _preset(scene: Scene, environ: dict[str, str], installed: Mapping[str, str] | None) -> Iterator[Variable]:
    """What files set when Python starts, where its readers do not take it as it was meant."""
    by_python = presets(scene, environ)
    by_shell = [one for one in activated(scene, environ) if one.name not in by_python]
    yield from _judged(scene, (*by_python.values(), *by_shell, *numba_file(scene, environ)), installed)


def _judged(
    scene: Scene, rows: Iterable[tuple[str, str, str]], installed: Mapping[str, str] | None
) -> Iterator[Variable]:
    """Name, value and file: those that their readers do not take as they were meant."""
    for name, value, file in rows:
        found = variable(scene, name, value, installed, CHECKS)
        wrong = found.faults or hides_every_gpu(name, value)
        if wrong:
            yield structs.replace(found, faults=wrong, set_in=file)


def _by_activation(one: Variable, file: str) -> Variable:
    """A variable of an activated shell, with the file that sets it there."""
    return structs.replace(one, faults=one.faults or hides_every_gpu(one.name, one.value), set_in=file)


def hides_every_gpu(name: str, value: str) -> tuple[Fault, ...]:
    """What the shell's own value is judged by with the machine's devices; a file goes along to every machine."""
    if name != "CUDA_VISIBLE_DEVICES" or not reads_nothing(value):
        return ()
    return (Fault("off", (), "CUDA then shows no GPU to any program of this environment"),)


def installed_releases(scene: Scene) -> dict[str, str] | None:
    """The frameworks of the target with their releases; None where they are not known."""
    frameworks = scene.facts.target.frameworks
    return {f.name: f.version for f in frameworks.value} if isinstance(frameworks, Known) else None


def _path(scene: Scene, value: str) -> Variable | None:
    """PATH, cut down to its CUDA entries: the others are nobody's business."""
    entries, problems = command_path(scene.host, value)
    return Variable("PATH", _shortened(":".join(entries)), "the shell", problems) if entries or problems else None


def variable(
    scene: Scene,
    name: str,
    value: str,
    installed: Mapping[str, str] | None,
    checks: Mapping[str, Callable[[Scene, str], Problems]],
) -> Variable:
    """One variable with its reader, its notes, and what some checks find wrong in it."""
    row = variable_row(name)
    check = checks.get(name)
    private = row is not None and row.private
    found = () if private else faults(name, value, ANYTHING if installed is None else installed)
    found += SEEN_HERE[name](scene, value) if name in SEEN_HERE and not found else ()
    found += cannot_be_made(scene, name, value) if name in WRITTEN and not found else ()
    problems = (*(check(scene, value) if check else ()), *map(_told, found))
    shown = "set" if private else _shortened(value)
    return Variable(name, shown, _steers(row, installed), problems, _notes(name, value, row, installed), found)


def _told(fault: Fault) -> str:
    """A fault in one sentence, with the values that would be read where they are few."""
    allowed = f" (it takes {', '.join(fault.allowed)})" if 0 < len(fault.allowed) <= MOST_VALUES else ""
    return f"{fault.text}{allowed}"


def _shortened(value: str) -> str:
    half = MAX_VALUE // 2
    return value if len(value) <= MAX_VALUE else f"{value[:half]} … {value[-half:]}"


def _steers(row: VariableRow | None, installed: Mapping[str, str] | None) -> str:
    """Who reads it; "" when that is not installed. Where what is installed is unknown, its readers are named."""
    if row is None or (row.frameworks and installed is not None and set(installed).isdisjoint(row.frameworks)):
        return ""
    return row.reader


def _notes(name: str, value: str, row: VariableRow | None, installed: Mapping[str, str] | None) -> tuple[str, ...]:
    notes = [row.note] if row is not None and row.note and value not in ("", "0") else []
    if name in NOT_READ_BY_TENSORFLOW and "tensorflow" in (installed or ()):
        notes.append("TensorFlow on Linux does not read it")
    if name == "TF_CPP_MIN_LOG_LEVEL" and value.strip() in ("2", "3"):
        notes.append(f"{value.strip()} hides the warnings that name missing libraries")
    notes.append(times(name, installed) if installed else "")
    return tuple(filter(None, notes))


def _library_path(scene: Scene, value: str) -> Problems:
    return library_path(scene.host, value)


def _folder(scene: Scene, value: str) -> Problems:
    """A variable that must name one folder."""
    if not value:
        return ("it is set, but empty",)
    if literal(value):
        return (literal(value),)
    if ":" in value:
        return (f"{value} names several folders; it takes one",)
    return not_a_folder(scene.host, value)


def _toolkit(scene: Scene, value: str) -> Problems:
    """A variable that must name a toolkit with its compiler."""
    problems = _folder(scene, value)
    if problems:
        return problems
    root = value.rstrip("/")
    if isinstance(nvcc_of(scene.host, root), Absent):
        meant = f"; {root.removesuffix('/bin')} is meant" if root.endswith("/bin") else ""
        return (f"{root} has no bin/nvcc{meant}",)
    return _other_compiler(scene, root)


def _other_compiler(scene: Scene, root: str) -> Problems:
    """Whether PATH finds the compiler of another CUDA release."""
    on_path = nvcc_on_path(scene)
    real = value_or(scene.host.real(on_path.value), "") if isinstance(on_path, Known) else ""
    other = real.rpartition("/bin/")[0]
    if not other or other in ("/usr", value_or(scene.host.real(root), root)):
        return ()
    ours, theirs = toolkit_version(scene.host, root), toolkit_version(scene.host, other)
    if not (isinstance(ours, Known) and isinstance(theirs, Known)) or ours.value == theirs.value:
        return ()
    return (f"it names CUDA {ours.value}, while nvcc on PATH ({value_or(on_path, '')}) is CUDA {theirs.value}",)


def _no_driver_there(scene: Scene, value: str) -> tuple[Fault, ...]:
    """Numba takes this file for the driver and no other; 0 means none at all."""
    why = "is not the name of a file" if "/" not in value else _unfit_to_load(scene, value)
    if not value or not why:
        return ()
    text = f"{value} {why}, and Numba looks for the driver nowhere else"
    return (Fault("rejected", ("numba",), text, source="numba/cuda/cudadrv/driver.py, locate_driver_and_loader"),)


def _no_libdevice_there(scene: Scene, value: str) -> tuple[Fault, ...]:
    """Triton takes NVIDIA's library of functions from this file and no other."""
    if not value or not isinstance(scene.host.stat(value), Absent):
        return ()
    text = f"{value} does not exist, and Triton takes NVIDIA's functions (exp, sin …) for its kernels from nowhere else"
    return (Fault("rejected", ("triton",), text, source="triton/backends/nvidia/compiler.py"),)


def _not_preloaded(scene: Scene, value: str) -> tuple[Fault, ...]:
    """Files that the loader is told to load first and cannot; names without a folder are searched, so left alone."""
    named = [file for file in re.split(r"[\s:]+", value) if file]
    wrong = {file: why for file in named if "/" in file and (why := _unfit_to_load(scene, file))}
    if not wrong:
        return ()
    text = "; ".join(f"{file} {why}" for file, why in wrong.items())
    left = ":".join(file for file in named if file not in wrong)
    told = f"{text}: the loader complains at every start of a program, and goes on without it"
    return (Fault("ignored", (), told, instead=left, source="ld.so(8)"),)


def _unfit_to_load(scene: Scene, file: str) -> str:
    """Why a file cannot be loaded into a program of this machine; "" where it can, or that was not seen."""
    if isinstance(scene.host.stat(file), Absent):
        return "does not exist"
    elf, machine = scene.host.elf(file), value_or(scene.facts.surroundings.machine, "")
    if isinstance(elf, Unknown) and elf.kind in ("foreign", "cut"):
        return "is no complete library"
    if isinstance(elf, Known) and machine and elf.value.machine != machine:
        return f"is a library for {elf.value.machine}, and this machine is {machine}"
    return ""


def _no_such_log(scene: Scene, value: str) -> tuple[Fault, ...]:
    """Names of logs that the installed PyTorch has not, and that are no module either: its import ends at them."""
    torch = next((one for one in value_or(scene.facts.target.frameworks, ()) if one.name == "torch"), None)
    lines = value_or(scene.host.lines(f"{torch.path}/_logging/_registrations.py", '"'), ()) if torch else ()
    names = {match[1] for line in lines if (match := _LOG_NAME.match(line))}
    asked = [part.strip().lstrip("+-") for part in value.split(",")]
    wrong = [one for one in asked if one and one not in names | _LOGS and not _is_module(scene, one)]
    if not names or not wrong:
        return ()
    near = next(iter(get_close_matches(wrong[0], names, 1, 0.7)), "")
    text = f"PyTorch has no log called {wrong[0]!r}, and its import ends there"
    return (Fault("rejected", ("torch",), text, instead=value.replace(wrong[0], near) if near else ""),)


def _is_module(scene: Scene, name: str) -> bool:
    sites = value_or(scene.facts.target.site_packages, ())
    return "." in name or any(value_or(scene.host.list(site, rf"{re.escape(name)}(\.py)?$"), ()) for site in sites)


def _no_legacy_keras(scene: Scene, value: str) -> tuple[Fault, ...]:
    """TensorFlow then takes tf-keras for Keras, from 2.15 on, whether that is installed or not."""
    installed = {one.name: one.version for one in value_or(scene.facts.target.distributions, ())}
    release = (installed_releases(scene) or {}).get("tensorflow", "")
    wanted = value.strip().lower() in ("1", "true") and release and at_least(release, "2.15")
    if not wanted or {"tf-keras", "tf-keras-nightly"} & installed.keys():
        return ()
    text = (
        "TensorFlow then takes the package tf-keras for tf.keras, and it is not installed: tf.keras ends with an error"
    )
    return (Fault("rejected", ("tensorflow",), text, source="tensorflow/python/util/lazy_loader.py, KerasLazyLoader"),)


def _xla_flags(scene: Scene, value: str) -> Problems:
    match = _DATA_DIR.search(value)
    if not match:
        return ()
    folder = match[1].strip("'\"")
    wrong = (literal(folder),) if literal(folder) else not_a_folder(scene.host, folder)
    if wrong:
        return tuple(f"--xla_gpu_cuda_data_dir: {problem}" for problem in wrong)
    if isinstance(scene.host.stat(f"{folder}/nvvm/libdevice"), Absent):
        return (f"--xla_gpu_cuda_data_dir: {folder} has no nvvm/libdevice",)
    return ()


CHECKS: dict[str, Callable[[Scene, str], Problems]] = {
    "LD_LIBRARY_PATH": _library_path,
    **dict.fromkeys(ROOT_VARIABLES, _toolkit),
    **dict.fromkeys(("CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT"), _folder),
    "XLA_FLAGS": _xla_flags,
}
"""What can be wrong in a variable's value, besides being none of the known ones."""

SEEN_HERE: dict[str, Callable[[Scene, str], tuple[Fault, ...]]] = {
    "LD_PRELOAD": _not_preloaded,
    "LD_AUDIT": _not_preloaded,
    "TORCH_LOGS": _no_such_log,
    "TF_USE_LEGACY_KERAS": _no_legacy_keras,
    "KERAS_BACKEND": keras_backend,
    "NUMBA_CUDA_DRIVER": _no_driver_there,
    "TRITON_LIBDEVICE_PATH": _no_libdevice_there,
    "BNB_CUDA_VERSION": no_such_build,
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": protobuf_code,
    **dict.fromkeys(("CC", "CXX"), compiler_gone),
}
"""Faults that only the machine's or the environment's own files show."""


def started(scene: Scene) -> Fact[tuple[Started, ...]]:
    """What the entrypoint or the command of an image sets after its ENV; Absent on a machine that runs."""
    if not isinstance(scene.host.offline(), Known):
        return Absent(Source("call", "offline"))
    found = scene.host.started()
    if not isinstance(found, Known):
        return found
    return Known(
        tuple(Started(one.name, one.before, one.after, one.script, one.line, one.words) for one in found.value),
        found.source,
    )


LOOKS: tuple[Look, ...] = (Look("environment", "variables", variables), Look("environment", "started", started))
