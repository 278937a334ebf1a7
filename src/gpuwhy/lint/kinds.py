"""Which reader a file is for: by its name and, where that does not say, by its first lines."""

import posixpath
import re

from gpuwhy.lint.rules import pattern, table

_NAMES = {kind: re.compile(text, re.I) for kind, text in table("kinds.names").items()}
_KEYS: dict[str, list[str]] = table("kinds.keys")
"""Kinds of YAML, each by two keys that only it has together."""
_GONE = pattern("kinds.gone")
"""Kinds that version 0 read."""
_LOOK = 20_000


def by_name(path: str) -> str:
    """The kind that a file's name says; "" where it does not."""
    path = path.replace("\\", "/")
    name, folder = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
    if name.lower().endswith((".dockerignore", ".md", ".bak", ".py", ".j2")):
        return ""
    listed = re.fullmatch(r"(pip[_-]?)?(requirements?|reqs?)", folder, re.IGNORECASE)
    if listed and name.endswith((".txt", ".in")):
        return "requirements"
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), "")


def recognise(path: str, text: str) -> str:
    """The kind of a file by its name, else by its beginning; "" where neither says."""
    kind, name, begins = by_name(path), posixpath.basename(path), text[:_LOOK]
    if kind:
        return kind
    if path.endswith((".yaml", ".yml")):
        fits = (
            kind for kind, keys in _KEYS.items() if all(re.search(k, begins, re.M) for k in keys)
        )
        return next(fits, "")
    if "." in name and not path.endswith(".txt"):
        return ""
    lines = [line for line in begins.splitlines() if line.strip() and line.lstrip()[0] != "#"]
    first = next((line for line in lines if not re.match(r"ARG\s", line)), "")
    if re.match(r"\s*FROM\s+\S", first):
        return "dockerfile"
    listed = all(re.match(r"[\w.\[\],-]+\s*(==|>=|~=|<|$)|-", line) for line in lines)
    return "requirements" if path.endswith(".txt") and lines and listed else ""


def is_left_out(path: str, text: str) -> bool:
    """Whether it is of a kind that version 0 read and this one does not."""
    manifest = re.search(r"^apiVersion:\s*\S", text[:_LOOK], re.M)
    workflow = "/workflows/" in path and path.endswith((".yml", ".yaml"))
    return bool(_GONE.fullmatch(posixpath.basename(path)) or manifest or workflow)


def worth_opening(path: str) -> bool:
    """Whether a file found in a folder may be one of ours."""
    listed = re.search(r"(^|[/._-])req(?!uires\.txt)\w*[^/]*\.txt$", path, re.IGNORECASE)
    return bool(by_name(path) or listed) or path.endswith((".yaml", ".yml"))


def installs(kind: str, text: str) -> bool:
    """Whether a file that was found, not named, is worth checking."""
    if kind in ("script", "notebook"):
        return bool(re.search(r"install|nvidia-docker", text))
    return kind != "dockerfile" or bool(text.strip())
