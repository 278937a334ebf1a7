"""The Python environment under diagnosis: its Python, its folders of packages, its packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Literal, NamedTuple

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Known
from gpuwhy.facts.record import Owner, Record

PythonKind = Literal["venv", "conda", "system", "pyenv", "store", "embedded", "other"]
ChosenBy = Literal[
    "--python",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_PROJECT_ENVIRONMENT",
    ".venv",
    "PATH",
    "usual place",
]
Gone = Literal["", "missing", "dangling link", "not executable"]
"""What is wrong with a Python's executable; "" is nothing."""


class Python(Record, frozen=True, omit_defaults=True):
    """The Python of the environment under diagnosis."""

    path: str
    version: str  # 3.12.1; 3.12 where only files could be asked
    prefix: str
    kind: PythonKind
    chosen_by: ChosenBy
    machine: str  # x86_64, aarch64
    gone: Gone = ""
    managed: bool = False  # the system's package manager owns it; pip refuses to change it
    own: bool = False  # gpuwhy's own environment, and no other was found


SiteKind = Literal["own", "system", "user", "PYTHONPATH", "pth"]
"""Why Python looks into a folder of packages; "system" are those that a venv borrows."""


class Site(Record, frozen=True):
    """A folder of packages on Python's path."""

    path: str
    kind: SiteKind


class FileRow(NamedTuple):
    """One line of a RECORD: the path below the folder of packages, the hash and the size."""

    path: str
    sha256: str = ""  # as RECORD spells it; "" = not recorded
    size: int = -1  # -1 = not recorded


Coverage = Literal["all", "some", "none"]
"""How much of a RECORD was seen; "some" in recordings of version 0, which asked for lines."""


class Files:
    """The files that a package's RECORD lists; parsed when somebody asks."""

    __slots__ = ("_by_path", "_rows", "_text", "known")

    def __init__(
        self,
        text: str = "",
        known: Coverage = "none",
        rows: Sequence[FileRow] = (),
    ) -> None:
        self.known: Coverage = known
        self._text = text
        self._rows: tuple[FileRow, ...] | None = tuple(rows) if rows or not text else None
        self._by_path: dict[str, FileRow] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Files) and (self.known, self.rows) == (other.known, other.rows)

    def __hash__(self) -> int:
        return hash((self.known, len(self.rows)))

    @property
    def rows(self) -> tuple[FileRow, ...]:
        """Every line that makes sense."""
        if self._rows is None:
            self._rows = tuple(_rows(self._text.split("\n")))
        return self._rows

    def ending(self, *ends: str) -> Iterator[FileRow]:
        """The files whose names hold one of some endings: `.so` finds libx.so.1 too."""
        if self._rows is not None:
            yield from (row for row in self._rows if any(end in row.path for end in ends))
        else:
            lines = self._text.split("\n")
            yield from _rows(line for line in lines if any(end in line for end in ends))

    def find(self, path: str) -> FileRow | None:
        """The line of one file."""
        if self._by_path is None:
            self._by_path = {row.path: row for row in self.rows}
        return self._by_path.get(path)


def _rows(lines: Iterator[str] | Sequence[str]) -> Iterator[FileRow]:
    for line in lines:
        parts = line.rsplit(",", 2)
        if len(parts) == 3:
            path, digest, size = parts
            known = len(size) < 19 and size.strip().isdecimal()
            path = path.strip('"') if path.startswith('"') else path
            yield FileRow(
                path, digest[7:] if digest[:7] == "sha256=" else "", int(size) if known else -1
            )


class Metadata(Enum):
    """What there is of a package's metadata."""

    WHOLE = "whole"
    MISSING = "missing"  # the folder is there, METADATA is not
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    DANGLING = "dangling link"


class Package(Record, frozen=True, omit_defaults=True):
    """An installed package by its metadata folder: what the one walk of the folders yields."""

    name: str  # normalised: tensorflow-cpu
    version: str
    location: str  # the dist-info or egg-info folder
    site: str  # the folder that it lies in
    files: Files = Files()
    requires: Fact[tuple[str, ...]] = NOT_OBSERVED  # as written: "numpy>=1.26; extra == 'x'"
    python: str = ""  # Requires-Python
    tags: tuple[str, ...] = ()  # of its wheel: "cp312-cp312-manylinux_2_28_x86_64"
    installer: str = ""  # "pip", "uv", "conda"; "" = not told
    project: str = ""  # the folder that it was installed from; "" = from elsewhere
    editable: bool = False
    modules: tuple[str, ...] = ()  # import names, where its metadata tells
    metadata: Metadata = Metadata.WHOLE
    second: bool = False  # another metadata folder of the same package has the files
    recorded: bool = True  # whether there is a RECORD

    @property
    def owner(self) -> Owner:
        """The package as the owner of a file."""
        return Owner(self.name, self.version, "conda" if self.installer == "conda" else "pip")


class Exported(Record, frozen=True):
    """A variable that the environment's activation sets, as its files state it."""

    name: str
    file: str
    value: str  # as it stands there; of VIRTUAL_ENV, where that is another folder, its value


class Environment(Record, frozen=True):
    """The Python environment under diagnosis."""

    python: Fact[Python] = NOT_OBSERVED
    sites: Fact[tuple[Site, ...]] = NOT_OBSERVED  # the first one wins
    packages: Fact[tuple[Package, ...]] = NOT_OBSERVED  # in the order of the path
    conda: Fact[dict[str, str]] = NOT_OBSERVED  # what conda itself installed; Absent elsewhere
    activation: Fact[tuple[Exported, ...]] = NOT_OBSERVED  # beyond what every activation sets

    @property
    def by_name(self) -> dict[str, Package]:
        """The package that is imported of each name; {} where they were not seen."""
        if not isinstance(self.packages, Known):
            return {}
        return {one.name: one for one in reversed(self.packages.value) if not one.second}

    @property
    def releases(self) -> dict[str, str]:
        """What is installed in the environment itself, not what it borrows."""
        if not isinstance(self.python, Known):
            return {}
        prefix = self.python.value.prefix.rstrip("/") + "/"
        own = (one for one in self.by_name.values() if one.location.startswith(prefix))
        return {one.name: one.version for one in own}
