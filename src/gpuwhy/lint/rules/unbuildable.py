"""A release whose sources the tools of today cannot build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import asked
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import from_elsewhere
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows, specifier
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("unbuildable", "warning", "a release whose sources the tools of today cannot build")

_GYM = source(
    "openai/gym issue 3176; built with pip 26.3", "extras_require has opencv-python>=3. , refused since setuptools 66"
)
_BROKEN = {"gym": ">=0.18.3,<0.22"}
"""Releases without a wheel whose setup.py today's setuptools refuses."""
_TOLD = re.compile(r"setuptools\s*[<=]{1,2}\s*([1-5]?\d|6[0-5])\b|setuptools\s*<\s*66|no[-_]build[-_]isolation")
_RENEWS = re.compile(
    r"(conda|mamba) (create|env)|install( \S+)* (-U|--upgrade)( \S+)* (pip|setuptools)( |$)|get-pip|^uv "
)


def check(scope: Scope) -> Iterator[Mistake]:
    """Such a pin, or one of a package that asks for nothing else."""
    if scope.environment.locked or not scope.for_gpus or _is_settled(scope):
        return
    for pin in scope.pins:
        name, how = _broken(pin)
        if name and not from_elsewhere(scope, pin):
            text = f"{how}: it has no wheel, and setuptools 66 and newer refuse its setup.py (extras_require)"
            fix = 'first pip install "setuptools<66" "wheel<0.39" "pip<24.1", or take gym>=0.26 or gymnasium'
            yield RULE.mistake(pin.place, text, _GYM, fix)
            return


def _broken(pin: Pin) -> tuple[str, str]:
    """The release that cannot be built, and how the pin comes to it."""
    if not pin.installed or pin.marker:
        return "", ""
    if pin.name in _BROKEN:
        alone = pin.version and allows(_BROKEN[pin.name], pin.version)
        return (pin.name, f"{pin.name} {pin.version}") if alone else ("", "")
    for name, wanted in _BROKEN.items():
        told = asked.asks(pin.name, pin.version).get(name, ()) if pin.version else ()
        exact = re.fullmatch(r"==\s*([\d.]+)", told[0]) if len(told) == 1 else None
        if exact and specifier(wanted) and allows(wanted, exact[1]):
            return name, f"{pin.name} {pin.version} asks for {name}=={exact[1]}"
    return "", ""


def _is_settled(scope: Scope) -> bool:
    """Whether the setuptools is an old one: pinned here, of an old Python, or of an image that nobody renews."""
    stage = scope.environment
    told = _TOLD.search(scope.read(stage.path) or "")
    pinned = any(pin.name == "setuptools" and (pin.version or "<" in pin.specifier) for pin in stage.pins)
    old = bool(stage.pythons) and not any(at_least(python, "3.8") for python in stage.pythons)
    return bool(told) or pinned or old or scope.kind == "cog" or _is_of_image(scope)


def _is_of_image(scope: Scope) -> bool:
    """Whether an image's own setuptools builds it: that of Python 3.11 and older, which nothing renews."""
    stage = scope.environment
    if scope.kind == "requirements":
        return scope.repository.is_installed_beside  # and judged there
    if scope.kind not in ("dockerfile", "singularity") or any(_RENEWS.search(c.text) for c in stage.commands):
        return False
    return not stage.pythons or not all(at_least(python, "3.12") for python in stage.pythons)
