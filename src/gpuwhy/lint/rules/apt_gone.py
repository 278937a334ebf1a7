"""A package that the distribution of the image does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import apt_gone, apt_names
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("apt-gone", "error", "a package that the distribution of the image no longer has")

_ELSEWHERE = re.compile(
    r"sources\.list|\.sources\b|apt-repository|apt-key|keyring|trusted\.gpg|\.deb\b|dpkg -i|\|\| true|old-releases|ppa:"
    r"|nodesource|get\.docker\.com|packagecloud|(^|\s)deb \S*http|apt\.conf|pin-priority|debian-testing|deadsnakes"
)
_TODAY = "22.04"
"""The oldest Ubuntu that is still kept up: what it lacks, a script finds nowhere."""


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such package, where no other archive is added before."""
    stage = scope.environment
    family, release = _system(scope)
    yield from _key(scope, family, release)
    if stage.path.endswith((".yml", ".yaml")):
        return  # an environment of conda's that is made in an image: apt is judged where it stands
    if any(_ELSEWHERE.search(command.text) for command in stage.commands) or _brings_lists(scope):
        return
    told: set[int] = set()
    for name, fix in _lacking(scope, family, release):
        line = stage.apt[name]
        if line not in told and len(told) < _MOST:
            told.add(line)
            yield RULE.mistake(Place(stage.path, line), _said(scope, name, family, release), apt_gone.KNOW, fix)


_MOST = 3
_OTHERS = re.compile(
    r"cuda|libcu|cudnn|libnccl|libnpp|libnv|nvidia|nsight|tensorrt|python3-libnv|uff-|graphsurgeon|onnx-graph|ros-|docker-ce"
    r"|containerd\.io|google-|code$|bazel|kubectl|librealsense|nodejs|yarn$|gh$|github|azure|mssql|msodbc|terraform|helm$"
)
"""Packages of archives that an image may have beside its own."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*[a-z0-9]|g\+\+-\d+|python3\.\d+(-[a-z]+)?")
"""Names that apt takes for nothing else: with a full stop or a plus it looks for an expression, too."""


def _lacking(scope: Scope, family: str, release: str) -> Iterator[tuple[str, str]]:
    """The packages that the release does not have, with what to take instead."""
    stage = scope.environment
    table = apt_gone.missing(stage.apt, family, release)
    for name in stage.apt:
        if name in table and _is_absent(name, family, release):
            yield name, f"take {table[name].instead}"
        elif stage.image and _is_plain(name, family) and apt_names.is_missing(name, family, release):
            others = [one for one in apt_names.having(name, family) if one != release]
            title = family.capitalize()
            yield name, f"it is in {title} {' and '.join(sorted(others))}" if others else "look up how it is called"


def _is_absent(name: str, family: str, release: str) -> bool:
    """Whether the lists of that release, where they are known, say the same as the table."""
    return apt_names.is_missing(name, family, release) or not apt_names.is_known(family, release)


def _is_plain(name: str, family: str) -> bool:
    """Whether it is a name of the distribution's own archives; Ubuntu's Pythons are the matter of apt-python."""
    another = family == "ubuntu" and re.match(r"python3\.\d+", name)
    return bool(_NAME.fullmatch(name)) and not _OTHERS.match(name) and not another


def _brings_lists(scope: Scope) -> bool:
    """Whether a list of archives is copied into the image."""
    return any("apt" in path or "sources" in path or path.endswith(".deb") for path, _ in scope.environment.sources)


def _said(scope: Scope, name: str, family: str, release: str) -> str:
    image, title = scope.environment.image, f"{family.capitalize()} {release}"
    if image:
        return f"image {image.text} is {title}, which has no package {name}: apt stops"
    return f"{title} and newer have no package {name}: apt stops"


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


_OF_ANOTHER = re.compile(
    r"1[4-9]\.04|1[4-9]04|20\.?04|xenial|bionic|focal|lsb_release|VERSION_ID|debian|jetson|raspb|tegra|l4t|kali", re.I
)
"""A script speaks of another system, or looks itself which one it is on."""


def _system(scope: Scope) -> tuple[str, str]:
    """The distribution of the image; of a script without one, the oldest Ubuntu of today, where it speaks of apt."""
    stage = scope.environment
    if stage.image:
        return apt_gone.system(stage.image.text) if "$" not in stage.image.text else ("", "")
    text = scope.read(stage.path) or ""
    named = _OF_ANOTHER.search(text)
    own = re.search(r"sudo\s+(-\w+\s+)*apt(-get)?\s", text)  # a person's machine, not a part of an image
    return ("ubuntu", _TODAY) if scope.kind == "script" and own and not named else ("", "")
