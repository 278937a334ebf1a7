"""A module that the project's programs import, and that the release which comes has no more."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from gpuwhy.knowledge import modules_gone
from gpuwhy.knowledge.modules import IMPORTED_AS
from gpuwhy.lint import solving
from gpuwhy.lint.imported import Import, imports
from gpuwhy.lint.index import from_elsewhere
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least, major_minor

RULE = Rule("module-gone", "error", "a module that the programs import, and that the release which comes has no more")
_KINDS = ("requirements", "pyproject", "setup", "setup-config", "dockerfile", "conda", "script", "cog")
_OF_TODAY = "3.11"
"""The oldest Python that a machine of today has, where nobody names one."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Packages that pip takes by their names, one finding for each."""
    stage = scope.environment
    if scope.kind not in _KINDS or stage.locked or stage.forked or stage.other_index or not scope.for_gpus:
        return
    pins = {pin.name: pin for pin in scope.pins if _is_judged(scope, pin)}
    found = imports(scope.repository) if pins else ()
    for name, pin in pins.items():
        root = IMPORTED_AS.get(name, name.replace("-", "_"))
        yield from _lost(scope, pin, [one for one in found if one.module.partition(".")[0] == root])


def _is_judged(scope: Scope, pin: Pin) -> bool:
    known = pin.name in modules_gone.packages() and pin.origin == "pip" and pin.installed
    return known and not pin.reference and not pin.arms and not pin.optional and not from_elsewhere(scope, pin)


def _lost(scope: Scope, pin: Pin, found: list[Import]) -> Iterator[Mistake]:
    """The first module that every release lacks which may come."""
    for one in found:
        module, first = modules_gone.since(pin.name, one.module)
        if not module:
            continue
        taken = list(solving.taken(scope, pin.name, _pythons(scope)))
        if not taken or not all(at_least(release, first) for release in taken):
            continue
        if any(not at_least(held, first) for held in scope.repository.locked(pin.name)):
            return
        text = f"{pin.name} {taken[-1]} comes, and has no module {module}, which {posixpath.basename(one.path)} imports"
        cap = major_minor(first)  # the last release of each minor number was looked at
        fix = f'write "{pin.name}<{cap}"' if not pin.version else f"take a {pin.name} before {cap}"
        yield RULE.mistake(pin.place, text, modules_gone.SOURCE, f"{fix}, or change the import")
        return


def _pythons(scope: Scope) -> list[str]:
    """The Pythons that are named; else those of today that the pinned frameworks have wheels for."""
    every = solving.pythons(scope)
    if scope.environment.pythons or scope.hinted:
        return list(every)
    wheels = solving.of_frameworks(scope)
    fitting = [python for python in every if not wheels or python in wheels]
    return [python for python in fitting if at_least(python, _OF_TODAY)] or fitting
