"""A name that is not the package that is meant."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Edit, Mistake, Rule

RULE = Rule("wrong-name", "error", "a name that is not the package that is meant")

_NAMES = {
    "pytorch": ("torch", "the package `pytorch` is a placeholder whose installation fails", "error"),
    "tensorflow-tensorboard": (
        "tensorboard",
        "it ended in 2018 and writes over the tensorboard that TensorFlow brings",
        "warning",
    ),
}
_KNOW = source("the package index", "the project of that name")


def check(scope: Scope) -> Iterator[Mistake]:
    """What pip is asked for by a wrong name; conda's names are other ones."""
    for pin in scope.pins:
        if pin.origin == "pip" and not pin.reference and pin.name in _NAMES:
            name, why, severity = _NAMES[pin.name]
            edit = Edit(pin.name, name) if pin.name == "pytorch" and not pin.specifier else None
            yield RULE.mistake(pin.place, f"{pin.name}: {why}", _KNOW, f"write {name}", severity, edit)  # type: ignore[arg-type]
