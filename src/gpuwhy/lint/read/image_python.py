"""Which Python the pip of a stage fills, by its image and its commands."""

from __future__ import annotations

import re

from gpuwhy.knowledge import images
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.sheet import Environment

_ANOTHER_CONDA = re.compile(
    r"(conda|mamba) (env )?create|conda env update|pyenv|virtualenv -p|Mini(conda|forge)3"
)
_MADE = re.compile(
    r"(conda|mamba) (env )?(create|update -f)|(conda|mamba) install[^;]*python[= ]|pyenv|venv"
)
_ITS_OWN_PIP = pattern("image_python.its_own_pip")
_BY_UV = pattern("image_python.by_uv")
_OTHER = re.compile(
    r"conda|mamba|pyenv|deadsnakes|Python-3|\buv\b|pixi|python_version", re.IGNORECASE
)
_OF_DISTRIBUTION = re.compile(r"(python3(-pip|-dev|-venv)?|pip)$|python3-pip")
_SECOND = pattern("image_python.second")


def of_stage(stage: Environment) -> None:
    """The Pythons that a stage may run its pip with; () where nobody can tell."""
    base = images.read(stage.image.text) if stage.image else images.Base("")
    texts = " ; ".join(command.text for command in stage.commands)
    named = _named(stage, texts)
    conda = re.search(r"((?:Mini|Ana)conda3|Miniforge3|Mambaforge)-([\w.]+)", texts)
    by_conda = images.installer_python(conda[1], conda[2]) if conda else ""
    if named:
        stage.pythons = (*named, base.python) if base.python else named
        stage.python_from = "the Dockerfile installs Python " + ", ".join(named)
    elif by_conda and not _MADE.search(texts):
        stage.pythons = (by_conda,)
        stage.python_from = f"the installer of conda brings Python {by_conda}"
    elif base.python and base.python != "2.7" and not _ANOTHER_CONDA.search(texts):
        stage.pythons = (base.python,)
        stage.python_from = f"image {base.name} holds Python {base.python}"
    elif any(map(_OF_DISTRIBUTION.match, stage.apt)) and not _OTHER.search(texts):
        stage.pythons = (base.distro_python,) if base.distro_python else ()
        stage.python_from = f"image {base.name} has Python {base.distro_python} as its python3"


def _named(stage: Environment, texts: str) -> tuple[str, ...]:
    """The Pythons that a stage installs by their numbers."""
    packages = set(re.findall(r"\bpython(3\.\d+)(?=-|\s|$)", " ".join(stage.apt)))
    if {"python3-pip", "pip"} & set(stage.apt) and not _ITS_OWN_PIP.search(texts):
        packages = set()  # the pip of the distribution fills its own Python
    return tuple(sorted(packages.union(_BY_UV.findall(texts))))


def is_second(environment: Environment) -> bool:
    """Whether a script or a Dockerfile makes an environment of Python 2."""
    assigned = (f"{name}={value}" for one in environment.commands for name, value in one.assigned)
    texts = (command.text for command in environment.commands)
    tags = [pin.tag for pin in environment.pins]
    tagged = any(tag.startswith(("cp2", "py2")) and "py3" not in tag for tag in tags)
    return tagged or any(map(_SECOND.search, (*texts, *assigned)))
