"""A torch for a newer CUDA major than the image that it is put into."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.knowledge.containers import Base
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import solving
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import numbers

RULE = Rule("image-outrun", "warning", "a torch for a newer CUDA major than its image: it needs a newer driver")


def check(scope: Scope) -> Iterator[Mistake]:
    """torch of the default index in an nvidia/cuda image of an older major."""
    base, stage = scope.base, scope.environment
    yield from _in_cog(scope)
    if base.family != "cuda" or not base.cuda or _is_elsewhere(scope):
        return
    named = stage.named("torch", "pytorch") or _brought(scope)
    pin = named[0] if len(named) == 1 and _is_plain(named[0]) else None
    row = scope.taken(pin) if pin else None
    if pin and row and isinstance(row.cuda, str) and numbers(row.cuda)[0] > numbers(base.cuda)[0]:
        yield from _outrun(pin, row, row.cuda, base)


def _in_cog(scope: Scope) -> Iterator[Mistake]:
    """torch that no line of a cog.yaml names: Cog chooses CUDA by the torch that is listed."""
    named = {"torch", "tensorflow", "jax", "onnxruntime-gpu", "paddlepaddle-gpu"} & scope.names.keys()
    if scope.kind != "cog" or not scope.environment.gpu or named or scope.environment.includes_unknown:
        return
    pin = next(iter(_brought(scope)), None)
    row = scope.taken(pin) if pin else None
    if pin and row and isinstance(row.cuda, str) and numbers(row.cuda)[0] > _CHOSEN and (needs := floor(row.cuda)):
        text = f"no line names torch, so {row.version} comes, for CUDA {row.cuda} and driver {needs.driver} or newer"
        fix = "list torch with the release that is meant: Cog takes its CUDA image from that line"
        yield RULE.mistake(pin.place, f"{text}; Cog chooses its CUDA by the torch that is listed", _COG, fix)


_CHOSEN = 12
_COG = source(
    "replicate/cog, pkg/config: compatibility matrices", "CUDA and cuDNN follow the torch or TensorFlow listed"
)


def _is_elsewhere(scope: Scope) -> bool:
    """Whether it does not run, or not so: for the CPU, a stage that builds, Modal, whose drivers are new."""
    stage = scope.environment
    if scope.named_otherwise and not scope.named_gpu:
        return True
    if not stage.runs or stage.other_index or stage.forked or scope.kind == "modal":
        return True
    return any(re.search(r"\buninstall\b.*\btorch\b", command.text) for command in scope.environment.commands)


def _brought(scope: Scope) -> list[Pin]:
    """The torch that a package of the file brings, on the line of that package."""
    for pin in scope.pins if not scope.environment.includes_unknown else ():
        if pin.installed and not pin.indexes and "torch" in scope.asks(pin):
            if any(other.step > pin.step and other.extras for other in scope.pins):
                return []  # what an extra asks for, nobody here has read: it may put another torch in its place
            taken = {*solving.taken(scope, "torch", solving.pythons(scope)[-3:])}
            return (
                [msgspec.structs.replace(pin, name="torch", specifier=f"=={max(taken, key=numbers)}")] if taken else []
            )
    return []


_INDEXES = {11: "cu118", 12: "cu126"}
"""Of each CUDA major an index of PyTorch's that many releases are on: not every minor has one."""


def _outrun(pin: Pin, row: Release, cuda: str, base: Base) -> Iterator[Mistake]:
    needs, admits = floor(cuda), floor(base.cuda)
    if needs is None or admits is None:
        return
    newest = "" if is_pinned(pin) else " (the newest)"
    text = (
        f"torch {row.version}{newest} is built for CUDA {cuda} and needs driver {needs.driver} or newer; "
        f"image {base.name} was chosen for CUDA {base.cuda}, which runs from {admits.driver} on"
    )
    major = numbers(base.cuda)[0]
    label = _INDEXES.get(major, f"cu{''.join(map(str, numbers(base.cuda)[:2]))}")
    fix = f"take torch from PyTorch's index for CUDA {major} (such as {label}), or a newer image"
    yield RULE.mistake(pin.place, text, evidence_of(row, "cuda"), fix)


def _is_plain(pin: Pin) -> bool:
    """Whether a pin takes the build of the default index."""
    return pin.origin == "pip" and not pin.variant and not pin.reference and not pin.indexes and not pin.arms
