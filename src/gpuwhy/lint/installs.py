"""Install commands: what pip, uv, conda and apt put into an environment."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import msgspec

from gpuwhy.lint import conda, requirements
from gpuwhy.lint.sheet import Command, Environment, Include, Index, Pin, Role, Sheet, holds_only
from gpuwhy.model.lint import Place

_VALUED = frozenset(
    [
        "-e",
        "--editable",
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--platform",
        "--python-version",
        "--implementation",
        "--abi",
        "--upgrade-strategy",
        "--no-binary",
        "--only-binary",
        "--progress-bar",
        "--trusted-host",
        "--timeout",
        "--retries",
        "--cache-dir",
        "--proxy",
        "--python",
        "-p",
        "--config-settings",
        "--default-index",
        "--index",
        "--torch-backend",
        "--index-strategy",
        "--src",
        "--report",
        "--group",
        "--extra",
        "--exclude-newer",
        "--resolution",
        "--override",
        "--cert",
        "--global-option",
        "--install-option",
        "--use-feature",
        "--use-deprecated",
        "--log",
    ]
)
_CONDA_VALUED = frozenset(
    ["-n", "--name", "-p", "--prefix", "-c", "--channel", "-f", "--file", "--solver", "--platform", "--subdir"]
)


def take(stage: Environment, sheet: Sheet, command: Command) -> None:
    """What a command installs, into the stage."""
    words, start = _pip(command)
    if words:
        _take_pip(stage, command, start)
        return
    name = command.words[0].rsplit("/", 1)[-1] if command.words else ""
    if name in ("conda", "mamba", "micromamba") and (made := _made_from(command)):
        stage.conda_files.append(Include(_copied(stage, made), Place(stage.path, command.lines[0]), must=False))
    elif name in ("conda", "mamba") and command.words[1:2] == ("config",) and "channels" in command.words[:-1]:
        named = command.words[command.words.index("channels") + 1]
        stage.channels += [named] if named not in stage.channels else []
    elif name in ("conda", "mamba", "micromamba") and {"install", "create"} & set(command.words[1:4]):
        _take_conda(stage, command)
    elif name in ("wget", "curl", "aria2c", "ADD"):
        _take_archive(stage, command)
    elif name in ("apt-get", "apt", "apk", "dnf", "yum", "microdnf") and {"install", "add"} & set(command.words):
        _take_apt(stage, command)


_ARCHIVE = re.compile(r"onnxruntime-linux-x64-(?:gpu|gpu-cuda12|cuda12)-(\d+\.\d+\.\d+)\.tgz")


def _take_archive(stage: Environment, command: Command) -> None:
    """ONNX Runtime's C++ libraries, which open the same CUDA as the wheel of that release."""
    for word, line in zip(command.words, command.lines, strict=False):
        found = _ARCHIVE.search(word)
        if found and "cuda12" not in word:
            place = Place(stage.path, line)
            stage.pins.append(Pin("onnxruntime-gpu", place, f"=={found[1]}", step=len(stage.commands)))


def _made_from(command: Command) -> str:
    """The file that `conda env create` or `update` is given; '' for every other command."""
    if not {"create", "update"} & set(command.words[1:4]):
        return ""
    for word, after in pairwise((*command.words, "")):
        option, _, value = word.partition("=")
        if option in ("-f", "--file") and (value or after).endswith((".yml", ".yaml")):
            return value or after
    return ""


def _copied(stage: Environment, path: str) -> str:
    """A file of the image as the build's folder has it."""
    return stage.copied.get(posixpath.basename(path), posixpath.basename(path) if path.startswith("/") else path)


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
        called = name in ("conda", "mamba", "micromamba") and "run" in words[1:2] and "pip" in words
    return words.index("pip") + 1 if called else -1


def _take_pip(stage: Environment, command: Command, start: int) -> None:
    indexes = _from_variables(stage, command)
    backend, found = "", []
    files: list[Include] = []
    for word, value, place in _arguments(stage, command, start):
        if not word.startswith("-"):
            with suppress(requirements.BadRequirementError):
                found.append(requirements.requirement(word, place))
            continue
        backend = _option(word, value, files, place) or backend
        if word in requirements.ROLES:
            indexes.append(Index(value, _role(word, command), place))
    stage.other_index = stage.other_index or any(not holds_only(index.url) for index in indexes)
    for pin in found:
        placed = requirements.with_indexes(requirements.with_backend(pin, backend) if backend else pin, tuple(indexes))
        stage.pins.append(msgspec.structs.replace(placed, arms=command.arms, step=len(stage.commands)))
    for one in files:
        path = stage.copied.get(posixpath.basename(one.path), one.path)
        stage.includes.append(
            Include(path, one.place, one.limits, backend, one.must, tuple(indexes), command.arms, len(stage.commands))
        )


