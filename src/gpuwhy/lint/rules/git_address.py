"""An address of GitHub in a protocol that it has switched off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("git-address", "error", "a git:// address of GitHub, which no longer answers")

_KNOW = source("GitHub: improving Git protocol security", "git:// without encryption was switched off in March 2022")
_ADDRESS = re.compile(r"^(?!\s*(?:#|//)).*?\b(?:git\+)?git://(?:www\.)?github\.com/([\w.-]+/[\w.-]+)", re.MULTILINE)


def check(scope: Scope) -> Iterator[Mistake]:
    """Each such address in the file itself."""
    text = scope.read(scope.environment.path) if scope.for_gpus else None
    for found in _ADDRESS.finditer(text) if text and "git://" in text else ():
        place = Place(scope.environment.path, text.count("\n", 0, found.end()) + 1) if text else Place("", 0)
        said = f"git://github.com/{found[1]}: GitHub no longer answers to git://, so the installation fails"
        yield RULE.mistake(place, said, _KNOW, f"write git+https://github.com/{found[1]}")
