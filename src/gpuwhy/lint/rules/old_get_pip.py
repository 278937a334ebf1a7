"""get-pip.py of today under a Python that today's pip does not take."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import ended
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("old-get-pip", "error", "get-pip.py of today under a Python that today's pip does not take")

_FETCHED = re.compile(r"bootstrap\.pypa\.io/get-pip\.py")
_RUN = re.compile(r"(?:^|/)python(\d(?:\.\d+)?)?$")


def check(scope: Scope) -> Iterator[Mistake]:
    """The file without the folder of a Python, and the interpreter that runs it."""
    yield from _old_pip(scope)
    commands = scope.environment.commands
    fetched = next((c for c in commands if any(_FETCHED.search(word) for word in c.words)), None)
    if fetched is None:
        return
    for python in _running(scope):
        if not at_least(python, ended.PIP_FLOOR):
            at = next(n for n, word in enumerate(fetched.words) if _FETCHED.search(word))
            text = f"get-pip.py needs Python {ended.PIP_FLOOR} or newer; Python {python} runs it here, and it stops"
            fix = f"fetch https://bootstrap.pypa.io/pip/{python}/get-pip.py"
            yield RULE.mistake(Place(scope.environment.path, fetched.lines[at]), text, ended.GET_PIP, fix)
            return


def _running(scope: Scope) -> Iterator[str]:
    """The Pythons that run it, where it can be told."""
    for command in scope.environment.commands:
        words = [word for word in command.words if word != "sudo"]
        found = _RUN.search(words[0]) if words else None
        if found and (words[1:] in ([], ["-"]) or any(word.endswith("get-pip.py") for word in words[1:])):
            yield from _named(scope, found[1] or "")


def _named(scope: Scope, number: str) -> list[str]:
    """The Python that a command means: by its number, by what is known of the image, or none."""
    known = scope.environment.pythons
    if "." in number or number == "2":
        return ["2.7" if number == "2" else number]
    if len(known) == 1:
        return list(known)
    return [scope.base.distro_python] if number == "3" and not known and scope.base.distro_python else []


_XENIAL = source("pip 9.0 release notes", "pip minds Requires-Python since 9.0; Ubuntu 16.04 has pip 8.1.1")
_UPGRADES = re.compile(
    r"^(sudo )?(-\w+ )?(\S*/)?(pip[\d.]*|python\S* -m pip) install( -\S+)* "
    r"((-U|--upgrade)( -\S+)* pip( |$)|pip( -\S+)* (-U|--upgrade)( |$))"
)


def _old_pip(scope: Scope) -> Iterator[Mistake]:
    """pip install --upgrade pip with the pip of Ubuntu 16.04, which takes the newest whatever its Python is."""
    system = ended.system(scope.environment.image.text) if scope.environment.image else None
    by_apt = any(name in ("python-pip", "python3-pip") for name in scope.environment.apt)
    if system is None or system.family != "ubuntu" or system.release != "16.04" or not by_apt or _is_another(scope):
        return
    for command in scope.environment.commands:
        if _UPGRADES.match(command.text):
            text = (
                "pip 8.1 of Ubuntu 16.04 does not mind which Python a release is for: it takes today's pip and breaks"
            )
            fix = 'write pip install "pip<21" (Python 3.5), or start from a newer image'
            yield RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _XENIAL, fix)
            return


def _is_another(scope: Scope) -> bool:
    return any(re.search(r"conda|deadsnakes|pyenv|get-pip|virtualenv|venv", c.text) for c in scope.environment.commands)
