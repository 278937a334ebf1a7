"""Pythons of a stage: which one the pip of a Dockerfile's stage fills, by its image and its commands."""

from __future__ import annotations

import re

from gpuwhy.knowledge import containers, held
from gpuwhy.lint.sheet import Environment


def tell(stage: Environment) -> None:
    """The Pythons that a stage may run its pip with; () where it cannot be told."""
    base = containers.read(stage.image.text) if stage.image else containers.Base("")
    texts = " ; ".join(command.text for command in stage.commands)
    named = _named_pythons(stage, texts)
    if named:
        stage.pythons = (*named, base.python) if base.python else named
        stage.python_from = "the Dockerfile installs Python " + ", ".join(named)
    elif by_conda := _python_of_conda(texts):
        stage.pythons, stage.python_from = (by_conda,), f"the installer of conda brings Python {by_conda}"
    elif base.python and base.python != "2.7" and not re.search(_ANOTHER_CONDA, texts):
        stage.pythons, stage.python_from = (base.python,), f"image {base.name} holds Python {base.python}"
    elif base.distro_python and not _OTHER_PYTHON.search(texts) and any(map(_DISTRO_PYTHON.match, stage.apt)):
        text = f"image {base.name} has Python {base.distro_python} as its python3"
        stage.pythons, stage.python_from = (base.distro_python,), text


_ANOTHER_CONDA = r"conda (env )?create|mamba (env )?create|conda env update|pyenv|virtualenv -p|Mini(conda|forge)3"


def _python_of_conda(texts: str) -> str:
    """The Python of the base environment, where an installer of conda is fetched and no other environment is made."""
    found = re.search(r"((?:Mini|Ana)conda3|Miniforge3|Mambaforge)-([\w.]+)", texts)
    other = re.search(r"(conda|mamba) (env )?(create|update -f)|(conda|mamba) install[^;]*python[= ]|pyenv|venv", texts)
    return held.installer_python(found[1], found[2]) if found and not other else ""


def _named_pythons(stage: Environment, texts: str) -> tuple[str, ...]:
    """The Pythons that a stage installs by their numbers."""
    packages = {found[1] for found in map(_PYTHON_PACKAGE.match, stage.apt) if found}
    if "python3-pip" in stage.apt and not _ITS_OWN_PIP.search(texts):
        packages = set()  # the pip of the distribution fills its own Python, whatever lies beside it
    return tuple(sorted(packages.union(_PYTHON_BY_UV.findall(texts))))


_ITS_OWN_PIP = re.compile(
    r"(^|; )python3\.\d+ |python3\.\d+ -m|get-pip|ensurepip|update-alternatives|\bln -|\bcp /|\bmv "
    r"|venv|\buv\b|pyenv|conda|mamba|pip3\.\d+|alias"
)
_PYTHON_PACKAGE = re.compile(r"python(3\.\d+)(-|$)")
_PYTHON_BY_UV = re.compile(
    r"(?:uv (?:venv|python install|sync|run)[^;]*?(?:--python|-p|install)[= ]|python=|pyenv global )(3\.\d+)"
)
_OTHER_PYTHON = re.compile(r"conda|mamba|pyenv|deadsnakes|Python-3|\buv\b|pixi|python_version", re.I)
_DISTRO_PYTHON = re.compile(r"python3(-pip|-dev|-venv)?$|python3-pip")
