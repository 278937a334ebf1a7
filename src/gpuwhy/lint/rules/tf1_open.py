"""TensorFlow from 1.x on without an end, which is TensorFlow 2 today."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("tf1-open", "warning", "TensorFlow from 1.x on without an end, which is TensorFlow 2 today")

_KNOW = source("TensorFlow 2.0 release notes", "tf.contrib, tf.Session, tf.placeholder and more are gone")
_FROM_ONE = re.compile(r">=?(0\.\d+|1\.\d+)[\w.]*")
_OF_TWO = ("tf-keras", "tensorflow-datasets", "tensorflow-text", "tensorflow-addons", "keras-tuner", "keras-cv")


_ONE_ALONE = {
    "edward": "1.3.5, its last release, uses tf.contrib",
    "stable-baselines": "2.10.2, its last release, uses tf.contrib; stable-baselines3 runs on PyTorch",
    "bert-serving-server": "1.10.0, its last release, uses tf.contrib",
}
"""Packages that ended with TensorFlow 1, and name no TensorFlow or no end of it."""


def check(scope: Scope) -> Iterator[Mistake]:
    """A lower bound of 1.x that is all; a package that knows TensorFlow 1 alone."""
    yield from _ended(scope)
    beside = list(_told_beside(scope))
    yield from beside or _told_by_programs(scope)
    if scope.environment.locked or any(name in scope.names for name in _OF_TWO):
        return
    for pin in scope.pins:
        if pin.name in ("tensorflow", "tensorflow-cpu") and _is_open(pin) and from_index(scope, pin):
            row = scope.taken(pin)
            if row and at_least(row.version, "2"):
                text = f"{pin.name}{pin.specifier} takes {row.version} today; code for TensorFlow 1 does not run there"
                fix = f"write {pin.name}{pin.specifier},<2 (with Python 3.7 or older), or say from which 2.x on"
                yield RULE.mistake(pin.place, text, _KNOW, fix)


_BESIDE = (
    "requirements.txt", "requirements-gpu.txt", "requirements_gpu.txt", "requirements-cpu.txt", "environment.yml",
    "Dockerfile", "Dockerfile.gpu", "README.md", "setup.py",
)  # fmt: skip
_PINNED_ONE = re.compile(
    r"^(?!\s*#).*\btensorflow([-_](gpu|cpu))?\s*={1,2}\s*[\"']?(1\.\d+)", re.MULTILINE | re.IGNORECASE
)


def _told_beside(scope: Scope) -> Iterator[Mistake]:
    """TensorFlow without a version, where another file of the project pins TensorFlow 1."""
    open_pins = [
        p for p in scope.pins if p.name in ("tensorflow", "tensorflow-cpu") and p.installed and not p.specifier
    ]
    if scope.kind not in ("setup", "requirements", "conda") or scope.environment.locked or not open_pins:
        return
    folder = posixpath.dirname(scope.environment.path)
    for name in _BESIDE:
        path = posixpath.join(folder, name)
        found = _PINNED_ONE.search(scope.read(path) or "") if path != scope.environment.path else None
        if found:
            pin = open_pins[0]
            text = f"{pin.name} without a version takes TensorFlow 2; {name} beside pins {found[3]}"
            yield RULE.mistake(pin.place, text, _KNOW, f"write {pin.name}<2 here too (with Python 3.7 or older)")
            return


_OF_ONE = re.compile(
    r"^\s*(?:from tensorflow\.contrib\b|import tensorflow\.contrib\b|from tensorflow\.examples\.tutorials\b)"
    r"|\btf\.(?:contrib\.\w|placeholder\(|Session\(|app\.run\(|app\.flags\b|get_variable\(|variable_scope\()",
    re.MULTILINE,
)
_TRANSLATED = re.compile(r"compat\.v1|compat import v1|disable_v2_behavior|tf\.function\b|tf\.GradientTape\b")
"""A program that knows of TensorFlow 2."""


def _told_by_programs(scope: Scope) -> Iterator[Mistake]:
    """TensorFlow without an end, where the programs call what only TensorFlow 1 has and none is for TensorFlow 2."""
    names = ("tensorflow", "tensorflow-cpu")
    if scope.kind not in ("setup", "requirements", "conda", "pyproject"):
        return  # an old image's own pip may take an old release
    pin = next((p for p in scope.pins if p.name in names and p.installed and not p.version and not p.arms), None)
    row = scope.taken(pin) if pin and pin.origin == "pip" and from_index(scope, pin) else None
    if pin is None or row is None or not at_least(row.version, "2") or scope.environment.locked:
        return
    path = _old_program(scope)
    if path:
        text = f"{pin.name}{pin.specifier} takes {row.version} today, and {posixpath.basename(path)} calls what only"
        text += " TensorFlow 1 has"
        yield RULE.mistake(
            pin.place, text, _KNOW, f"write {pin.name}<2 (with Python 3.7 or older), or port the programs"
        )


def _old_program(scope: Scope) -> str:
    """The first program for TensorFlow 1; "" where one of them knows of TensorFlow 2."""
    found = ""
    for path, text in scope.repository.programs():
        if "tensorflow" not in text:
            continue
        if _TRANSLATED.search(text):
            return ""
        found = found or (path if _OF_ONE.search(text) else "")
    return found


def _ended(scope: Scope) -> Iterator[Mistake]:
    """Such a package without a TensorFlow 1 beside it."""
    bounded = [
        p for p in scope.environment.pins if p.name.startswith("tensorflow") and not allows(p.specifier, "2.21.0")
    ]
    old = scope.base.framework == "tensorflow" and not at_least(scope.base.version or "2", "2")
    pythons = scope.environment.pythons
    if bounded or old or scope.environment.locked or (pythons and not at_least(pythons[-1], "3.8")):
        return
    for pin in scope.pins:
        if pin.name in _ONE_ALONE and pin.installed:
            text = f"{pin.name} needs TensorFlow 1, which Python 3.8 and newer cannot install: {_ONE_ALONE[pin.name]}"
            yield RULE.mistake(pin.place, text, _KNOW, "use Python 3.7 with tensorflow<2, or its successor")


def _is_open(pin: Pin) -> bool:
    return bool(_FROM_ONE.fullmatch(pin.specifier)) and pin.installed
