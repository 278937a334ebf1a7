"""Programs: which of the usual programs an image has when a command of a Dockerfile runs."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Environment
from gpuwhy.model.version import at_least

_PACKAGES = {
    "git": r"git(-|$)",
    "wget": r"wget$",
    "curl": r"curl$",
    "pip": r"python[\d.]*-pip$|python3-full$|pipx$|py3-pip$|pip$",
    "python": r"python$|python-|python2$",
}
"""Program → the packages that bring it."""

_PULLS = re.compile(
    r"ros-|npm$|nodejs$|golang|devscripts|texlive|ubuntu-|task-|kde|gnome|xfce|lxde|snapd|cargo|rustc|repo$|node-gyp"
    r"|kaldi|docker|mercurial|subversion|r-base|jupyter|ansible|sagemath|ffmpeg2|\$|tensorrt|blender"
)
"""Packages that may bring any of them along."""

_OWN_TREE = re.compile(
    r"conda|mamba|pyenv|venv|\buv\b|pixi|Python-3|linuxbrew|\bnix\b|poetry|rye|hatch|spack|\$\("
    r"|(^|[ ;])(\./|sh |bash |source |\. )\S*",
    re.IGNORECASE,
)
"""What makes a Python of its own, or runs a script that nobody has read."""


def lacking(scope: Scope) -> frozenset[str]:
    """The programs that the image of a stage does not have by itself; none where that is not known."""
    base, stage = scope.base, scope.environment
    if scope.kind != "dockerfile" or base.windows or base.musl or stage.copies:
        return frozenset()
    if base.family == "python":
        return (
            frozenset({"git", "wget", "curl"})
            if re.search(r"^(docker\.io/)?(library/)?python:\S+-slim", base.name)
            else frozenset()
        )
    if base.family == "pytorch":
        plain = base.variant == "runtime" and base.version and at_least(base.version, "1.8")
        return frozenset({"git"}) if plain else frozenset()
    if base.family in ("cuda", "distro") and base.distro_python and "ubi" not in base.name and "rocky" not in base.name:
        return frozenset({"git", "wget", "curl", "pip", "python"}) - _ros(base)
    return frozenset()


def _ros(base: containers.Base) -> frozenset[str]:
    return frozenset({"git", "wget", "curl", "python", "pip"}) if "ros" in base.name else frozenset()


def brought(stage: Environment, program: str, line: int) -> bool:
    """Whether some package before a line brings a program, or may."""
    if program == "pip" and not any("python" in name for name in stage.apt):
        return True  # a sketch, or an image under a name that says too little
    wanted = re.compile(_PACKAGES[program])
    for name, where in stage.apt.items():
        if (wanted.match(name) or _PULLS.match(name)) and where <= line:
            return True
    return bool(_by_hand(stage, program, line))


def _by_hand(stage: Environment, program: str, line: int) -> bool:
    """Whether a command before that line makes a program in another way."""
    for command in stage.commands:
        if command.lines and command.lines[0] > line:
            break
        if _makes(command, program):
            return True
    return False


def _makes(command: Command, program: str) -> bool:
    text = command.text
    if program in ("python", "pip") and _OWN_TREE.search(text):
        return True
    if program == "pip" and re.search(r"get-pip|ensurepip|easy_install|pip\.pyz|-m pip", text):
        return True
    if re.match(r"(ln|cp|mv|install|update-alternatives|alias)\b", text) and re.search(rf"\b{program}\b", text):
        return True
    return bool(_ELSEWHERE.search(text))


_ELSEWHERE = re.compile(
    r"dpkg -i|apt-get build-dep|aptitude|xargs|tasksel|nala|brew |deborphan|equivs|--fix-broken|apt-get -f"
)


def called(command: Command) -> str:
    """The program that a command calls, of those that are looked at; '' for others and where its failure is minded."""
    name = posixpath.basename(command.words[0]) if command.words else ""
    name = "pip" if name == "pip3" else name
    whole = "/" not in (command.words[0] if command.words else "")
    return name if whole and name in _PACKAGES and command.then != "||" and not command.arms else ""
