"""A build or a toolkit for GPUs of before 2020 alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import published
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Command, Pin
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least, major_minor

RULE = Rule("old-gpus", "warning", "a build or a toolkit for GPUs of before 2020 alone")

_NOTES = source("CUDA release notes", "8.0 up to Pascal, 9 up to Volta, 10 up to Turing; Ampere since 11.0")
_NEWEST = {"7": ("Maxwell", "Pascal"), "8": ("Pascal", "Volta"), "9": ("Volta", "Turing")}
_BUILDS = (("1.7", "cu110"), ("1.8", "cu111"), ("1.10", "cu113"), ("1.12", "cu116"), ("1.13", ""))
"""PyTorch's own builds of those releases for CUDA 11."""

_RUNFILE = re.compile(r"(?:^|/)cuda_(7|8|9)\.(\d)[\d.]*_[\w.-]*linux|(?:^|/)cuda-repo-\w+?-(7|8|9)-(\d)-local")


def check(scope: Scope) -> Iterator[Mistake]:
    """A framework of the default index that is built for CUDA 10 or older; a script that installs such a CUDA."""
    if scope.machine and scope.machine.gpus:
        return  # gpu-no-code compares with those
    for pin in scope.pins:
        yield from _built(scope, pin)
    if scope.kind == "script":
        yield from _installed(scope)


def _built(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    if not _is_for_gpus(scope, pin) or not pin.installed or not from_index(scope, pin):
        return
    if "cpuonly" in scope.names:
        return  # the CPU is meant
    gone = bool(pin.version) and published.is_missing(pin.name, pin.version)
    row = scope.taken(pin) if pin.specifier and not gone else None
    cuda = row.cuda if row else None
    if row is None or not isinstance(cuda, str) or at_least(cuda, "11"):
        return
    has = f"{pin.name} {row.version} of the package index is built for CUDA {major_minor(cuda)}"
    text = f"{has}, which has no code for Ampere (RTX 30, A100) and newer GPUs"
    yield RULE.mistake(pin.place, text, evidence_of(row, "cuda"), _instead(pin, row.version))


def _is_for_gpus(scope: Scope, pin: Pin) -> bool:
    """Whether a GPU may be meant, and not just one of that time: an old image was chosen on purpose."""
    if scope.named_otherwise and not scope.named_gpu:
        return False
    if scope.environment.runner is not None and not scope.gpu_meant:
        return False  # GitHub's own machines have no GPU
    if scope.has_gpu_twin or (scope.kind == "cog" and not pin.step):
        return False  # that one is for the GPU; Cog takes the build for its own CUDA
    if scope.base.gpu is False or (scope.base.cuda and not at_least(scope.base.cuda, "11")):
        return False
    told = bool(scope.gpu_meant) or scope.named_gpu
    return pin.name == "torch" or pin.name == "tensorflow-gpu" or (pin.name in TENSORFLOW and told)


def _instead(pin: Pin, version: str) -> str:
    build = [label for since, label in _BUILDS if at_least(version, since)]
    if pin.name == "torch" and build and build[-1]:
        return f"for such a GPU take torch=={version}+{build[-1]} from https://download.pytorch.org/whl/{build[-1]}"
    return f"for such a GPU take a newer {pin.name}"


def _installed(scope: Scope) -> Iterator[Mistake]:
    """The first command that fetches or installs the toolkit."""
    for command in scope.environment.commands:
        found = _toolkit(command)
        if found:
            number, line = found
            newest, after = _NEWEST[number.partition(".")[0]]
            text = f"CUDA {number} knows GPUs up to {newest}: none of {after} and newer"
            fix = "install CUDA 12 or newer, or say for which GPUs this script is"
            yield RULE.mistake(Place(scope.environment.path, line), text, _NOTES, fix)
            return


def _toolkit(command: Command) -> tuple[str, int] | None:
    for word, line in zip(command.words, command.lines, strict=False):
        found = _RUNFILE.search(word)
        package = re.fullmatch(r"cuda(?:-toolkit)?-(7|8|9)-(\d)(=.*)?", word) if "install" in command.words else None
        if found:
            return f"{found[1] or found[3]}.{found[2] or found[4]}", line
        if package:
            return f"{package[1]}.{package[2]}", line
    return None
