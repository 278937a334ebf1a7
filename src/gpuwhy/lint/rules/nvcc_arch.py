"""A GPU architecture that the nvcc of the image does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import archs, containers
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Variable
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import numbers

RULE = Rule("nvcc-arch", "error", "a GPU architecture that the nvcc of the image does not know")

_NAMES = ("TORCH_CUDA_ARCH_LIST", "CMAKE_CUDA_ARCHITECTURES", "CUDAARCHS", "CUDA_ARCHITECTURES", "CUDA_ARCHS")


def check(scope: Scope) -> Iterator[Mistake]:
    """Lists of architectures in variables, arguments and commands, against the CUDA of the image."""
    cuda = containers.toolkit_of(scope.base)
    if not cuda or any(re.search(r"cuda-toolkit|cuda-nvcc|cuda_\d+\.\d+", c.text) for c in scope.environment.commands):
        return
    for variable in _lists(scope):
        for code in re.findall(r"[\d.]+", re.sub(r"[af]\b|\+PTX|-real|-virtual", "", variable.value, flags=re.I)):
            row = archs.of(code if "." in code else f"{code[:-1]}.{code[-1]}" if len(code) > 1 else "")
            why = _why(row, cuda) if row else ""
            if row and why:
                text = f"{variable.name} names {row.capability} ({row.name}), and the image has CUDA {cuda}: nvcc {why}"
                fix = f"leave {code} out, or take an image whose CUDA knows it"
                yield RULE.mistake(variable.place, text, row.source, fix)
                break


def _why(row: archs.Arch, cuda: str) -> str:
    """Why a toolkit refuses an architecture; by what is known of its CUDA: the major alone, or the minor too."""
    own = numbers(cuda)[:2]
    first, last = numbers(row.first_toolkit)[:2], numbers(row.last_toolkit)[:2]
    if last and own[: len(own)] > last[: len(own)]:
        return f"dropped it after {row.last_toolkit}"
    return f"knows it from {row.first_toolkit} on" if first and len(own) == 2 and own < first else ""


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
