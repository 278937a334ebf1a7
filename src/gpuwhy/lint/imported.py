"""Imported: the modules that the programs of a project import when they start."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.lint.repository import Repository

_LINE = re.compile(
    r"^(?:from[ \t]+([A-Za-z][\w.]*)[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n#;\\]*)|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
"""At the beginning of a line: what stands in a `try` or a function may be meant to fail."""
_ELSEWHERE = re.compile(
    r"(?:^|/)(?:tests?|docs?|examples?|third_?party|externals?|vendor\w*|submodules?|deprecated|legacy|old|archive\w*)/",
    re.I,
)
"""Folders whose programs are not what the project is installed for."""


class Import(NamedTuple):
    """A module that is imported, and by which program."""

    module: str
    path: str


def imports(repository: Repository) -> tuple[Import, ...]:
    """What the programs beside and below a file import, each module once."""
    found: dict[str, str] = {}
    own = set[str]()
    for path, text in repository.programs():
        own.update(path.split("/")[:-1], (posixpath.basename(path).removesuffix(".py"),))
        if not _ELSEWHERE.search(path):
            for module in _of(text):
                found.setdefault(module, path)
    return tuple(Import(module, path) for module, path in found.items() if module.partition(".")[0] not in own)


def _of(text: str) -> Iterator[str]:
    """Modules by their whole names; what is taken from one may be a module itself."""
    for line in _LINE.finditer(text):
        if line[3]:
            yield from (one.split()[0] for one in line[3].split(",") if one.split())
        else:
            yield line[1]
            names = re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?[ \t\n]*(?:,|$|\)|#)", line[2])
            yield from (f"{line[1]}.{name}" for name in names)
