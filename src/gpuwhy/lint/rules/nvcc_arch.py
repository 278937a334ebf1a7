"""A GPU architecture that the nvcc of the image does not know."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge import archs, containers
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Call, Command, Variable
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import numbers

RULE = Rule("nvcc-arch", "error", "a GPU architecture that the nvcc of the image does not know")

_NAMES = ("TORCH_CUDA_ARCH_LIST", "CMAKE_CUDA_ARCHITECTURES", "CUDAARCHS", "CUDA_ARCHITECTURES", "CUDA_ARCHS")
_LISTS = (*_NAMES, "CUDA_ARCH_LIST", "CUDA_ARCH_BIN", "CUDA_ARCH", "GPU_ARCHS", "GPU_ARCH")
_LONG_GONE = "12.0"
"""The CUDA of January 2023: what it dropped, nobody's nvcc of today takes."""


class Toolkit(NamedTuple):
    """The CUDA that compiles, as far as a file tells it: a release, or the oldest that it takes."""

    release: str
    least: bool
    said: str  # the image has CUDA 12.4


def check(scope: Scope) -> Iterator[Mistake]:
    """Lists of architectures in variables, arguments and commands, against the CUDA of the image."""
    yield from _of_project(scope)
    cuda = containers.toolkit_of(scope.base)
    if not cuda or any(re.search(r"cuda-toolkit|cuda-nvcc|cuda_\d+\.\d+", c.text) for c in scope.environment.commands):
        return
    for variable in _lists(scope):
        yield from _refused(variable, Toolkit(cuda, least=False, said=f"the image has CUDA {cuda}"))


def _refused(variable: Variable, toolkit: Toolkit) -> Iterator[Mistake]:
    """The first architecture of a list that a toolkit refuses."""
    for code in re.findall(r"[\d.]+", re.sub(r"[af]\b|\+PTX|-real|-virtual", "", variable.value, flags=re.I)):
        row = archs.of(code if "." in code else f"{code[:-1]}.{code[-1]}" if len(code) > 1 else "")
        why = _why(row, toolkit) if row else ""
        if row and why:
            text = f"{variable.name} names {row.capability} ({row.name}), and {toolkit.said}: nvcc {why}"
            fix = f"leave {code} out, or take a CUDA that knows it"
            yield RULE.mistake(variable.place, text, row.source, fix, None if not toolkit.least else "warning")
            return


def _why(row: archs.Arch, toolkit: Toolkit) -> str:
    """Why a toolkit refuses an architecture; by what is known of its CUDA: the major alone, or the minor too."""
    own = numbers(toolkit.release)[:2]
    first, last = numbers(row.first_toolkit)[:2], numbers(row.last_toolkit)[:2]
    if last and own[: len(own)] > last[: len(own)]:
        return f"dropped it after {row.last_toolkit}"
    early = first and len(own) == 2 and own < first and not toolkit.least
    return f"knows it from {row.first_toolkit} on" if early else ""


def _written(scope: Scope, command: Command) -> Iterator[Variable]:
    """-DCMAKE_CUDA_ARCHITECTURES=80;90 and -gencode arch=compute_86,code=sm_86 of a command."""
    for word, line in zip(command.words, command.lines, strict=False):
        told = re.match(r"-D(CMAKE_CUDA_ARCHITECTURES|TORCH_CUDA_ARCH_LIST|CUDA_ARCH\w*)(?::\w+)?=([\d;., ]+)$", word)
        codes = re.findall(r"(?:compute|sm)_(\d{2,3})", word) if "nvcc" in command.text else []
        if told:
            yield Variable(told[1], told[2], Place(scope.environment.path, line))
        elif codes:
            yield Variable("nvcc", ";".join(codes), Place(scope.environment.path, line))


def _lists(scope: Scope) -> Iterator[Variable]:
    stage = scope.environment
    for known in (stage.variables, stage.arguments):
        yield from (known[name] for name in _NAMES if name in known and "$" not in known[name].value)
    for command in stage.commands:
        yield from _written(scope, command)
        for name, value in command.assigned:
            if name in _NAMES and "$" not in value and command.lines:
                yield Variable(name, value, Place(stage.path, command.lines[0]))


