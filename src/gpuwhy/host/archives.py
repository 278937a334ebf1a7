"""Archives: a zip, an egg or a wheel on Python's search path is a folder to it: its first level are its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.zip import read_members

ENDINGS = (".zip", ".egg", ".whl")
Names = Callable[[str], Iterator[tuple[str, str]]]
Opens = Callable[[str], AbstractContextManager[Any]]


def names_in(names: Names, opened: Opens, path: str) -> list[tuple[str, str]]:
    """Each name in a folder, or on the first level of an archive, with its kind."""
    try:
        return list(names(path))
    except NotADirectoryError:
        if not path.endswith(ENDINGS):
            raise
    with opened(path) as file:
        return list(_first_level(file.pread, file.size).items())


def _first_level(pread: Pread, size: int) -> dict[str, str]:
    try:
        parts = [member.name.partition("/") for member in read_members(pread, size)]
    except MalformedError:
        return {}
    return {name: "folder" if slash else "file" for name, slash, _ in parts if name}
