"""A name that is not the package that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import published
from gpuwhy.knowledge.absent import ABSENT, FAILING, KNOW, OTHERS, WHOLE
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import from_elsewhere
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Edit, Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("wrong-name", "error", "a name that is not the package that is meant")

_NAMES = {
    "pytorch": ("torch", "the package `pytorch` is a placeholder whose installation fails", "error"),
    "tensorflow-tensorboard": (
        "tensorboard",
        "it ended in 2018 and writes over the tensorboard that TensorFlow brings",
        "warning",
    ),
}
_CONDA = source("conda's channels defaults, conda-forge and pytorch", "the names of their packages")
_OF_CONDA = {
    "torch": "pytorch", "sklearn": "scikit-learn", "skimage": "scikit-image", "opencv-python": "opencv",
    "cv2": "opencv", "opencv-python-headless": "opencv", "opencv-contrib-python": "opencv", "pil": "pillow",
    "tensorflow2": "tensorflow",
    "onnxruntime-gpu": "onnxruntime", "cupy-cuda11x": "cupy", "cupy-cuda12x": "cupy",
    "torch-scatter": "pytorch-scatter",
    "torch-sparse": "pytorch-sparse",
}  # fmt: skip
"""Names of the package index, and what conda's channels call the same."""

_KNOW = source("the package index", "the project of that name")


def _was_right(scope: Scope, name: str) -> bool:
    """TensorFlow 1.3 to 1.5 asked for tensorflow-tensorboard themselves."""
    found = scope.names.get("tensorflow") or scope.names.get("tensorflow-gpu")
    row = scope.taken(found) if found and name == "tensorflow-tensorboard" else None
    return name == "tensorflow-tensorboard" and (row is None or not at_least(row.version, "1.6"))


def check(scope: Scope) -> Iterator[Mistake]:
    """What pip is asked for by a wrong name; conda's names are other ones."""
    told: dict[str, Pin] = {}
    for pin in scope.pins:
        if pin.by_name and ABSENT.get(pin.name, "").startswith(WHOLE):  # a whole system was frozen: said once
            first = told.setdefault(ABSENT[pin.name], pin)
            if first is not pin:
                continue
        yield from _of_conda(scope, pin)
        if not pin.by_name:
            continue
        if pin.name in _NAMES and not _was_right(scope, pin.name):
            name, why, severity = _NAMES[pin.name]
            edit = Edit(pin.name, name) if pin.name == "pytorch" and not pin.specifier else None
            yield RULE.mistake(pin.place, f"{pin.name}: {why}", _KNOW, f"write {name}", severity, edit)  # type: ignore[arg-type]
        elif not from_elsewhere(scope, pin):
            yield from _absent(scope, pin)


def _of_conda(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A name of the package index that conda's channels do not know; with a build it was exported, so there is one."""
    named = pin.origin == "conda" and pin.name in _OF_CONDA and not pin.channel and not pin.build
    if named and not scope.environment.locked:
        text = f"{pin.name}: conda's channels call it {_OF_CONDA[pin.name]}, so there is no such package"
        yield RULE.mistake(pin.place, text, _CONDA, f"write {_OF_CONDA[pin.name]}, or list {pin.name} under pip:")


def _absent(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    if pin.name in ABSENT:
        text = f"{pin.name}: the package index has no such package, so the installation fails"
        fix = ABSENT[pin.name]
        yield RULE.mistake(pin.place, text, KNOW, fix if fix.startswith(WHOLE) else f"take {fix}")
    elif pin.name in FAILING and pin.version != "0.0" and not _passes_on(scope):  # sklearn 0.0 installs still
        text = f"{pin.name}: the package index has a placeholder of that name, whose installation fails"
        yield RULE.mistake(pin.place, text, KNOW, f"take {FAILING[pin.name]}")
    elif re.fullmatch(r"nvidia-[a-z-]+-cu11[0-7]|nvidia-cudnn|nvidia-tensorflow", pin.name) and _is_first(scope, pin):
        text = f"{pin.name}: the package index has a placeholder of that name, whose installation fails"
        yield RULE.mistake(pin.place, text, KNOW, "take the wheel for its CUDA major (-cu11, -cu12), or NVIDIA's index")
    elif pin.name in OTHERS and _speaks_of_torch(scope):
        text = f"{pin.name}: on the package index that is another project, not the one that runs on a GPU"
        yield RULE.mistake(pin.place, text, KNOW, f"take {OTHERS[pin.name]}", "warning")
    elif scope.kind not in _OF_PROJECTS and scope.for_gpus and not published.is_project(pin.name):
        text = f"{pin.name}: the package index has no such package, so the installation fails"
        fix = "look for a slip in the name; of a package of your own, write its address or its folder"
        yield RULE.mistake(pin.place, text, published.NAMES, fix)


def _passes_on(scope: Scope) -> bool:
    """Whether the Python has no pip but those that take an older release where one fails to build (before 22)."""
    pythons = scope.environment.pythons or scope.hinted
    if scope.kind == "pipfile" and set(scope.repository.locked("sklearn")) == {"0.0"}:
        return True  # Pipenv takes what the lock beside it holds
    return bool(pythons) and all(python in ("2.7", "3.4", "3.5", "3.6") for python in pythons)


_OF_PROJECTS = ("pyproject", "setup", "setup-config", "lock")
"""Files of projects, whose neighbours in the same repository need no index."""


def _is_first(scope: Scope, pin: Pin) -> bool:
    """Whether no earlier command has made NVIDIA's own index known."""
    return not any(p.name == "nvidia-pyindex" and p.step < pin.step for p in scope.pins)


def _speaks_of_torch(scope: Scope) -> bool:
    return any(pin.name.startswith(("torch", "transformers", "tensorflow", "pytorch")) for pin in scope.pins)
