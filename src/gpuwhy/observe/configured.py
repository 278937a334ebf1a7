"""Configured: settings whose value the installed files themselves take or refuse: Keras' backend, protobuf's code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Fault, Variable
from gpuwhy.observe.scene import Scene

_BACKENDS = r"(?!common|_|test)\w+$"
_OLD_BACKEND = re.compile(r"(\w+)_backend\.py$")
_SETTINGS = {"floatx": ("float16", "float32", "float64"), "image_data_format": ("channels_last", "channels_first")}
"""What Keras asserts of its file when it is imported."""
_CODE = ("python", "cpp", "upb")
_IMPORTS_PROTOBUF = ("tensorflow", "vllm")
_ON_KERAS = ("tensorflow", "jax", "torch")
_COMPILING = ("torch", "triton")
_DEFAULT = "tensorflow"  # what Keras imports where nothing says otherwise
_PRIVATE = "backend"
NUMBA_FILE = ".numba_config.yaml"
_YAML = re.compile(r"(?P<key>\w+)\s*:\s*['\"]?(?P<value>[^\s'\"#]+)['\"]?\s*(?:#|$)")
_YES_NO = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}


class Keras(NamedTuple):
    """The installed Keras: its release, where it lies, and the backends that it has code for."""

    version: str
    site: str
    backends: tuple[str, ...]


def keras_backend(scene: Scene, value: str) -> tuple[Fault, ...]:
    """A backend that the installed Keras does not have, or whose package is not there."""
    keras = _keras(scene)
    return tuple(_backend(scene, keras, value)) if keras and value else ()


def protobuf_code(scene: Scene, value: str) -> tuple[Fault, ...]:
    """A kind of protobuf's code that the installed release does not bring; `python` is always there, and slow."""
    found = _of(scene, "protobuf")
    users = tuple(one.name for one in value_or(scene.facts.target.frameworks, ()) if one.name in _IMPORTS_PROTOBUF)
    if found is None or not users or not value:
        return ()
    version, site = found
    file = f"{site}/google/protobuf/internal/api_implementation.py"
    known = [one for one in _CODE if value_or(scene.host.lines(file, f"'{one}'"), ())]
    if known and value not in known:
        text = f"protobuf {version} stops at a kind of code that it does not know, and so does what imports it"
        return (Fault("rejected", users, text, tuple(known), source=file),)
    if value != "cpp" or value_or(scene.host.list(f"{site}/google/protobuf/pyext", r"_message\..*so$"), ("",)):
        return ()
    text = f"protobuf {version} was installed without its C++ code, so that what imports it fails"
    return (Fault("rejected", users, text, source=f"{site}/google/protobuf/pyext"),)


def compiler_gone(scene: Scene, value: str) -> tuple[Fault, ...]:
    """A C or C++ compiler that is not there, and that PyTorch and Triton take when they compile."""
    program = next(iter(value.split()), "")
    users = tuple(one.name for one in value_or(scene.facts.target.frameworks, ()) if one.name in _COMPILING)
    folders = value_or(scene.host.environ(), {}).get("PATH", "").split(":")
    places = [program] if "/" in program else [f"{folder}/{program}" for folder in folders if folder.startswith("/")]
    if not users or not places or not all(isinstance(scene.host.stat(path), Absent) for path in places):
        return ()
    where = "" if "/" in program else " on PATH"
    text = f"{program} is not there{where}: what compiles for itself (torch.compile, extensions, Triton) fails by it"
    return (Fault("rejected", users[:1], text, source="torch/_inductor/cpp_builder.py, triton/runtime/build.py"),)


def keras_file(scene: Scene, environ: Mapping[str, str]) -> Iterator[Variable]:
    """What keras.json says and the installed Keras does not take; the variable has its way over the backend there."""
    keras = _keras(scene)
    if keras is None:
        return
    home = environ.get("KERAS_HOME", "").rstrip("/") or "~/.keras"
    file = f"{home}/keras.json"
    said = _json(value_or(scene.host.read(file), ""))
    for name, allowed in _SETTINGS.items():
        if name in said and said[name] not in allowed:
            text = f"Keras {keras.version} asserts that it is another, so that its import fails"
            yield _setting(name, said[name], file, Fault("rejected", _users(scene), text, allowed, source=file))
    backend = str(said.get(_PRIVATE, ""))
    if environ.get("KERAS_BACKEND") or backend in ("", _DEFAULT):  # what Keras writes there itself
        return
    for fault in _backend(scene, keras, backend):
        yield _setting(_PRIVATE, backend, file, fault)


def numba_file(scene: Scene, environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """What Numba's file in the working folder sets, as the variables that it stands for; those have their way."""
    file = f"{scene.options.folder.rstrip('/')}/{NUMBA_FILE}"
    if not scene.options.folder or _of(scene, "pyyaml") is None or _of(scene, "numba") is None:
        return
    for line in value_or(scene.host.lines(file, ":"), ()):
        said = _YAML.match(line)
        name = f"NUMBA_{said['key'].upper()}" if said else ""
        if said and name not in environ:
            yield name, _YES_NO.get(said["value"].lower(), said["value"]), file


def _setting(name: str, value: object, file: str, fault: Fault) -> Variable:
    return Variable(f"keras.json:{name}", str(value)[:80], "Keras", (fault.text,), (), (fault,), set_in=file)


def _backend(scene: Scene, keras: Keras, value: str) -> Iterator[Fault]:
    others = [one for one in keras.backends if one in _ON_KERAS and _importable(scene, one)]
    needed = bool(others) and _DEFAULT not in others
    instead, source = others[0] if needed else "", f"{keras.site}/keras"
    if value not in keras.backends:
        text = f"Keras {keras.version} has no such backend, so that its import fails"
        yield Fault("rejected", _users(scene), text, keras.backends, instead, source, needed)
    elif not _importable(scene, value):
        text = f"Keras {keras.version} then imports {value}, which is not installed, so that its import fails"
        yield Fault("rejected", _users(scene), text, (), instead, source, needed)


def _importable(scene: Scene, name: str) -> bool:
    sites = value_or(scene.facts.target.site_packages, ())
    return any(value_or(scene.host.list(site, rf"{re.escape(name)}(\.py)?$"), ("",)) for site in sites)


def _users(scene: Scene) -> tuple[str, ...]:
    """The framework below Keras of which it is told: the first one that is installed."""
    installed = [one.name for one in value_or(scene.facts.target.frameworks, ())]
    return tuple(one for one in _ON_KERAS if one in installed)[:1]


def _keras(scene: Scene) -> Keras | None:
    """None where Keras is not installed, or takes no backend but TensorFlow, as 2.4 to 2.15 do."""
    found = _of(scene, "keras")
    if found is None:
        return None
    version, site = found
    listed = value_or(scene.host.list(f"{site}/keras/src/backend", _BACKENDS), ())
    inits = {one.name: f"{site}/keras/src/backend/{one.name}/__init__.py" for one in listed}
    names = [name for name, file in inits.items() if isinstance(scene.host.stat(file), Known)]
    old = value_or(scene.host.list(f"{site}/keras/backend", r"\w+_backend\.py$"), ())
    names += [match[1] for one in old if (match := _OLD_BACKEND.match(one.name))]
    return Keras(version, site, tuple(names)) if len(names) > 1 else None


def _of(scene: Scene, name: str) -> tuple[str, str] | None:
    """The release of a distribution, and the folder that it is installed in."""
    for one in value_or(scene.facts.target.distributions, ()):
        if one.name == name:
            return one.version, one.location.rpartition("/")[0]
    return None


def _json(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
