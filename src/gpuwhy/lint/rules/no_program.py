"""A program that the image does not have when a command needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from gpuwhy.knowledge import image_programs, source_builds
from gpuwhy.lint import programs
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Pin
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("no-program", "error", "a program that the image does not have when a command needs it")

_PACKAGE = {
    "pip": "python3-pip", "python": "python-is-python3", "venv": "python3-venv", "make": "build-essential",
    "gcc": "build-essential", "g++": "build-essential", "add-apt-repository": "software-properties-common",
}  # fmt: skip
_GIT = re.compile(r"^(?![ \t]*#)[^#\n]*git\+(https?|ssh|git)://", re.MULTILINE)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first command for each program that is missing; `python` also where the container starts with it."""
    lacks = programs.lacking(scope)
    if not lacks or not scope.for_gpus:
        return
    yield from _told_once(scope, lacks)
    yield from _health(scope, lacks)
    yield from _ffmpeg(scope, lacks)
    yield from _compiler(scope, lacks)


def _told_once(scope: Scope, lacks: frozenset[str]) -> Iterator[Mistake]:
    told: set[str] = set()
    for name, line, by in _needs(scope):
        if name not in lacks or name in {*told, *scope.names} or programs.brought(scope.environment, name, line):
            continue
        if name == "python" and not _only_third(scope):
            continue
        told.add(name)
        yield _mistake(scope, name, line, by)


def _needs(scope: Scope) -> Iterator[tuple[str, int, str]]:
    """What commands, starts and files of requirements need, with the line and, where it is another, who needs it."""
    stage = scope.environment
    for command in chain(stage.commands, stage.starts if stage.runs else ()):
        yield from _of_command(command)
    for path, place in stage.through.items():
        if place.path == stage.path and path.endswith((".txt", ".in")) and _GIT.search(scope.read(path) or ""):
            yield "git", place.line, f" (pip fetches what {path.rsplit('/', 1)[-1]} names by git+https with it)"


def _of_command(command: Command) -> Iterator[tuple[str, int, str]]:
    if command.by_sudo and command.then != "||" and not command.arms:
        yield "sudo", (*command.lines, command.set_on)[0], ""
    name = programs.called(command)
    git = name == "pip" and re.search(r" install .*git\+(https|ssh|git)", command.text)
    if name:
        yield "git" if git else name, command.lines[0], " (pip fetches git+https with it)" if git else ""


def _mistake(scope: Scope, name: str, line: int, by: str) -> Mistake:
    why = "; its Python is called python3" if name == "python" else ""
    what = "venv module (ensurepip is a package of its own)" if name == "venv" else name
    text = f"image {scope.base.name} has no {what}{by}, and nothing installs it before{why}"
    fix = "write python3" if name == "python" else f"apt-get install {_PACKAGE.get(name, name)} first"
    fix = "leave sudo out: a build runs as root" if name == "sudo" else fix
    return RULE.mistake(Place(scope.environment.path, line), text, image_programs.KNOW, fix)


def _health(scope: Scope, lacks: frozenset[str]) -> Iterator[Mistake]:
    """A health check by a program that the image never gets: it fails each time."""
    stage = scope.environment
    command = stage.health[0] if stage.health and stage.health[0].words else None
    name = command.words[0] if command else ""
    missing = stage.runs and name in ("curl", "wget") and name in lacks and not programs.brought(stage, name, _END)
    if command and missing:
        text = f"image {scope.base.name} has no {name}, and nothing installs it: the health check always fails"
        fix = f"apt-get install {name}, or ask with Python's urllib.request"
        yield RULE.mistake(Place(stage.path, command.lines[0]), text, image_programs.KNOW, fix, "warning")


_END = 10**9
"""A line behind the last one."""
_STARTS_FFMPEG = {"openai-whisper": "whisper", "whisperx": "whisperx"}


def _ffmpeg(scope: Scope, lacks: frozenset[str]) -> Iterator[Mistake]:
    """A package that starts ffmpeg for every file that it reads, where a program imports it."""
    stage = scope.environment
    if "ffmpeg" not in lacks or not stage.runs or programs.brought(stage, "ffmpeg", _END):
        return
    for pin in scope.pins:
        module = _STARTS_FFMPEG.get(pin.name, "")
        if module and not pin.arms and scope.repository.imports(module) and "static-ffmpeg" not in scope.names:
            text = f"{pin.name} reads audio by the program ffmpeg, and image {scope.base.name} has none"
            yield RULE.mistake(pin.place, text, image_programs.FFMPEG, "apt-get install ffmpeg")
            return


def _compiler(scope: Scope, lacks: frozenset[str]) -> Iterator[Mistake]:
    """The first package that pip has to compile, where the image has no compiler."""
    stage = scope.environment
    for pin in scope.pins if "gcc" in lacks else ():
        name, compiler = _built(scope, pin)
        line = stage.through[pin.place.path].line if pin.place.path in stage.through else pin.place.line
        if name and not programs.brought(stage, compiler, line):
            by = "" if name == pin.name else f", which asks for {name}"
            text = f"{pin.name}{by}: pip has to compile it, and image {scope.base.name} has no {compiler}"
            fix = "apt-get install build-essential first"
            yield RULE.mistake(pin.place, text, source_builds.SOURCES_ONLY, fix)
            return


def _built(scope: Scope, pin: Pin) -> tuple[str, str]:
    """What of a pin and of what it asks for is compiled, and by what; '' where nothing is."""
    if not pin.installed or pin.arms or pin.indexes or pin.marker or scope.environment.other_index:
        return "", ""
    brought = {*scope.asks(pin), source_builds.ASKING.get(pin.name, "")} - scope.names.keys()
    for name, version in ((pin.name, pin.version), *((one, "") for one in sorted(brought))):
        until, compiler = source_builds.COMPILED.get(name, ("0", ""))
        if compiler and (not until or (version and not at_least(version, until))):
            return name, compiler
    return "", ""


def _only_third(scope: Scope) -> bool:
    """Whether the distribution has no `python` unless a package of that name is asked for."""
    there = any(re.match(r"python3(\.\d+)?(-|$)|python3$", name) for name in scope.environment.apt)
    return there and at_least(scope.base.distro_python, "3.8")
