"""Listing: the files of the repository that a path belongs to, by name, without opening any."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

_CLIMBED, _DEEP = 8, 7
_FILES, _SEEN = 5_000, 60_000
_ROOTS = (".git", ".hg", ".svn")
_TOPS = ("LICENSE", "LICENSE.md", "LICENSE.txt", ".gitignore", ".github", "pyproject.toml", "setup.py")
"""What lies at the top of a project that was unpacked without its history."""
_SKIPPED = frozenset([*_ROOTS, ".tox", ".nox", ".venv", "venv", "node_modules", "site-packages", "__pycache__"])
_TOLD = re.compile(
    r".*\.(md|rst|txt|in|toml|cfg|ya?ml|sh|py|ini|lock|conf|mk|hcl|bat|def|ipynb)|.*dockerfile.*|containerfile.*"
    r"|.*makefile|pipfile.*|\.python-version|\.tool-versions|readme|install",
    re.IGNORECASE,
)
"""Files that may say something of another one."""


class Listing:
    """Which files lie in the repository of a path; each repository is walked once."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = tuple(named)
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, path: str) -> tuple[str, ...]:
        """The paths of a file's repository, written as that file's is."""
        root = self._root(os.path.abspath(path))
        shown = os.path.isabs(path)
        key = f"{shown} {root}"
        if key not in self._known:
            self._known[key] = tuple(_written(one, shown) for one in _walk(root))
        return self._known[key]

    def _root(self, path: str) -> str:
        """The folder with a .git above a file, else the one that was named, or a project's top, or what files share."""
        folder = os.path.dirname(path)
        for _ in range(_CLIMBED):
            if any(os.path.exists(os.path.join(folder, one)) for one in _ROOTS):
                return folder
            folder = os.path.dirname(folder)
        named = (os.path.abspath(one) for one in self._named if os.path.isdir(one))
        alone = _top(os.path.dirname(path)) or self._shared or os.path.dirname(path)
        return next((one for one in named if path.startswith(one + os.sep)), alone)

    @cached_property
    def _shared(self) -> str:
        """The folder that holds all named files; '' where that is no more than a disk's or a home's beginning."""
        folders = [os.path.dirname(os.path.abspath(one)) for one in self._named]
        try:
            found = os.path.commonpath(folders) if folders else ""
        except ValueError:  # on several drives
            return ""
        return found if found.count(os.sep) > 1 and found != os.path.expanduser("~") else ""


def _top(folder: str) -> str:
    """The highest folder above that looks like a project's, below the home and the disk's beginning; '' = none."""
    found = ""
    for _ in range(_CLIMBED):
        if folder.count(os.sep) < 2 or folder == os.path.expanduser("~"):
            break
        found = folder if any(os.path.exists(os.path.join(folder, one)) for one in _TOPS) else found
        folder = os.path.dirname(folder)
    return found


def _written(path: str, whole: bool) -> str:
    return (path if whole else os.path.relpath(path)).replace(os.sep, "/")


def _walk(root: str) -> Iterator[str]:
    seen = found = 0
    for where, folders, names in os.walk(root):
        deep = os.path.relpath(where, root).count(os.sep)
        folders[:] = sorted(one for one in folders if one not in _SKIPPED) if deep < _DEEP else []
        seen += len(names) + len(folders)
        for name in sorted(names):
            if _TOLD.fullmatch(name):
                found += 1
                yield os.path.join(where, name)
        if found > _FILES or seen > _SEEN:
            return
