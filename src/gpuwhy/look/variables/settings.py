"""Values that only the machine's or the environment's own files judge: names of logs that the
installed PyTorch has, Keras' backends, files that a variable names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Absent, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.variables import Fault, Variable
from gpuwhy.facts.version import at_least
from gpuwhy.look.files import exists
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine

_ON_KERAS = ("tensorflow", "jax", "torch")
_DEFAULT = "tensorflow"  # what Keras imports where nothing says otherwise
_KERAS_SETTINGS = {
    "floatx": ("float16", "float32", "float64"),
    "image_data_format": ("channels_last", "channels_first"),
}
"""What Keras asserts of its file when it is imported."""
_CODE = ("python", "cpp", "upb")


class Asked(NamedTuple):
    """A value, and what it is judged by."""

    machine: Machine
    facts: Facts
    options: Options
    name: str
    value: str

    def framework(self, name: str) -> Framework | None:
        """An installed framework."""
        found = value_or(self.facts.frameworks.installed, ())
        return next((one for one in found if one.name == name), None)


def seen_here(
    machine: Machine, facts: Facts, options: Options, name: str, value: str
) -> tuple[Fault, ...]:
    """What is wrong with a value by the files of this machine."""
    asked = Asked(machine, facts, options, name, value)
    judge = _JUDGES.get(name)
    return tuple(judge(asked)) if judge and value else ()


# ------------------------------------------------------------ files that are named


def _no_driver_there(one: Asked) -> Iterator[Fault]:
    """Numba takes this file for the driver and no other; 0 means none at all."""
    why = _not_loadable(one, one.value) if "/" in one.value else "is not the name of a file"
    if why:
        text = f"{one.value} {why}, and Numba looks for the driver nowhere else"
        source = "numba/cuda/cudadrv/driver.py, locate_driver_and_loader"
        yield Fault("rejected", ("numba",), text, source=source)


def _no_libdevice_there(one: Asked) -> Iterator[Fault]:
    """Triton takes NVIDIA's library of functions from this file and no other."""
    if isinstance(one.machine.stat(one.value), Absent):
        text = (
            f"{one.value} does not exist, and Triton takes NVIDIA's functions (exp, sin …) for "
            "its kernels from nowhere else"
        )
        source = "triton/backends/nvidia/compiler.py"
        yield Fault("rejected", ("triton",), text, source=source)


def _not_preloaded(one: Asked) -> Iterator[Fault]:
    """Files that the loader shall load first and cannot; names without a folder are searched."""
    named = [file for file in re.split(r"[\s:]+", one.value) if file]
    wrong = {file: why for file in named if "/" in file and (why := _not_loadable(one, file))}
    if wrong:
        said = "; ".join(f"{file} {why}" for file, why in wrong.items())
        text = f"{said}: the loader complains at every start of a program, and goes on without it"
        left = ":".join(file for file in named if file not in wrong)
        yield Fault("ignored", (), text, instead=left, source="ld.so(8)")


def _not_loadable(one: Asked, file: str) -> str:
    """Why a file cannot be loaded into a program; "" where it can, or that was not seen."""
    if isinstance(one.machine.stat(file), Absent):
        return "does not exist"
    elf, here = one.machine.elf(file), value_or(one.facts.system.machine, "")
    if isinstance(elf, Unknown) and elf.kind in ("foreign", "cut"):
        return "is no complete library"
    if isinstance(elf, Known) and here and elf.value.machine != here:
        return f"is a library for {elf.value.machine}, and this machine is {here}"
    return ""


# ------------------------------------------------------------ what packages take


def _no_such_log(one: Asked) -> Iterator[Fault]:
    """Names of logs that the installed PyTorch does not have: its import ends at them."""
    torch = one.framework("torch")
    file = f"{torch.path}/_logging/_registrations.py" if torch else ""
    lines = value_or(one.machine.lines(file, '"'), ()) if file else ()
    match = r'\s*(?:register_(?:log|artifact)\(\s*)?"([\w.]+)"'
    names = {said[1] for line in lines if (said := re.match(match, line))}
    asked = [part.strip().lstrip("+-") for part in one.value.split(",")]
    known = names | {"all", "help"}
    wrong = [n for n in asked if n and n not in known and "." not in n and not _module(one, n)]
    if names and wrong:
        from difflib import get_close_matches

        near = next(iter(get_close_matches(wrong[0], names, 1, 0.7)), "")
        text = f"PyTorch has no log called {wrong[0]!r}, and its import ends there"
        instead = one.value.replace(wrong[0], near) if near else ""
        yield Fault("rejected", ("torch",), text, instead=instead)


def _module(one: Asked, name: str) -> bool:
    """Whether something of that name can be imported, as far as that was seen."""
    match = rf"{re.escape(name)}(\.py)?$"
    sites = value_or(one.facts.environment.sites, ())
    return any(value_or(one.machine.list(site.path, match), ("",)) for site in sites)


def _no_legacy_keras(one: Asked) -> Iterator[Fault]:
    """TensorFlow from 2.15 on then takes tf-keras for Keras, installed or not."""
    tensorflow = one.framework("tensorflow")
    wanted = one.value.strip().lower() in ("1", "true") and tensorflow
    there = {"tf-keras", "tf-keras-nightly"} & one.facts.environment.by_name.keys()
    if wanted and tensorflow and at_least(tensorflow.version, "2.15") and not there:
        text = (
            "TensorFlow then takes the package tf-keras for tf.keras, and it is not installed: "
            "tf.keras ends with an error"
        )
        source = "tensorflow/python/util/lazy_loader.py, KerasLazyLoader"
        yield Fault("rejected", ("tensorflow",), text, source=source)


