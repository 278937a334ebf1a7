"""Pythons: which one an environment has, by the project that it belongs to or the image that it starts from."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.knowledge import containers
from gpuwhy.lint.sheet import Environment, Read
from gpuwhy.lint.versions import pythons_in


def of_image(environment: Environment) -> None:
    """The Python of the image that a job or a service starts from, where nothing else says one."""
    base = containers.read(environment.image.text) if environment.image else None
    other = any(_ANOTHER.search(command.text) for command in environment.commands)
    if base and base.python and base.python != "2.7" and not environment.pythons and not other:
        environment.pythons, environment.python_from = (base.python,), f"image {base.name} holds Python {base.python}"


def of_distribution(environment: Environment) -> None:
    """The Python that apt brings into an image, where a script that it runs installs one."""
    base = containers.read(environment.image.text) if environment.image else None
    if base and base.distro_python:
        environment.pythons = (base.distro_python,)
        environment.python_from = f"apt brings Python {base.distro_python} into image {base.name}"


_ANOTHER = re.compile(r"conda|mamba|pyenv|uv (venv|python|sync|run)|virtualenv|apt(-get)? .*python|add_python")


def of_project(environment: Environment, read: Read) -> None:
    """The Pythons of the project that a requirements file belongs to, where its pyproject.toml names the oldest."""
    folder = posixpath.dirname(environment.path)
    for beside in dict.fromkeys((folder, posixpath.dirname(folder))):
        text = read(posixpath.join(beside, "pyproject.toml")) or ""
        found = re.search(r"^requires-python\s*=\s*[\"']([^\"']+)", text, re.MULTILINE)
        pythons = pythons_in(found[1]) if found else ()
        if found and pythons:
            environment.pythons, environment.python_from = pythons, f"requires-python {found[1]} in pyproject.toml"
        if text or _of_file(environment, beside, read):
            return


def _of_file(environment: Environment, folder: str, read: Read) -> bool:
    """The Python that .python-version (pyenv, uv) or runtime.txt (Heroku, Streamlit) names."""
    for name in (".python-version", "runtime.txt"):
        found = re.match(r"\s*(?:python-)?(3\.\d+)(\.\d+)?\s*$", read(posixpath.join(folder, name)) or "")
        if found:
            environment.pythons, environment.python_from = (found[1],), f"{name} names Python {found[1]}"
            return True
    return False


def is_second(environment: Environment) -> bool:
    """Whether a script or a Dockerfile makes an environment of Python 2."""
    assigned = (f"{name}={value}" for command in environment.commands for name, value in command.assigned)
    texts = (command.text for command in environment.commands)
    tagged = any(pin.tag.startswith(("cp2", "py2")) and "py3" not in pin.tag for pin in environment.pins)
    return tagged or any(map(_PYTHON_2.search, (*texts, *assigned)))


_PYTHON_2 = re.compile(r"(Mini|Ana)conda2\b|python[=-]{1,2}2\.7|\bpython2(\.7)?\b|\bpip2(\.7)?\b|py27\b|PYTHON\w*=2\.7")
