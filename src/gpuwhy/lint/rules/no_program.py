"""A program that the image does not have when a command needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint import programs
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("no-program", "error", "a program that the image does not have when a command needs it")

_KNOW = source("the Dockerfiles of the public images", "what they install beside CUDA and Python")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first command for each program that is missing; `python` also where the container starts with it."""
    lacks = programs.lacking(scope)
    if not lacks or not scope.for_gpus:
        return
    told: set[str] = set()
    for command in [*scope.environment.commands, *_started(scope)]:
        name = _needed(command)
        if name not in lacks or name in told or programs.brought(scope.environment, name, command.lines[0]):
            continue
        if name == "python" and not _only_third(scope):
            continue
        told.add(name)
        yield _mistake(scope, command, name)


def _mistake(scope: Scope, command: Command, name: str) -> Mistake:
    why = "; its Python is called python3" if name == "python" else ""
    by = " (pip fetches git+https with it)" if name == "git" and command.words[0] != "git" else ""
    text = f"image {scope.base.name} has no {name}{by}, and nothing installs it before{why}"
    package = {"pip": "python3-pip", "python": "python-is-python3"}.get(name, name)
    fix = "write python3" if name == "python" else f"apt-get install {package} first"
    return RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _KNOW, fix)


def _started(scope: Scope) -> list[Command]:
    return scope.environment.starts if scope.environment.runs else []


def _needed(command: Command) -> str:
    """The program that a command needs: itself, or git for what pip fetches."""
    found = programs.called(command)
    if found == "pip" and re.search(r" install .*git\+(https|ssh|git)", command.text):
        return "git"
    return found


def _only_third(scope: Scope) -> bool:
    """Whether the distribution has no `python` unless a package of that name is asked for."""
    there = any(re.match(r"python3(\.\d+)?(-|$)|python3$", name) for name in scope.environment.apt)
    return there and at_least(scope.base.distro_python, "3.8")
