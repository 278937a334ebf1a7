"""A command that needs root, after USER has named somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("no-root", "error", "a command that needs root, after USER has named somebody else")

_KNOW = source("Dockerfile reference, USER; apt-get(8)", "RUN goes as that user; apt says: are you root?")


_NEEDS_ROOT = re.compile(r"(/usr/bin/)?(apt|apt-get|yum|dnf|apk)( -\S+)* (install|update|upgrade|add|autoremove)\b")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first one of a stage."""
    stage = scope.environment
    for at, command in enumerate(stage.commands if stage.users else ()):
        user = next((name for before, name in reversed(stage.users) if before <= at), "")
        if _is_plain(user) and _NEEDS_ROOT.match(command.text) and not _is_lent(scope, command.lines[0]):
            text = f"`{command.text[:50].rstrip()}` runs as {user}, who may not: only root installs a system's packages"
            place = Place(stage.path, command.lines[0])
            yield RULE.mistake(place, text, _KNOW, "write USER root before it, and USER again after it")
            return


def _is_lent(scope: Scope, line: int) -> bool:
    """Whether the line of a command, or the one before it, calls sudo or the like."""
    near = (scope.read(scope.environment.path) or "").split("\n")[max(0, line - 2) : line]
    return not near or any(re.search(r"\b(sudo|su|gosu|doas|fakeroot)\b", one) for one in near)


def _is_plain(user: str) -> bool:
    """Whether USER names somebody who is not root, as far as that can be told."""
    name = user.partition(":")[0].strip("\"'")
    return bool(name) and name not in ("root", "0") and "$" not in name
