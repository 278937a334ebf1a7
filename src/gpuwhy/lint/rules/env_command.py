"""A command in ENV, which runs none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("env-command", "error", "a command in ENV, which runs none")

_KNOW = source(
    "Dockerfile reference, ENV and environment replacement", "$name and ${name} are replaced, nothing is run"
)
_ENV = re.compile(r"^\s*ENV\s+((?:.*\\\n)*.*)", re.MULTILINE | re.IGNORECASE)
_COMMAND = re.compile(r"([A-Za-z_]\w*)(?:=|\s+)[\"']?[^\s\"']*(\$\([^)\n]*\)|`[^`\n]+`)")


def check(scope: Scope) -> Iterator[Mistake]:
    """ENV CMAKE_PREFIX_PATH=$(dirname $(which conda)): the variable holds these very words."""
    text = scope.read(scope.environment.path) if scope.kind == "dockerfile" and scope.for_gpus else None
    for one in _ENV.finditer(text or ""):
        found = _COMMAND.search(one[1])
        if found and text:
            line = text.count("\n", 0, one.start(1) + found.start()) + 1
            said = f"ENV runs no command: {found[1]} becomes the text {found[2]}"
            fix = f"write the value itself, or set {found[1]} in the RUN that needs it"
            yield RULE.mistake(Place(scope.environment.path, line), said, _KNOW, fix)
