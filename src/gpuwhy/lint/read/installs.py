"""Install commands: what pip, uv, conda and apt put into an environment."""

import posixpath
import re
from contextlib import suppress
from itertools import pairwise

from msgspec.structs import replace

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import conda, requirements
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.sheet import Command, Environment, Include, Index, Role, holds_only

_VALUED = table("installs.valued")
_CONDA_VALUED = table("installs.conda_valued")
_CONDAS = ("conda", "mamba", "micromamba")
_VARIABLES: dict[str, Role] = table("installs.variables")
_OWN_FOLDER = pattern("installs.own_folder", re.IGNORECASE)
"""A variable in front of a path, which is often the folder of the script itself."""
_NO_REQUIREMENT = re.compile(r"$|\.$|#|>|2>|[\d.]+$|.*\$")
"""No package: a folder, a redirection, the number of an option, a variable."""


def take(stage: Environment, command: Command) -> None:
    """A command, and what it installs, into the stage."""
    stage.commands.append(command)
    start = _after_install(command.words)
    name = command.words[0].rsplit("/", 1)[-1] if command.words else ""
    before, step = len(stage.pins), len(stage.commands)
    if not command.sure and (start or name in _CONDAS):
        stage.includes_unknown = True
    elif start:
        _take_pip(stage, command, start)
    elif name in _CONDAS:
        _take_conda(stage, command)
    elif name in ("apt-get", "apt", "apk", "dnf", "yum", "microdnf"):
        words = iter(zip(command.words, command.lines, strict=True))
        for word, _ in words:
            if word in ("install", "add"):
                break
        for word, line in words:
            if not word.startswith("-"):
                stage.apt.setdefault(re.split("[=/]", word)[0], line)
    stage.pins[before:] = [replace(pin, step=step) for pin in stage.pins[before:]]


def _after_install(words: tuple[str, ...]) -> int:
    """Where the words after `install` of a pip or `uv pip` command begin; 0 where it is none."""
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name in ("uv", "poetry") and "add" in words[1:2]:
        return 2
    called = 0
    if re.fullmatch(r"pip[\d.]*|\$\{?PIP\d?\}?", name):
        called = 1
    by_python = re.fullmatch(r"python[\d.]*|\$\{?PYTHON\w*\}?", name) and "pip" in words[1:5]
    by_uv = name == "uv" and "pip" in words[1:3]
    by_conda = name in _CONDAS and "run" in words[1:2] and "pip" in words
    if by_python or by_uv or by_conda:
        called = words.index("pip") + 1
    return words.index("install", called) + 1 if called and "install" in words[called:] else 0


def _take_pip(stage: Environment, command: Command, start: int) -> None:
    """The requirements of a pip command, its indexes and the files that it names."""
    here = Place(stage.path, command.line)
    known = {name: (one.text, one.place) for name, one in stage.variables.items()}
    known |= {name: (value, here) for name, value in command.assigned}
    indexes = []
    for name, role in _VARIABLES.items():
        value, place = known.get(name, ("", here))
        indexes += [Index(url, role, place) for url in value.split() if "$" not in url]
    backend, found, files = "", [], []
    words = iter(zip(command.words[start:], command.lines[start:], strict=True))
    for word, line in words:
        place = Place(stage.path, line)
        if not word.startswith("-"):
            with suppress(requirements.BadRequirementError):
                if not _NO_REQUIREMENT.match(word):
                    found.append(requirements.requirement(word, place))
            continue
        option, equals, value = word.partition("=")
        if not equals and option in _VALUED:
            value = next(words, ("", 0))[0]
        if option == "--torch-backend":
            backend = value if value != "auto" else "mixed"
        elif option in requirements.ROLES:
            role = requirements.ROLES[option]
            by_uv = command.words[0].rsplit("/", 1)[-1] == "uv"  # looks into an extra one first
            indexes.append(Index(value, "first" if role == "extra" and by_uv else role, place))
        else:
            files += _included(stage, option, value, place)
    stage.other_index |= any(not holds_only(index.url) for index in indexes)
    asked, step = tuple(indexes), len(stage.commands)
    for pin in found:
        stage.pins.append(requirements.with_indexes(requirements.with_backend(pin, backend), asked))
    for one in files:
        stage.includes.append(replace(one, backend=backend, indexes=asked, step=step))


def _included(stage: Environment, option: str, value: str, place: Place) -> list[Include]:
    if re.match(r"-r\S", option):
        option, value = "-r", option[2:]
    path = _OWN_FOLDER.sub("", value)
    if option not in ("-r", "--requirement", "-c", "--constraint") or not path or "$" in path:
        return []
    path = stage.copied.get(posixpath.basename(path), path.lstrip("/"))
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
    while number < len(words):
        word, line = words[number], command.lines[number]
        number += 2 if word in _CONDA_VALUED else 1
        if not word.startswith("-") and "$" not in word and word not in (".", ""):
            conda.add(stage, word, line)
