"""Local projects: folders and wheels of one's own that are installed beside the rest, and limit it as they like."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.lint.sheet import Environment, Read

_WHEEL = re.compile(r"\bpip[\d.]* install (?!.*--no-deps).*?(?<![\w:/])(?!\S*://)\S+\.whl\b")
_FOLDER = re.compile(r"\bpath\s*=\s*[\"'](\.{1,2}[^\"']*)[\"']")


def limits(environment: Environment, kind: str, name: str, read: Read) -> bool:
    """Whether a project of one's own that is installed too bounds a package, or may: a wheel cannot be read here."""
    if kind == "pyproject":
        folder = posixpath.dirname(environment.path)
        paths = _FOLDER.findall(read(environment.path) or "")
        texts = (read(posixpath.normpath(posixpath.join(folder, path, "pyproject.toml"))) for path in paths)
        return any(_bounds(text, name) for text in texts if text)
    return kind == "dockerfile" and any(_WHEEL.search(command.text) for command in environment.commands)


def _bounds(text: str, name: str) -> bool:
    """Whether a project's file sets an upper bound for a package: <2, ^1.21, ~=1.2, ==1.2."""
    return bool(re.search(rf"[\"'\s]{re.escape(name)}\b[^\n]{{0,60}}?(<|\^|~|==)\s*\d", text))
