"""Folders: where a command of a Dockerfile or a script stands, and which folders hold somebody else's project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from gpuwhy.lint.sheet import Command, Environment


def normal(name: str) -> str:
    """The last part of a folder or an address, as projects are compared."""
    last = posixpath.basename(name.rstrip("/")).removesuffix(".git")
    return re.sub(r"[-_.]+", "-", last).lower()


def clones(commands: Sequence[Command]) -> set[str]:
    """The folders that `git clone` makes."""
    out = set()
    for command in commands:
        words = list(command.words)
        if words[:1] == ["git"] and "clone" in words:
            named = [word for word in words[words.index("clone") + 1 :] if not word.startswith("-")]
            address = next((n for n, word in enumerate(named) if "://" in word or word.startswith("git@")), None)
            if address is not None:
                out.add(normal(named[address + 1] if len(named) > address + 1 else named[address]))
    return out


def folder_of(stage: Environment, step: int) -> str:
    """The folder that a command (counted from 1) stands in, by `cd` in the same RUN or by WORKDIR; '' = not known."""
    for before in reversed(stage.commands[: step - 1]):
        if not before.then:
            break
        if before.words[:1] == ("cd",):
            return before.words[1] if len(before.words) > 1 else ""
    return next((name for at, name in reversed(stage.folders) if at < step), "")