def _arguments(stage: Environment, command: Command, start: int) -> Iterator[tuple[str, str, Place]]:
    """Each option with its value, and each requirement, with its line."""
    words = iter(list(zip(command.words, command.lines, strict=False))[start:])
    for word, line in words:
        place = Place(stage.path, line)
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            yield option, next(words, ("", 0))[0] if not equals and option in _VALUED else value, place
        elif not _NO_REQUIREMENT.match(word):
            yield word, "", place


_NO_REQUIREMENT = re.compile(r"$|\.$|#|>|2>|[\d.]+$|.*\$")
"""What stands in a command and is no package: a folder, a redirection, the number of an option, a variable."""


def _role(option: str, command: Command) -> Role:
    """uv looks into an extra index first, and takes what it finds there."""
    role = requirements.ROLES[option]
    return "first" if role == "extra" and command.words and command.words[0].rsplit("/", 1)[-1] == "uv" else role


def _from_variables(stage: Environment, command: Command) -> list[Index]:
    """Indexes that pip and uv take from variables."""
    known = {variable.name: (variable.value, variable.place) for variable in stage.variables.values()}
    line = command.lines[0] if command.lines else 0
    known |= {name: (value, Place(stage.path, line)) for name, value in command.assigned}
    out: list[Index] = []
    for name, role in _VARIABLES.items():
        value, place = known.get(name, ("", Place(stage.path, line)))
        out += [Index(url, role, place) for url in value.split() if "$" not in url]
    return out


_OWN_FOLDER = re.compile(
    r"^(\$\{?\w*(DIR|ROOT|HOME|PATH|FOLDER|PWD|BASE)\w*\}?|\$\(\s*(cd|dirname|pwd|realpath|readlink)\b.*\))/",
    re.IGNORECASE,
)
"""A variable in front of a path, which is often the folder of the script itself; where it is not, nothing is found."""

_VARIABLES: dict[str, Role] = {
    "PIP_INDEX_URL": "only", "PIP_EXTRA_INDEX_URL": "extra", "PIP_FIND_LINKS": "links",
    "UV_INDEX_URL": "only", "UV_DEFAULT_INDEX": "only", "UV_EXTRA_INDEX_URL": "first", "UV_INDEX": "first",
}  # fmt: skip


def _option(option: str, value: str, files: list[Include], place: Place) -> str:
    """Remember included files; the build that an index option stands for."""
    if option in ("-r", "--requirement", "-c", "--constraint"):
        value = _OWN_FOLDER.sub("", value)
        if "$" not in value and value:
            files.append(Include(value, place, option in ("-c", "--constraint"), must=False))
    elif re.match(r"-r\S", option):
        files.append(Include(option[2:], place, must=False))
    elif option == "--torch-backend":
        return value if value != "auto" else "mixed"
    return ""


def _take_conda(stage: Environment, command: Command) -> None:
    number = next(n for n, word in enumerate(command.words) if word in ("install", "create")) + 1
    stage.channels += [b for a, b in pairwise(command.words) if a in ("-c", "--channel") and b not in stage.channels]
    while number < len(command.words):
        word, line = command.words[number], command.lines[number]
        number += 2 if word in _CONDA_VALUED else 1
        if not word.startswith("-") and "$" not in word and word not in (".", ""):
            before = len(stage.pins)
            conda.add(stage, word, line)
            stage.pins[before:] = [msgspec.structs.replace(pin, arms=command.arms) for pin in stage.pins[before:]]


def _take_apt(stage: Environment, command: Command) -> None:
    at = next(n for n, word in enumerate(command.words) if word in ("install", "add"))
    for word, line in zip(command.words[at + 1 :], command.lines[at + 1 :], strict=True):
        if not word.startswith("-"):
            stage.apt.setdefault(word.split("=")[0].split("/")[0], line)
            if "=" in word:
                stage.apt_pinned[word.split("=")[0]] = word.partition("=")[2]
