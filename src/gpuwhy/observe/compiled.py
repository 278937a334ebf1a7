"""Compiled: for which NumPy an extension was compiled, and for which protobuf code was generated, by the files."""

from __future__ import annotations

import re

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Distribution
from gpuwhy.observe.scene import Scene

_OLD_NUMPY = ("numpy.core._multiarray_umath", "numpy.core.multiarray")
_NEW_NUMPY = "numpy._core"
_LIBRARY = re.compile(r"^([^,/.][^,]*\.(?:so|pyd)),[^,]*,(\d+)$")
_MOST = 8  # libraries looked at per distribution, the smallest first
_SMALLEST, _LARGEST = 40 << 10, 24 << 20  # bytes; below are helpers that never see an array
_GENCODE = re.compile(r"# Protobuf Python Version: (\d+)\.(\d+)\.(\d+)")


def built_for_numpy(scene: Scene, one: Distribution) -> str:
    """The library of a distribution that knows NumPy 1's modules only; "" where none is found.

    Headers of NumPy 2 (and pybind11 since 2.12) look for `numpy._core` first; older ones name `numpy.core` alone.
    """
    asks = scene.host.lines(f"{one.location}/METADATA", "Requires-Dist: numpy")
    if not value_or(asks, ()) and one.name not in ("torch", "onnxruntime", "onnxruntime-gpu"):
        return ""
    site = one.location.rpartition("/")[0]
    old = ""
    for name in _libraries(scene, one):
        held = value_or(scene.host.holds(f"{site}/{name}", *_OLD_NUMPY, _NEW_NUMPY), ())
        if _NEW_NUMPY in held:
            return ""
        if held and not old:
            old = f"{site}/{name}"
    return old


def _libraries(scene: Scene, one: Distribution) -> list[str]:
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", ".so,", ".pyd,"), ())
    found = [match for line in lines if (match := _LIBRARY.match(line)) and ".." not in match[1]]
    if one.name == "torch":
        return [m[1] for m in found if m[1].endswith("libtorch_python.so")]
    sizes = sorted((int(m[2]), m[1]) for m in found if _SMALLEST <= int(m[2]) <= _LARGEST and ".abi3." not in m[1])
    return [name for _, name in sizes[:_MOST]]


def generated_for(scene: Scene, one: Distribution) -> tuple[str, str] | None:
    """The range of protobuf runtimes that a distribution's generated code loads under, and the file; None unknown."""
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", "_pb2.py,"), ())
    names = [line.split(",", 1)[0] for line in lines if not line.startswith(("/", ".."))]
    site = one.location.rpartition("/")[0]
    for name in names[:2]:
        path = f"{site}/{name}"
        said = scene.host.lines(path, "# Protobuf Python Version: ", "ValidateProtobufRuntime", "FieldDescriptor(")
        if isinstance(said, Known):
            return _range(said.value, path)
    return None


def _range(lines: tuple[str, ...], path: str) -> tuple[str, str] | None:
    """Protobuf's rules: code since 5.26 is checked and may be one major older; code before 3.19 fails from 4 on."""
    stamp = next((m for line in lines if (m := _GENCODE.match(line))), None)
    if stamp and any("ValidateProtobufRuntimeVersion" in line for line in lines):
        return f">={stamp[1]}.{stamp[2]}.{stamp[3]},<{int(stamp[1]) + 2}", path
    if any("_descriptor.FieldDescriptor(" in line for line in lines):
        return "<3.21", path
    return None
