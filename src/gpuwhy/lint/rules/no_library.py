"""A package whose library or program of the system the image does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import system_libraries
from gpuwhy.knowledge.system_libraries import Needed
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("no-library", "error", "a package that needs a library or a program which the image does not have")

_UNREAD = re.compile(r"^(\S*/)?(ba)?sh (?!-c)\S|^\./|^\S+\.sh\b|\b(conda|mamba|micromamba)\b|dpkg -i|\$\(|xargs")
"""Commands that may bring anything."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Each such package that a program of the repository imports, in a stage that runs."""
    stage = scope.environment
    rows = system_libraries.lacked(scope.base) if scope.kind == "dockerfile" and stage.runs else ()
    if not rows or not scope.for_gpus or _may_bring_anything(scope):
        return
    for row in rows:
        pin = next((pin for pin in scope.pins if _is_taken(pin, row)), None)
        if pin and not any(system_libraries.brings(row, name) for name in stage.apt):
            yield from _missed(scope, pin, row)


def _may_bring_anything(scope: Scope) -> bool:
    """Whether a stage takes in what nobody here has read."""
    stage = scope.environment
    unread = stage.copies_programs or stage.conda_files or stage.includes_unknown
    named = any("$" in name for name in stage.apt)
    return bool(unread) or named or any(_UNREAD.search(command.text) for command in stage.commands)


def _is_taken(pin: Pin, row: Needed) -> bool:
    """Whether a pin is the package in question, of a release that needs it."""
    old = not row.until or (bool(pin.version) and not at_least(pin.version, row.until))
    return pin.name == row.package and pin.installed and not pin.arms and not pin.marker and old


def _missed(scope: Scope, pin: Pin, row: Needed) -> Iterator[Mistake]:
    if scope.repository.imports(row.module) is not False:
        text = f"{pin.name} needs {row.what}, and image {scope.base.name} has none: {row.effect}"
        yield RULE.mistake(pin.place, text, system_libraries.KNOW, f"apt-get install {row.install}")
