"""Programs: which of the usual programs an image has when a command of a Dockerfile runs."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.knowledge import image_programs
from gpuwhy.knowledge.image_programs import PACKAGES
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Environment

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
    stage = scope.environment
    if scope.kind != "dockerfile" or stage.copies_programs:
        return frozenset()
    return image_programs.lacking(scope.base) - ({"pip", "python", "venv"} if stage.copies else frozenset())


def brought(stage: Environment, program: str, line: int) -> bool:
    """Whether some package before a line brings a program, or may."""
    if program in ("pip", "venv") and not any("python" in name for name in stage.apt) and not _is_bare_cuda(stage):
        return True  # a sketch, or an image under a name that says too little
    wanted = re.compile(PACKAGES[program])
    for name, where in stage.apt.items():
        if (wanted.match(name) or _PULLS.match(name)) and where <= line and not _is_bare(stage, name, program):
            return True
    return bool(_by_hand(stage, program, line))


def _is_bare_cuda(stage: Environment) -> bool:
    """Whether a stage starts from NVIDIA's own image, which has no Python, and apt installs other things into it."""
    named = stage.image.text if stage.image else ""
    return bool(stage.apt) and re.match(r"(docker\.io/|nvcr\.io/)?nvidia/cuda(gl)?:", named) is not None


def _is_bare(stage: Environment, name: str, program: str) -> bool:
    """Whether pip's package is installed without the compiler that it recommends."""
    by = (c for c in stage.commands if name in c.words) if program in _COMPILERS and name.endswith("-pip") else ()
    found = next(iter(by), None)
    return found is not None and "--no-install-recommends" in found.words


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
    if program == "venv" and re.search(r"conda|mamba|pyenv|Python-3|uv python|linuxbrew", text):
        return True
    if program == "pip" and re.search(r"get-pip|ensurepip|easy_install|pip\.pyz|-m pip", text):
        return True
    if re.match(r"(ln|cp|mv|install|update-alternatives|alias)\b", text) and re.search(rf"\b{program}\b", text):
        return True
    if program not in ("python", "pip") and _INSTALLS.search(text) and _names(text, program):
        return True
    return bool(_ELSEWHERE.search(text))


_INSTALLS = re.compile(
    r"^(\S*/)?(conda|mamba|micromamba|pip[\d.]*|python[\d.]* -m pip|uv|pixi|npm|brew|apk|yum|dnf)\b"
    r".*\b(install|create|update|add)\b"
    r"|\b(conda|mamba) env |^(\S*/)?(ba)?sh (?!-c)\S|^\./|^(source|\.) |^\S+\.sh\b"
)
_COMPILERS = ("gcc", "g++", "make")


def _names(text: str, program: str) -> bool:
    """Whether another installer may bring a program: it is named, a whole environment is made, a script is run."""
    if re.search(r"env (create|update)|--file|\.ya?ml|^\S+\.sh\b|^(\S*/)?(ba)?sh |^\./|^(source|\.) ", text):
        return True
    also = r"|compilers?|gxx|build|toolchain" if program in _COMPILERS else ""
    return bool(re.search(rf"(?<![\w/-]){re.escape(program)}(?![\w+-]){also}", text)) or "$" in text


_ELSEWHERE = re.compile(
    r"dpkg -i|apt-get build-dep|aptitude|xargs|tasksel|nala|brew |deborphan|equivs|--fix-broken|apt-get -f|nodesource"
)


def called(command: Command) -> str:
    """The program that a command calls, of those that are looked at; '' for others and where its failure is minded."""
    name = posixpath.basename(command.words[0]) if command.words else ""
    name = {"pip3": "pip", "apt-add-repository": "add-apt-repository"}.get(name, name)
    if re.match(r"python3(\.\d+)? -m venv (?!.*--without-pip)", command.text):
        name = "venv"
    elif command.text.startswith("git lfs "):
        name = "git-lfs"
    whole = "/" not in (command.words[0] if command.words else "")
    return name if whole and name in PACKAGES and command.then != "||" and not command.arms else ""
