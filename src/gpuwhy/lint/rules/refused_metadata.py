"""A release whose metadata pip refuses since 24.1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Pin
from gpuwhy.lint.versions import allows
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("refused-metadata", "warning", "a release whose metadata pip refuses since 24.1")

_KNOW = source("downloaded with pip 26.3, November 2026", "Ignoring version … since it has invalid metadata")
_REFUSED = {
    "omegaconf": ">=2.0.1,<2.1.1",
    "pytorch-lightning": ">=1.5.5,<1.8.4",
    "textract": "==1.6.5",
}
"""Releases that write PyYAML>=5.1.* or torch>=1.8.* of what they need."""

_ASKING = {
    "fairseq": (">=0.10.1", "omegaconf<2.1 with hydra-core<1.1"),
    "hydra-core": (">=1.0.5,<1.1", "omegaconf>=2.0.5,<2.1"),
}
"""Packages whose releases leave nothing but such a one."""


def check(scope: Scope) -> Iterator[Mistake]:
    """A pin of such a release, or of a package that needs one, where the pip is a new one."""
    if scope.environment.locked or _is_old_pip(scope):
        return
    for pin in scope.pins:
        said = _said(pin) if pin.installed and not scope.environment.other_index else ""
        if said and not scope.repository.old_pip:
            text = f"{said}, whose metadata pip 24.1 and newer refuse: no release is left to install"
            yield RULE.mistake(pin.place, text, _KNOW, f'install with "pip<24.1" (or uv), or take a newer {pin.name}')


def _said(pin: Pin) -> str:
    if pin.name in _REFUSED and pin.version and allows(_REFUSED[pin.name], pin.version):
        return f"{pin.name} {pin.version}"
    limit, needs = _ASKING.get(pin.name, ("", ""))
    return f"{pin.name} {pin.version} needs {needs}" if needs and pin.version and allows(limit, pin.version) else ""


def _is_old_pip(scope: Scope) -> bool:
    """Whether the pip is known to be older, or another installer: the image's own, one that is pinned, uv, conda."""
    stage = scope.environment
    pinned = any(pin.name == "pip" and pin.specifier for pin in stage.pins)
    old = bool(stage.pythons) and not at_least(stage.pythons[-1], "3.8")  # its last pip is 24.0
    there = scope.kind == "requirements" and stage.in_image  # the image has its own, and is judged with it
    by_image = scope.kind in ("dockerfile", "singularity") and not any(map(_renews, stage.commands))
    other = any(re.search(r"\buv (pip|sync)\b|pip[\"']?(==|<)", command.text) for command in stage.commands)
    return pinned or old or there or by_image or other or scope.kind in ("cog", "conda")


def _renews(command: Command) -> bool:
    return bool(re.search(r"get-pip\.py|pip[\d.]* install( \S+)* (-U|--upgrade)( \S+)* pip( |$)", command.text))