def _no_such_build(one: Asked) -> Iterator[Fault]:
    """BNB_CUDA_VERSION names a library that the installed bitsandbytes does not have."""
    from gpuwhy.look.frameworks.builds import dotted
    from gpuwhy.look.installs.contradictions import bitsandbytes_builds, span

    package = one.facts.environment.by_name.get("bitsandbytes")
    builds = bitsandbytes_builds(one.machine, package) if package else []
    fits = one.value.isdigit() and dotted(one.value) in builds
    if package and builds and not fits:
        said = f"bitsandbytes {package.version} has libraries for CUDA {span(builds)}"
        text = f"{said}, and none of that name: no GPU work"
        source = "bitsandbytes/cextension.py, get_cuda_bnb_library_path"
        yield Fault("off", ("bitsandbytes",), text, source=source)


def _protobuf_code(one: Asked) -> Iterator[Fault]:
    """A kind of protobuf's code that the installed release does not bring."""
    package = one.facts.environment.by_name.get("protobuf")
    users = tuple(name for name in ("tensorflow", "vllm") if one.framework(name))
    if package is None or not users:
        return
    folder = f"{package.site}/google/protobuf"
    file = f"{folder}/internal/api_implementation.py"
    known = [kind for kind in _CODE if value_or(one.machine.lines(file, f"'{kind}'"), ())]
    if known and one.value not in known:
        text = f"protobuf {package.version} stops at this value, and so does what imports it"
        yield Fault("rejected", users, text, tuple(known), source=file)
    elif one.value == "cpp":
        listed = one.machine.list(f"{folder}/pyext", r"_message\..*so$")
        if not value_or(listed, ("",)):
            text = f"protobuf {package.version} has no C++ code, so that what imports it fails"
            yield Fault("rejected", users, text, source=f"{folder}/pyext")


# ------------------------------------------------------------ Keras


class Keras(NamedTuple):
    """The installed Keras, and the backends that it has code for."""

    package: Package
    backends: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Its package folder."""
        return f"{self.package.site}/keras"


def _keras(machine: Machine, facts: Facts) -> Keras | None:
    """None where it is not installed, or takes TensorFlow alone, as 2.4 to 2.15 do."""
    package = facts.environment.by_name.get("keras")
    if package is None:
        return None
    folder = f"{package.site}/keras"
    listed = value_or(machine.list(f"{folder}/src/backend", r"(?!common|_|test)\w+$"), ())
    names = [
        e.name for e in listed if exists(machine, f"{folder}/src/backend/{e.name}/__init__.py")
    ]
    match = r"(\w+)_backend\.py$"
    old = (re.match(match, e.name) for e in value_or(machine.list(f"{folder}/backend", match), ()))
    names += [one[1] for one in old if one]
    return Keras(package, tuple(names)) if len(names) > 1 else None


def _keras_backend(one: Asked) -> Iterator[Fault]:
    keras = _keras(one.machine, one.facts)
    if keras:
        yield from _backend(one, keras, one.value)


def _backend(one: Asked, keras: Keras, value: str) -> Iterator[Fault]:
    """A backend that the installed Keras does not have, or whose package is missing."""
    others = [name for name in keras.backends if name in _ON_KERAS and _module(one, name)]
    needed = bool(others) and _DEFAULT not in others
    instead = others[0] if needed else ""
    users = tuple(name for name in _ON_KERAS if one.framework(name))[:1]
    said = f"Keras {keras.package.version}"
    if value not in keras.backends:
        text = f"{said} has no such backend, so that its import fails"
        yield Fault("rejected", users, text, keras.backends, instead, keras.folder, needed)
    elif not _module(one, value):
        text = f"{said} then imports {value}, which is not installed, so that its import fails"
        yield Fault("rejected", users, text, (), instead, keras.folder, needed)


def keras_file(machine: Machine, facts: Facts) -> Iterator[Variable]:
    """What keras.json states and the installed Keras does not take."""
    keras = _keras(machine, facts)
    if keras is None:
        return
    environ = value_or(machine.environ(), {})
    home = environ.get("KERAS_HOME", "").rstrip("/") or f"{machine.home}/.keras"
    file = f"{home}/keras.json"
    said = _object(value_or(machine.read(file), ""))
    one = Asked(machine, facts, Options(), "KERAS_BACKEND", str(said.get("backend", "")))
    users = tuple(name for name in _ON_KERAS if one.framework(name))[:1]
    for name, allowed in _KERAS_SETTINGS.items():
        if name in said and said[name] not in allowed:
            text = f"Keras {keras.package.version} takes no such value, so that its import fails"
            fault = Fault("rejected", users, text, allowed, source=file)
            yield _setting(name, said[name], file, fault)
    if not environ.get("KERAS_BACKEND") and one.value not in ("", _DEFAULT):
        for fault in _backend(one, keras, one.value):
            yield _setting("backend", one.value, file, fault)


def _setting(name: str, value: object, file: str, fault: Fault) -> Variable:
    shown = str(value)[:80]
    return Variable(f"keras.json:{name}", shown, "Keras", faults=(fault,), set_in=file)


def _object(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


_JUDGES: Mapping[str, Callable[[Asked], Iterator[Fault]]] = {
    "LD_PRELOAD": _not_preloaded,
    "LD_AUDIT": _not_preloaded,
    "TORCH_LOGS": _no_such_log,
    "TF_USE_LEGACY_KERAS": _no_legacy_keras,
    "KERAS_BACKEND": _keras_backend,
    "NUMBA_CUDA_DRIVER": _no_driver_there,
    "TRITON_LIBDEVICE_PATH": _no_libdevice_there,
    "BNB_CUDA_VERSION": _no_such_build,
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": _protobuf_code,
}
