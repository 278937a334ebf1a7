"""A release whose sources the tools of today cannot build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge.tables import source
from gpuwhy.lint import solving
from gpuwhy.lint.index import from_elsewhere
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("unbuildable", "warning", "a release whose sources the tools of today cannot build")

_GYM = source(
    "openai/gym issue 3176; built with pip 26.3", "extras_require has opencv-python>=3. , refused since setuptools 66"
)
_TRIED = source("built with uv 0.13 and each Python, November 2026", "setup.py ends with an error")


class Broken(NamedTuple):
    """Releases without a wheel, the first Python with which their setup.py fails, why, and what to do."""

    releases: str
    since: str
    why: str
    fix: str
    source: Source
    by_setuptools: bool = True  # an old one would do


_OLD_TOOLS = 'first pip install "setuptools<66" "wheel<0.39" "pip<24.1", or take gym>=0.26 or gymnasium'
_NO_IMP = "its setup.py imports imp, which Python has no more since 3.12"
_BROKEN = {
    "gym": Broken(
        ">=0.18,<0.22", "", "setuptools 66 and newer refuse its setup.py (extras_require)", _OLD_TOOLS, _GYM
    ),
    "absl-py": Broken(
        "<0.10", "3.10", "its setup.py takes 3.10 for older than 3.4", "take absl-py>=0.10, or Python 3.9", _TRIED,
        False,
    ),
    "pathtools": Broken("", "3.12", _NO_IMP, "take Python 3.11, or wandb>=0.16", _TRIED, False),
    "resampy": Broken("==0.2.2", "3.12", _NO_IMP, "take resampy>=0.3", _TRIED, False),
    "markupsafe": Broken(
        "==1.0", "3.8", "its setup.py imports Feature, which setuptools has no more since 46", "take markupsafe>=1.1.1",
        _TRIED,
    ),
}  # fmt: skip
"""Releases without a wheel whose setup.py the tools of today, or a newer Python, refuse."""
_TOLD = re.compile(r"setuptools\s*[<=]{1,2}\s*([1-5]?\d|6[0-5])\b|setuptools\s*<\s*66|no[-_]build[-_]isolation")
_RENEWS = re.compile(
    r"(conda|mamba) (create|env)|install( \S+)* (-U|--upgrade)( \S+)* (pip|setuptools)( |$)|get-pip|^uv "
)


def check(scope: Scope) -> Iterator[Mistake]:
    """Such a pin, or one of a package that asks for nothing else; once for each of them."""
    if scope.environment.locked or not scope.for_gpus:
        return
    told: set[str] = set()
    for pin in scope.pins:
        name, how = _broken(scope, pin)
        if name and name not in told and not from_elsewhere(scope, pin):
            told.add(name)
            row = _BROKEN[name]
            yield RULE.mistake(pin.place, f"{how}: it has no wheel, and {row.why}", row.source, row.fix)


def _broken(scope: Scope, pin: Pin) -> tuple[str, str]:
    """The release that cannot be built, and how the pin comes to it."""
    if not pin.installed or pin.marker or not pin.version:
        return "", ""
    if pin.name in _BROKEN:
        alone = allows(_BROKEN[pin.name].releases, pin.version) and _fails(scope, pin.name)
        return (pin.name, f"{pin.name} {pin.version}") if alone else ("", "")
    told = scope.asks(pin)
    for name in _BROKEN.keys() & told.keys():
        asks = _only(name, told[name])
        if asks and name not in scope.names and _fails(scope, name):
            return name, f"{pin.name} {pin.version} asks for {asks}"
    return "", ""


def _only(name: str, wishes: tuple[str, ...]) -> str:
    """What is asked for, where that leaves nothing but such releases."""
    exact = re.fullmatch(r"==\s*([\d.]+)", wishes[0]) if len(wishes) == 1 else None
    if exact and allows(_BROKEN[name].releases, exact[1]):
        return f"{name}=={exact[1]}"
    return name if not _BROKEN[name].releases and wishes == ("",) else ""


def _fails(scope: Scope, name: str) -> bool:
    """Whether every Python that the file may have is one with which the build fails."""
    row = _BROKEN[name]
    if row.by_setuptools and _is_settled(scope):
        return False
    used = scope.environment.pythons or scope.hinted or solving.of_frameworks(scope)
    return not row.since or (bool(used) and all(at_least(python, row.since) for python in used))


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
