"""A Python that the distribution of the image does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("apt-python", "error", "a Python that the distribution of the image does not have")

_PACKAGE = re.compile(r"python(3\.\d+)(-(dev|venv|distutils|full|minimal))?")
_ADDED = re.compile(r"add-apt-repository|deadsnakes|sources\.list|\.sources\b|ppa:|launchpadcontent|apt_repository")


def check(scope: Scope) -> Iterator[Mistake]:
    """apt with a Python that is neither the distribution's own nor one beside it, and no other archive."""
    base = scope.base
    has = containers.apt_pythons(base)
    if not has or any(_ADDED.search(command.text) for command in scope.environment.commands):
        return
    for name, line in scope.environment.apt.items():
        found = _PACKAGE.fullmatch(name)
        if found and found[1] not in has:
            text = f"image {base.name} has no package {name}: its archives have Python {' and '.join(has)}"
            fix = f"use Python {has[0]}, an image with the other one, or uv python install {found[1]}"
            yield RULE.mistake(Place(scope.environment.path, line), text, containers.APT_PYTHONS, fix)
            return
