"""A framework without wheels for musl on an Alpine image."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import platforms
from gpuwhy.lint.index import FRAMEWORKS
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("musl", "error", "a framework without wheels for musl on an Alpine image")


def check(scope: Scope) -> Iterator[Mistake]:
    """Every framework that pip installs in an image built on musl."""
    if not scope.base.musl or not scope.environment.runs:
        return
    for pin in scope.environment.pins:
        framework = FRAMEWORKS.get(pin.name, "")
        if framework and not pin.limits and pin.origin == "pip" and not pin.reference:
            row = platforms.dropped(framework, "99", "linux", "x86_64", "musl")
            if row:
                text = f"{row.text}; image {scope.base.name} is built on musl"
                fix = "start from a glibc image, such as python:3.12-slim"
                yield RULE.mistake(pin.place, text, row.source, fix)
