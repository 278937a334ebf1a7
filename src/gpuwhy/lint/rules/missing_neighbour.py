"""A package that imports another one which it does not ask for, and nothing here installs it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import asked
from gpuwhy.knowledge.imported import KNOW, NEEDED, Needed
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("missing-neighbour", "error", "a package that imports another one, which nothing installs")

_CLOSED = ("cog", "modal", "dockerfile", "pyproject")
"""Kinds of file that tell everything that is installed."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Each such package of an environment that is told as a whole."""
    stage = scope.environment
    yield from _keras(scope)
    if scope.kind not in _CLOSED or stage.locked or stage.includes_unknown or not _is_whole(scope):
        return
    for pin in scope.pins:
        row = NEEDED.get(pin.name)
        if row and pin.installed and not pin.arms and not _comes(scope, pin, row):
            needs = " or ".join(row.any_of[:2])
            text = f"{pin.name} imports {row.module} and does not ask for it; nothing here installs {needs}"
            yield RULE.mistake(pin.place, text, KNOW, f"add {row.any_of[0]}")


def _keras(scope: Scope) -> Iterator[Mistake]:
    """What was written for Keras 2 beside a TensorFlow that brings Keras 3, and no tf-keras."""
    needy = next((pin for pin in scope.pins if pin.name in _KERAS_2 and pin.installed), None)
    tensorflow = next((p for p in scope.pins if p.name in ("tensorflow", "tensorflow-cpu") and p.installed), None)
    row = scope.taken(tensorflow) if needy and tensorflow and is_pinned(tensorflow) else None
    if (
        needy
        and row
        and at_least(row.version, "2.16")
        and "tf-keras" not in scope.names
        and not scope.environment.locked
    ):
        text = f"{needy.name} needs tf-keras beside TensorFlow 2.16 and newer ({row.version}), and nothing installs it"
        yield RULE.mistake(needy.place, text, _KERAS_KNOW, f'add "tf-keras~={".".join(row.version.split(".")[:2])}"')


_KERAS_2 = ("deepface", "retina-face")
_KERAS_KNOW = source("retina-face: its check of the installed TensorFlow", "2.16 and newer: tf-keras is asked for")


def _is_whole(scope: Scope) -> bool:
    """Whether the image brings no packages of its own."""
    return scope.kind != "dockerfile" or (scope.environment.runs and scope.base.family in ("cuda", "python", "distro"))


def _comes(scope: Scope, pin: Pin, row: Needed) -> bool:
    """Whether one of what it needs is named anywhere in the file, or the package brings it by its extra or release."""
    if pin.extras or set(row.any_of) & asked.asks(pin.name, pin.version).keys():
        return True
    text = scope.read(scope.environment.path) or ""
    named = any(re.search(rf"\b{re.escape(one)}\b", text.replace("_", "-"), re.IGNORECASE) for one in row.any_of)
    return named or any(other.name in row.any_of for other in (*scope.environment.pins, *scope.project))
