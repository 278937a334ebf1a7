"""A package that the distribution of the image no longer has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import apt_gone
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("apt-gone", "error", "a package that the distribution of the image no longer has")

_ELSEWHERE = re.compile(r"sources\.list|add-apt-repository|\.deb\b|dpkg -i|\|\| true|old-releases|ppa:")
_TODAY = "22.04"
"""The oldest Ubuntu that is still kept up: what it lacks, a script finds nowhere."""


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such package, where no other archive is added before."""
    stage = scope.environment
    family, release = _system(scope)
    yield from _key(scope, family, release)
    gone = apt_gone.missing(stage.apt, family, release)
    if not gone or any(_ELSEWHERE.search(command.text) for command in stage.commands):
        return
    name, row = next(iter(gone.items()))
    title = {"ubuntu": f"Ubuntu {release}", "debian": f"Debian {release}"}[family]
    of = f"image {stage.image.text} is {title}" if stage.image else f"{title} and newer"
    said = f"{of}, which has no package {name}: apt stops" if stage.image else f"{of} have no package {name}: apt stops"
    yield RULE.mistake(Place(stage.path, stage.apt[name]), said, apt_gone.KNOW, f"take {row.instead}")


_APT_KEY = source("Debian 13 release notes", "apt-key is removed; keys go to /etc/apt/keyrings with signed-by")
_WITHOUT_KEY = 13


def _key(scope: Scope, family: str, release: str) -> Iterator[Mistake]:
    """apt-key in an image of a Debian that has it no more."""
    stage = scope.environment
    command = next((c for c in stage.commands if "apt-key" in c.words[:2]), None)
    if command and stage.image and family == "debian" and release.isdigit() and int(release) >= _WITHOUT_KEY:
        text = f"image {stage.image.text} is Debian {release}, which has no apt-key: the command is not found"
        fix = "put the key into /etc/apt/keyrings, and write [signed-by=…] into the source"
        yield RULE.mistake(Place(stage.path, command.lines[0]), text, _APT_KEY, fix)


def _system(scope: Scope) -> tuple[str, str]:
    """The distribution of the image; of a script without one, the oldest Ubuntu of today, where it speaks of apt."""
    stage = scope.environment
    if stage.image:
        return apt_gone.system(stage.image.text) if "$" not in stage.image.text else ("", "")
    text = scope.read(stage.path) or ""
    named = re.search(r"1[4-9]\.04|1[4-9]04|20\.?04|xenial|bionic|focal|lsb_release|VERSION_ID|[Dd]ebian|jetson", text)
    own = re.search(r"sudo\s+(-\w+\s+)*apt(-get)?\s", text)  # a person's machine, not a part of an image
    return ("ubuntu", _TODAY) if scope.kind == "script" and own and not named else ("", "")
