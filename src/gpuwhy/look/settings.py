"""Values that only the machine's or the environment's own files judge: names of logs that the
installed PyTorch has, Keras' backends, files that are loaded first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from gpuwhy.facts.fact import Absent, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.variables import Fault
from gpuwhy.facts.version import at_least
from gpuwhy.look.files import exists, lines, names
from gpuwhy.machine.machine import Machine

_ON_KERAS = ("tensorflow", "jax", "torch")


class Asked(NamedTuple):
    """A value, and what it is judged by."""

    machine: Machine
    facts: Facts
    value: str

    def framework(self, name: str) -> Framework | None:
        """An installed framework."""
        found = value_or(self.facts.frameworks.installed, ())
        return next((one for one in found if one.name == name), None)

    def may_be_there(self, module: str) -> bool:
        """Whether a module can be imported, as far as that was seen."""
        match = rf"{re.escape(module)}(\.py)?$"
        sites = value_or(self.facts.environment.sites, ())
        return any(value_or(self.machine.list(site.path, match), ("",)) for site in sites)


def seen_here(machine: Machine, facts: Facts, name: str, value: str) -> tuple[Fault, ...]:
    """What is wrong with a value by the files of this machine."""
    judge = _JUDGES.get(name)
    return tuple(judge(Asked(machine, facts, value))) if judge and value else ()


def _not_preloaded(one: Asked) -> Iterator[Fault]:
    """Files that the loader shall load first and cannot; names without a folder are searched."""
    named = [file for file in re.split(r"[\s:]+", one.value) if "/" in file]
    wrong = [f"{file} {why}" for file in named if (why := _not_loadable(one, file))]
    if wrong:
        said = "the loader complains at every start of a program, and goes on without it"
        yield Fault("ignored", (), f"{'; '.join(wrong)}: {said}", source="ld.so(8)")


def _not_numbas_driver(one: Asked) -> Iterator[Fault]:
    wrong = _not_loadable(one, one.value) if "/" in one.value else "is not the name of a file"
    if wrong:
        text = f"{one.value} {wrong}, and Numba looks for the driver nowhere else"
        yield Fault("rejected", ("numba",), text)


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


def _no_such_log(one: Asked) -> Iterator[Fault]:
    """Names of logs that the installed PyTorch does not have: its import ends at them."""
    torch = one.framework("torch")
    file = f"{torch.path}/_logging/_registrations.py" if torch else ""
    match = r'\s*(?:register_(?:log|artifact)\(\s*)?"([\w.]+)"'
    listed = lines(one.machine, file, '"') if file else ()
    known = {said[1] for line in listed if (said := re.match(match, line))}
    asked = [part.strip().lstrip("+-") for part in one.value.split(",")]
    plain = (name for name in asked if name and "." not in name and name not in ("all", "help"))
    wrong = [name for name in plain if name not in known and not one.may_be_there(name)]
    if known and wrong:
        text = f"PyTorch has no log called {wrong[0]!r}, and its import ends there"
        yield Fault("rejected", ("torch",), text)


def _no_legacy_keras(one: Asked) -> Iterator[Fault]:
    """TensorFlow from 2.15 on then takes tf-keras for Keras, installed or not."""
    tensorflow = one.framework("tensorflow")
    wanted = one.value.strip().lower() in ("1", "true")
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
    from gpuwhy.look.frameworks.builds import bitsandbytes_builds, dotted

    package = one.facts.environment.by_name.get("bitsandbytes")
    builds = bitsandbytes_builds(one.machine, package.site) if package else []
    if package and builds and not (one.value.isdigit() and dotted(one.value) in builds):
        said = f"bitsandbytes {package.version} has libraries for CUDA {', '.join(builds)}"
        text = f"{said}, and none of that name: no GPU work"
        source = "bitsandbytes/cextension.py, get_cuda_bnb_library_path"
        yield Fault("off", ("bitsandbytes",), text, source=source)


def _no_such_backend(one: Asked) -> Iterator[Fault]:
    """A backend that the installed Keras has no code for, or whose package is missing.

    Keras 2.4 to 2.15 takes TensorFlow alone.
    """
    keras = one.facts.environment.by_name.get("keras")
    folder = f"{keras.site}/keras/src/backend" if keras else ""
    listed = names(one.machine, folder, r"(?!common|_|test)\w+$") if keras else ()
    backends = [name for name in listed if exists(one.machine, f"{folder}/{name}/__init__.py")]
    if keras is None or len(backends) < 2:
        return
    users = tuple(name for name in _ON_KERAS if one.framework(name))[:1]
    said, allowed = f"Keras {keras.version} has no such backend", tuple(backends)
    if one.value in backends:
        said, allowed = f"Keras {keras.version} imports {one.value}, which is not installed", ()
    if one.value not in backends or not one.may_be_there(one.value):
        text = f"{said}, so that its import fails"
        yield Fault("rejected", users, text, allowed, source=folder)


_JUDGES: Mapping[str, Callable[[Asked], Iterator[Fault]]] = {
    **dict.fromkeys(("LD_PRELOAD", "LD_AUDIT"), _not_preloaded),
    "NUMBA_CUDA_DRIVER": _not_numbas_driver,
    "TORCH_LOGS": _no_such_log,
    "TF_USE_LEGACY_KERAS": _no_legacy_keras,
    "KERAS_BACKEND": _no_such_backend,
    "BNB_CUDA_VERSION": _no_such_build,
}
