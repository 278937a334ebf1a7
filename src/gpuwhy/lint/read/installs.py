"""Install commands: what pip, uv, conda and apt put into an environment."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from msgspec.structs import replace

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import conda, requirements
from gpuwhy.lint.rules import names, pattern, table
from gpuwhy.lint.sheet import Command, Environment, Include, Index, Role, holds_only

_VALUED = names("installs.valued")
_CONDA_VALUED = names("installs.conda_valued")
_CONDAS = ("conda", "mamba", "micromamba")
_VARIABLES: dict[str, Role] = table("installs.variables")
_OWN_FOLDER = pattern("installs.own_folder", re.IGNORECASE)
"""A variable in front of a path, which is often the folder of the script itself."""
_NO_REQUIREMENT = re.compile(r"$|\.$|#|>|2>|[\d.]+$|.*\$")
"""No package: a folder, a redirection, the number of an option, a variable."""


def take(stage: Environment, command: Command) -> None:
    """What a command installs, into the stage."""
    start = _after_install(command.words)
    name = command.words[0].rsplit("/", 1)[-1] if command.words else ""
    if start:
        _take_pip(stage, command, start)
    elif name in _CONDAS:
        _take_conda(stage, command)
    elif name in ("apt-get", "apt", "apk", "dnf", "yum", "microdnf"):
        _take_apt(stage, command)


def _after_install(words: tuple[str, ...]) -> int:
    """Where the words after `install` of a pip or `uv pip` command begin; 0 where it is none."""
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name in ("uv", "poetry") and "add" in words[1:2]:
        return 2
    if re.fullmatch(r"pip[\d.]*|\$\{?PIP\d?\}?", name):
        called = 1
    elif re.fullmatch(r"python[\d.]*|\$\{?PYTHON\w*\}?", name):
        called = words.index("pip") + 1 if "pip" in words[1:5] else 0
    elif name == "uv" or (name in _CONDAS and "run" in words[1:2]):
        called = words.index("pip") + 1 if "pip" in words[1 : 3 if name == "uv" else None] else 0
    else:
        called = 0
    return words.index("install", called) + 1 if called and "install" in words[called:] else 0


def _take_pip(stage: Environment, command: Command, start: int) -> None:
    indexes = _from_variables(stage, command)
    backend, found, files = "", [], []
    for word, value, place in _arguments(stage, command, start):
        if not word.startswith("-"):
            with suppress(requirements.BadRequirementError):
                found.append(requirements.requirement(word, place))
        elif word == "--torch-backend":
            backend = value if value != "auto" else "mixed"
        elif word in requirements.ROLES:
            indexes.append(Index(value, _role(word, command), place))
        else:
            files += _included(stage, word, value, place)
    stage.other_index |= any(not holds_only(index.url) for index in indexes)
    asked, arms, step = tuple(indexes), command.arms, len(stage.commands)
    for pin in found:
        placed = requirements.with_indexes(requirements.with_backend(pin, backend), asked)
        stage.pins.append(replace(placed, arms=arms, step=step))
    stage.includes += [
        replace(one, backend=backend, indexes=asked, arms=arms, step=step) for one in files
    ]


def _arguments(
    stage: Environment, command: Command, start: int
) -> Iterator[tuple[str, str, Place]]:
    """Each option with its value, and each requirement, with its line."""
    words = iter(list(zip(command.words, command.lines, strict=False))[start:])
    for word, line in words:
        place = Place(stage.path, line)
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            valued = not equals and option in _VALUED
            yield option, next(words, ("", 0))[0] if valued else value, place
        elif not _NO_REQUIREMENT.match(word):
            yield word, "", place


def _role(option: str, command: Command) -> Role:
    """uv looks into an extra index first, and takes what it finds there."""
    role = requirements.ROLES[option]
    by_uv = command.words[0].rsplit("/", 1)[-1] == "uv"
    return "first" if role == "extra" and by_uv else role


def _from_variables(stage: Environment, command: Command) -> list[Index]:
    """Indexes that pip and uv take from variables."""
    here = Place(stage.path, command.line)
    known = {one.name: (one.value, one.place) for one in stage.variables.values()}
    known |= {name: (value, here) for name, value in command.assigned}
    named = ((known[name], role) for name, role in _VARIABLES.items() if name in known)
    return [
        Index(url, role, place)
        for (value, place), role in named
        for url in value.split()
        if "$" not in url
    ]


def _included(stage: Environment, option: str, value: str, place: Place) -> list[Include]:
    if re.match(r"-r\S", option):
        option, value = "-r", option[2:]
    path = _OWN_FOLDER.sub("", value)
    if option not in ("-r", "--requirement", "-c", "--constraint") or not path or "$" in path:
        return []
    path = stage.copied.get(posixpath.basename(path), path)
    return [Include(path, place, option in ("-c", "--constraint"), must=False)]


def _take_conda(stage: Environment, command: Command) -> None:
    words = command.words
    name = next((one for one in words[1:4] if one in ("install", "create", "update")), "")
    if words[1:2] == ("config",) and "channels" in words[:-1]:
        named = [words[words.index("channels") + 1]]
    else:
        named = [after for word, after in pairwise(words) if word in ("-c", "--channel") and name]
    stage.channels += [one for one in dict.fromkeys(named) if one not in stage.channels]
    number = words.index(name) + 1 if name in ("install", "create") else len(words)
    before = len(stage.pins)
    while number < len(words):
        word, line = words[number], command.lines[number]
        number += 2 if word in _CONDA_VALUED else 1
        if not word.startswith("-") and "$" not in word and word not in (".", ""):
            conda.add(stage, word, line)
    arms, step = command.arms, len(stage.commands)
    stage.pins[before:] = [replace(pin, arms=arms, step=step) for pin in stage.pins[before:]]


def _take_apt(stage: Environment, command: Command) -> None:
    words = list(zip(command.words, command.lines, strict=False))
    at = next((n for n, (word, _) in enumerate(words) if word in ("install", "add")), len(words))
    for word, line in words[at + 1 :]:
        if not word.startswith("-"):
            stage.apt.setdefault(re.split("[=/]", word)[0], line)
