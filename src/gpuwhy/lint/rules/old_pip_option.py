"""An option of pip that the pip of today does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule, Severity
from gpuwhy.model.version import at_least

RULE = Rule("old-pip-option", "error", "an option of pip that the pip of today does not have")

_NEWS = source("pip's changelog", "--install-option left with 23.1, --global-option and --build-option with 25.3")
_GONE = {
    "--install-option": ("23.1", "--config-settings"),
    "--global-option": (
        "25.3",
        "--config-settings, or the project's own variables (of Apex APEX_CPP_EXT=1 APEX_CUDA_EXT=1)",
    ),
    "--build-option": ("25.3", "--config-settings"),
    "--no-use-pep517": ("25.3", "nothing: leave it out"),
    "--process-dependency-links": ("19.0", "the address itself: name @ https://…"),
    "--use-mirrors": ("7.0", "nothing: leave it out"),
}
"""An option, the first release of pip without it, and what to write instead."""
_PIP = re.compile(r"(^|\s)(\S*/)?(pip[\d.]*|-m pip) (install|wheel|download)\s")
_RENEWED = re.compile(
    r"get-pip\.py|pip[\d.]* install( \S+)* (-U|--upgrade)( \S+)* pip( |$)|pip install( \S+)* pip (-U|--upgrade)"
)
_TOLD_OLD = re.compile(r"pip[\"']?(==|<)|pip3? --version|pip\._internal")


_HOSTED = re.compile(r"(^|[^a-z])(colab|kaggle|sagemaker|databricks)([^a-z]|$)")
"""Machines of others, by a file's path, which keep a pip of their own."""


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such command of an environment, where the pip is not known to be older."""
    commands = scope.environment.commands
    if any(_TOLD_OLD.search(command.text) for command in commands) or _HOSTED.search(scope.environment.path.lower()):
        return
    for number, command in enumerate(commands):
        option = next((one for one in _GONE if re.search(rf" {one}\b", command.text)), "")
        if option and _PIP.search(command.text) and not command.arms:
            severity = _severity(scope, commands[:number], _GONE[option][0])
            if severity:
                yield _mistake(scope, command, option, severity)
            return


def _severity(scope: Scope, before: list[Command], since: str) -> Severity | None:
    """How sure it is that pip is a newer one: renewed before, or by the Python; None where an image has its own."""
    pythons = scope.environment.pythons
    if since == "25.3" and any(not at_least(python, "3.9") for python in pythons):
        return None  # pip 25.3 takes no such Python, so an older one is there
    if any(_RENEWED.search(command.text) for command in before):
        return "error"
    if pythons and all(at_least(python, "3.12") for python in pythons) and since != "25.3":
        return "error"
    return "warning" if scope.kind in ("script", "makefile", "notebook", "skypilot") else None


def _mistake(scope: Scope, command: Command, option: str, severity: Severity) -> Mistake:
    since, instead = _GONE[option]
    at = next((n for n, word in enumerate(command.words) if word.startswith(option)), 0)
    text = f"pip {since} and newer have no {option}: the command stops with `no such option`"
    place = Place(scope.environment.path, command.lines[at])
    return RULE.mistake(place, text, _NEWS, f'write {instead}, or install "pip<{since}" first', severity)