def _of_project(scope: Scope) -> Iterator[Mistake]:
    """Architectures that a project's own build names, against the CUDA that it names, else that of today."""
    listed = list(_of_cmake(scope) if scope.kind == "cmake" else _of_flags(scope))
    toolkit = _named_toolkit(scope) if listed else None
    for variable in listed if toolkit else ():
        found = list(_refused(variable, toolkit)) if toolkit else []
        yield from found
        if found:  # once in a file: the lists repeat each other
            return


def _of_cmake(scope: Scope) -> Iterator[Variable]:
    """Lists and flags of a CMake file that no condition on a version guards."""
    for call in scope.environment.calls:
        value = _codes(call)
        if value and not any(re.search(r"VERSION|ARCH|_CC\b", one) for one in call.under):
            name = next((word for word in call.words if word in _LISTS), "a flag of nvcc's")
            yield Variable(name, value, Place(scope.environment.path, call.line))


def _codes(call: Call) -> str:
    """The architectures of one call, as a list."""
    named = next((n for n, word in enumerate(call.words) if word in _LISTS), None)
    if named is not None and call.name in ("set", "set_target_properties", "set_property", "list", "option"):
        values = [word for word in call.words[named + 1 :] if re.fullmatch(r"[\d.;, ]+(-real|-virtual)?", word)]
        return ";".join(values)
    return ";".join(re.findall(r"(?:sm|compute)_(\d{2,3})\b", " ".join(call.words)))


def _of_flags(scope: Scope) -> Iterator[Variable]:
    """-arch=sm_30 and arch=compute_30 of a Makefile or a setup.py."""
    text = scope.read(scope.environment.path) or "" if scope.kind in ("makefile", "setup") else ""
    if re.search(r"CUDA_?VERSION|cuda_version|version\.cuda|nvcc.*--version", text):
        return  # chosen by the release of CUDA
    for number, line in enumerate(text.split("\n"), 1):
        codes = re.findall(r"(?:sm|compute)_(\d{2})\b", line.partition("#")[0])
        if codes:
            yield Variable("a flag of nvcc's", ";".join(codes), Place(scope.environment.path, number))


_EXACT = re.compile(r"/cuda-(\d+\.\d+)")
_TOLD = re.compile(r"\bCUDA\W{0,3}(?:toolkit|version|v)?\W{0,3}(?:[5-9]|1[01])(?:\.\d|\b)", re.IGNORECASE)


def _named_toolkit(scope: Scope) -> Toolkit | None:
    """The CUDA that the file, or an image beside it, names; that of today where nothing tells another."""
    folder = posixpath.dirname(scope.environment.path)
    text = scope.read(scope.environment.path) or ""
    exact = _EXACT.search(re.sub(r"#[^\n]*", "", text))
    if exact:
        return Toolkit(exact[1], least=False, said=f"the file names CUDA {exact[1]}")
    image = _image_beside(scope, folder)
    if image:
        return Toolkit(image, least=False, said=f"the Dockerfile beside has CUDA {image}")
    asked = [call.words[1] for call in scope.environment.calls if _asks_for_cuda(call)]
    readme = "".join(
        scope.read(posixpath.join(folder, name)) or "" for name in ("README.md", "readme.md", "README.rst")
    )
    if _TOLD.search(readme) or _TOLD.search(" ".join(re.findall(r"#[^\n]*", text))):
        return None
    least = max([_LONG_GONE, *asked], key=numbers)
    if least in asked:
        return Toolkit(least, least=True, said=f"the file asks for CUDA {least} or newer")
    return Toolkit(least, least=True, said="no older CUDA than 12 is asked for")


def _asks_for_cuda(call: Call) -> bool:
    named = call.name == "find_package" and call.words[:1] in (("CUDA",), ("CUDAToolkit",))
    return named and len(call.words) > 1 and bool(re.fullmatch(r"\d+(\.\d+)*", call.words[1]))


def _image_beside(scope: Scope, folder: str) -> str:
    """The CUDA of an image beside the project that compiles it."""
    for name in ("Dockerfile", "docker/Dockerfile"):
        text = scope.read(posixpath.join(folder, name)) or ""
        images = re.findall(r"^FROM\s+(\S+)", text, re.MULTILINE)
        if images and re.search(r"\b(cmake|make|setup\.py)\b", text):
            found = [containers.toolkit_of(containers.read(image)) for image in images]
            return next(filter(None, found), "")
    return ""
