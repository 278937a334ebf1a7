"""Install commands: what pip, uv, conda and apt put into an environment."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import msgspec

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import conda, requirements
from gpuwhy.lint.rules import names, pattern, table
from gpuwhy.lint.sheet import Command, Environment, Include, Index, Pin, Role, holds_only

_VALUED = names("installs.valued")
_CONDA_VALUED = names("installs.conda_valued")
_CONDAS = ("conda", "mamba", "micromamba")
_ARCHIVE = re.compile(r"onnxruntime-linux-x64-(?:gpu|gpu-cuda12|cuda12)-(\d+\.\d+\.\d+)\.tgz")


def take(stage: Environment, command: Command) -> None:
    """What a command installs, into the stage."""
    words, start = _pip(command)
    if words:
        _take_pip(stage, command, start)
        return
    name = command.words[0].rsplit("/", 1)[-1] if command.words else ""
    if name in _CONDAS:
        _conda_command(stage, command)
    elif name in ("wget", "curl", "aria2c", "ADD"):
        _take_archive(stage, command)
    elif name in ("apt-get", "apt", "apk", "dnf", "yum", "microdnf"):
        _take_apt(stage, command)


def _conda_command(stage: Environment, command: Command) -> None:
    made = _made_from(command)
    if made:
        place = Place(stage.path, command.lines[0])
        stage.conda_files.append(Include(_copied(stage, made), place, must=False))
    elif command.words[1:2] == ("config",) and "channels" in command.words[:-1]:
        named = command.words[command.words.index("channels") + 1]
        stage.channels += [named] if named not in stage.channels else []
    elif {"install", "create"} & set(command.words[1:4]):
        _take_conda(stage, command)


def _take_archive(stage: Environment, command: Command) -> None:
    """ONNX Runtime's C++ libraries, which open the same CUDA as the wheel of that release."""
    for word, line in zip(command.words, command.lines, strict=False):
        found = _ARCHIVE.search(word)
        if found and "cuda12" not in word:
            place = Place(stage.path, line)
            step = len(stage.commands)
            stage.pins.append(Pin("onnxruntime-gpu", place, f"=={found[1]}", step=step))


def _made_from(command: Command) -> str:
    """The file that `conda env create` or `update` is given; "" for every other command."""
    if not {"create", "update"} & set(command.words[1:4]):
        return ""
    for word, after in pairwise((*command.words, "")):
        option, _, value = word.partition("=")
        if option in ("-f", "--file") and (value or after).endswith((".yml", ".yaml")):
            return value or after
    return ""


def _copied(stage: Environment, path: str) -> str:
    """A file of the image as the build's folder has it."""
    name = posixpath.basename(path)
    return stage.copied.get(name, name if path.startswith("/") else path)


def _pip(command: Command) -> tuple[tuple[str, ...], int]:
    """The words after `install` of a pip or `uv pip` command, and where they begin."""
    words = command.words
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name in ("uv", "poetry") and "add" in words[1:2]:
        return words[2:] or ("",), 2
    at = _after_pip(name, words)
    if at < 0 or "install" not in words[at:]:
        return (), 0
    start = at + words[at:].index("install") + 1
    return words[start:] or ("",), start


def _after_pip(name: str, words: tuple[str, ...]) -> int:
    """Where the words of a call of pip begin, by whom it is called; -1 where it is none."""
    if re.fullmatch(r"pip[\d.]*|\$\{?PIP\d?\}?", name):
        return 1
    if re.fullmatch(r"python[\d.]*|\$\{?PYTHON\w*\}?", name):
        called = "pip" in words[1:5]
    elif name == "uv":
        called = "pip" in words[1:3]
    else:
        called = name in _CONDAS and "run" in words[1:2] and "pip" in words
    return words.index("pip") + 1 if called else -1


