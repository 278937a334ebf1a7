"""Kinds: which reader a file is for, by its name and, where the name does not say, by what is in it."""

from __future__ import annotations

import posixpath
import re

_NAMES: tuple[tuple[str, str], ...] = (
    (r"(.*[._-])?(requirements|constraints)([._-].*)?\.(txt|in)", "requirements"),
    (r"pyproject\.toml", "pyproject"),
    (r"(uv|poetry|pdm)\.lock|pylock(\.[\w-]+)?\.toml", "lock"),
    (r"Pipfile\.lock", "pipfile-lock"),
    (r"(.*[.-])?conda-lock\.ya?ml", "conda-lock"),
    (r"(.*[._-])?(environment|conda[_-]?env(ironment)?)([._-].*)?\.ya?ml|conda\.ya?ml", "conda"),
    (r"(.*[._-])?(Docker|Container)file([._-].*)?", "dockerfile"),
    (r"(docker-)?compose([._-].*)?\.ya?ml|docker-stack\.ya?ml", "compose"),
    (r"\.?devcontainer\.json", "devcontainer"),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in _NAMES)
_LOOK = 20_000


def by_name(path: str) -> str:
    """The kind that a file's name says; '' where it does not."""
    name = posixpath.basename(path.replace("\\", "/"))
    if name.lower().endswith((".dockerignore", ".md", ".py", ".sh", ".bak")):
        return ""
    return next((kind for pattern, kind in _COMPILED if pattern.fullmatch(name)), "")


def recognise(path: str, text: str) -> str:
    """The kind of a file; '' where neither its name nor its beginning says."""
    return by_name(path) or _by_content(path, text[:_LOOK])


def worth_opening(path: str) -> bool:
    """Whether a file found in a folder may be one of ours: by name, or YAML that may be a manifest."""
    return bool(by_name(path)) or path.endswith((".yaml", ".yml"))


def _by_content(path: str, text: str) -> str:
    if path.endswith((".yaml", ".yml", ".tpl", "")):
        if re.search(r"^apiVersion:\s*\S", text, re.M) and re.search(r"^kind:\s*\S", text, re.M):
            return "kubernetes"
        if re.search(r"^services:\s*$", text, re.M) and re.search(r"^ +(image|build):", text, re.M):
            return "compose"
        if re.search(r"^dependencies:\s*$", text, re.M) and re.search(r"^(channels|name):", text, re.M):
            return "conda"
    if path.endswith(".txt") or "." not in posixpath.basename(path):
        if re.match(r"(\s*#.*\n|\s*\n|ARG\s.*\n)*FROM\s+\S+", text):
            return "dockerfile"
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        if (
            path.endswith(".txt")
            and lines
            and all(re.match(r"[\w.\[\],-]+\s*(==|>=|~=|<|$)|-", line) for line in lines)
        ):
            return "requirements"
    return ""


def is_template(text: str) -> int:
    """The line of the first template expression outside comments and quoted scalars; 0 where there is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if "{{" in line and not line.lstrip().startswith("#") and re.search(r"(^|[\s:\-\"'])\{\{[-\s.]*[\w.\"]", line):
            return number
    return 0
