"""A version bound without quotes, which the shell takes for a redirection."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("unquoted-bound", "warning", "a version bound without quotes, which the shell takes for a redirection")

_KNOW = source("POSIX shell command language, redirection", "> writes a file, < reads one")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such word of each command that installs packages."""
    for command in scope.environment.commands if scope.for_gpus else ():
        if command.redirected and _installs(command):
            yield _mistake(scope, command)


def _installs(command: Command) -> bool:
    words = command.words[:6]
    return bool({"install", "add", "create"} & set(words)) and any(
        "pip" in w or w in ("uv", "conda", "mamba") for w in words
    )


def _mistake(scope: Scope, command: Command) -> Mistake:
    word, line = command.redirected[0]
    more = f", as {len(command.redirected) - 1} more here" if len(command.redirected) > 1 else ""
    if "<" in word and ">" not in word:
        said = f"{word}: the shell reads a file for <, which is not there: the command fails{more}"
        return RULE.mistake(Place(scope.environment.path, line), said, _KNOW, f'write "{word}"', "error")
    said = f"{word}: the shell takes > for a redirection, so the bound is lost and a file is written{more}"
    return RULE.mistake(Place(scope.environment.path, line), said, _KNOW, f'write "{word}"')