def _take_pip(stage: Environment, command: Command, start: int) -> None:
    indexes = _from_variables(stage, command)
    backend, found, step = "", [], len(stage.commands)
    files: list[Include] = []
    for word, value, place in _arguments(stage, command, start):
        if not word.startswith("-"):
            with suppress(requirements.BadRequirementError):
                found.append(requirements.requirement(word, place))
        elif word == "--torch-backend":
            backend = value if value != "auto" else "mixed"
        elif word in requirements.ROLES:
            indexes.append(Index(value, _role(word, command), place))
        else:
            files += _included(word, value, place)
    stage.other_index |= any(not holds_only(index.url) for index in indexes)
    for pin in found:
        backed = requirements.with_backend(pin, backend) if backend else pin
        placed = requirements.with_indexes(backed, tuple(indexes))
        stage.pins.append(msgspec.structs.replace(placed, arms=command.arms, step=step))
    for one in files:
        stage.includes.append(
            msgspec.structs.replace(
                one,
                path=stage.copied.get(posixpath.basename(one.path), one.path),
                backend=backend,
                indexes=tuple(indexes),
                arms=command.arms,
                step=step,
            )
        )


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


_NO_REQUIREMENT = re.compile(r"$|\.$|#|>|2>|[\d.]+$|.*\$")
"""No package: a folder, a redirection, the number of an option, a variable."""


def _role(option: str, command: Command) -> Role:
    """uv looks into an extra index first, and takes what it finds there."""
    role = requirements.ROLES[option]
    by_uv = command.words[0].rsplit("/", 1)[-1] == "uv"
    return "first" if role == "extra" and by_uv else role


def _from_variables(stage: Environment, command: Command) -> list[Index]:
    """Indexes that pip and uv take from variables."""
    known = {one.name: (one.value, one.place) for one in stage.variables.values()}
    here = Place(stage.path, command.line)
    known |= {name: (value, here) for name, value in command.assigned}
    out: list[Index] = []
    for name, role in _VARIABLES.items():
        value, place = known.get(name, ("", here))
        out += [Index(url, role, place) for url in value.split() if "$" not in url]
    return out


_VARIABLES: dict[str, Role] = table("installs.variables")
_OWN_FOLDER = pattern("installs.own_folder", re.IGNORECASE)
"""A variable in front of a path, which is often the folder of the script itself."""


def _included(option: str, value: str, place: Place) -> list[Include]:
    if option in ("-r", "--requirement", "-c", "--constraint"):
        path = _OWN_FOLDER.sub("", value)
        limits = option in ("-c", "--constraint")
        return [Include(path, place, limits, must=False)] if path and "$" not in path else []
    return [Include(option[2:], place, must=False)] if re.match(r"-r\S", option) else []


def _take_conda(stage: Environment, command: Command) -> None:
    words = command.words
    number = next(n for n, word in enumerate(words) if word in ("install", "create")) + 1
    named = (after for word, after in pairwise(words) if word in ("-c", "--channel"))
    stage.channels += [one for one in dict.fromkeys(named) if one not in stage.channels]
    while number < len(words):
        word, line = words[number], command.lines[number]
        number += 2 if word in _CONDA_VALUED else 1
        if not word.startswith("-") and "$" not in word and word not in (".", ""):
            before = len(stage.pins)
            conda.add(stage, word, line)
            stage.pins[before:] = [
                msgspec.structs.replace(pin, arms=command.arms, step=len(stage.commands))
                for pin in stage.pins[before:]
            ]


def _take_apt(stage: Environment, command: Command) -> None:
    if not {"install", "add"} & set(command.words):
        return
    at = next(n for n, word in enumerate(command.words) if word in ("install", "add"))
    for word, line in zip(command.words[at + 1 :], command.lines[at + 1 :], strict=True):
        if not word.startswith("-"):
            name, _, version = word.partition("=")
            stage.apt.setdefault(name.split("/")[0], line)
            if version:
                stage.apt_pinned[name] = version
