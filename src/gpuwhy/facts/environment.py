"""The Python environment under diagnosis: its Python, its folders of packages, its packages."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Known, Owner, Record

PythonKind = Literal["venv", "conda", "system", "store", "embedded"]
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
    """The files that a package's RECORD lists; the text is searched, and split only for `rows`."""

    __slots__ = ("_text", "known")

    def __init__(self, text: str = "", known: Coverage = "none") -> None:
        self.known: Coverage = known
        self._text = text if not text or text.endswith("\n") else f"{text}\n"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Files) and (self.known, self._text) == (other.known, other._text)

    def __hash__(self) -> int:
        return hash((self.known, self._text))

    def __len__(self) -> int:
        return self._text.count("\n")

    @property
    def rows(self) -> tuple[FileRow, ...]:
        """Every line that makes sense."""
        return tuple(filter(None, map(_row, self._text.split("\n"))))

    def ending(self, *ends: str) -> tuple[FileRow, ...]:
        """The files whose paths hold one of some endings: `.so` finds libx.so.1 too."""
        found = {place for end in ends for place in self._lines_with(end)}
        rows = (_row(self._text[start : self._text.find("\n", start)]) for start in sorted(found))
        return tuple(row for row in rows if row and any(end in row.path for end in ends))

    def find(self, path: str) -> FileRow | None:
        """The line of one file."""
        for start in self._lines_with(f"{path},"):
            if self._text.startswith(f"{path},", start):
                return _row(self._text[start : self._text.find("\n", start)])
        return None

    def modules(self, folders: int) -> Iterator[str]:
        """The paths of Python's files that lie below at most so many folders."""
        place = self._text.find(".py,")
        while place >= 0:
            start = self._text.rfind("\n", 0, place) + 1
            if self._text.count("/", start, place) <= folders:
                yield self._text[start : place + 3]
            place = self._text.find(".py,", place + 4)

    def _lines_with(self, part: str) -> Iterator[int]:
        """Where the lines begin that hold a text."""
        place = self._text.find(part)
        while place >= 0:
            yield self._text.rfind("\n", 0, place) + 1
            place = self._text.find(part, self._text.find("\n", place))


def _row(line: str) -> FileRow | None:
    parts = line.rstrip("\r").rsplit(",", 2)
    if len(parts) != 3 or not parts[0]:
        return None
    path, digest, size = parts
    path = path[1:-1].replace('""', '"') if path.startswith('"') else path
    sha256 = digest[7:] if digest[:7] == "sha256=" else ""
    known = len(size) < 19 and size.isascii() and size.isdecimal()
    return FileRow(path, sha256, int(size) if known else -1)


class Package(Record, frozen=True, omit_defaults=True):
    """An installed package by its metadata folder: what the one walk of the folders yields."""

    name: str  # normalised: tensorflow-cpu
    version: str
    location: str  # the dist-info or egg-info folder
    site: str  # the folder that it lies in
    files: Files = Files()
    requires: Fact[tuple[str, ...]] = NOT_OBSERVED  # as written: "numpy>=1.26; extra == 'x'"
    installer: str = ""  # "pip", "uv", "conda"; "" = not told
    second: bool = False  # another metadata folder of the same package has the files
    recorded: bool = True  # whether there is a RECORD

    @property
    def owner(self) -> Owner:
        """The package as the owner of a file."""
        return Owner(self.name, self.version, "conda" if self.installer == "conda" else "pip")


class Environment(Record, frozen=True):
    """The Python environment under diagnosis."""

    python: Fact[Python] = NOT_OBSERVED
    sites: Fact[tuple[Site, ...]] = NOT_OBSERVED  # the first one wins
    packages: Fact[tuple[Package, ...]] = NOT_OBSERVED  # in the order of the path

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
