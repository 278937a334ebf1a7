"""What a file says, whatever its kind: environments with packages, services with their GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.versions import Release, allowed, where

Origin = Literal["pip", "conda"]
Role = Literal["only", "extra", "first", "links"]
"""What an index is to the default one: instead of it, beside it, before it, a page of files."""
Read = Callable[[str], "str | None"]
"""The text of another file that a file names; None where there is none."""

_EXACT = re.compile(r"\s*===?\s*([^\s,*]+)\s*")


class Index(msgspec.Struct, frozen=True):
    """An index or a page of links that an installation looks at."""

    url: str
    role: Role
    place: Place

    @property
    def backend(self) -> str:
        """The build that PyTorch's index stands for: cu121; "" for others."""
        return backend_of(self.url)

    @property
    def trial(self) -> bool:
        """Whether it holds nightly builds, or others that are no releases."""
        return any(word in self.url for word in ("nightly", "/test", "/lts"))


class Pin(msgspec.Struct, frozen=True):
    """One package that a file asks for."""

    name: str  # normalised: flash-attn
    place: Place
    specifier: str = ""  # ">=2.4,<3"; "" = any
    extras: tuple[str, ...] = ()
    marker: str = ""
    origin: Origin = "pip"
    backend: str = ""  # cpu, cu121: the index that its build comes from; "" = the default one
    build: str = ""  # conda's build string
    limits: bool = False  # a constraint: limits, does not install
    reference: bool = False  # a URL or a path: not from an index
    indexes: tuple[Index, ...] = ()
    step: int = 0  # which command installs it, from 1; 0 = all at once
    tag: str = ""  # of a named wheel: cp310
    channel: str = ""  # of conda

    @property
    def version(self) -> str:
        """The one version that it allows, local part included; "" for a range."""
        found = _EXACT.fullmatch(self.specifier)
        return found[1] if found else ""

    @property
    def public(self) -> str:
        """That version without its local part."""
        return self.version.partition("+")[0]

    @property
    def local(self) -> str:
        """The local part of that version: cu121, cpu."""
        return self.version.partition("+")[2]

    @property
    def variant(self) -> str:
        """The build that is asked for: cpu, cu121; "" = the default one."""
        return self.local or self.backend

    @property
    def by_name(self) -> bool:
        """Whether pip takes it from an index by its name."""
        return self.origin == "pip" and not self.reference

    @property
    def installed(self) -> bool:
        """Whether pip installs it so: no mere limit."""
        return self.by_name and not self.limits

    @property
    def said(self) -> str:
        """As it is written, with its line."""
        return f"{self.name}{self.specifier} (line {self.place.line})"

    @property
    def is_pinned(self) -> bool:
        """Whether it leaves no newer release to come."""
        return bool(self.version) or any(sign in self.specifier for sign in ("<", "~=", "*"))

    @property
    def releases(self) -> tuple[Release, ...]:
        """The known releases that it allows."""
        return () if self.reference else allowed(self.name, self.specifier)

    def beside(self, other: Pin) -> bool:
        """Whether some Python takes both."""
        return not where(self.marker).isdisjoint(where(other.marker))


class Word(msgspec.Struct, frozen=True):
    """An image, or the value of a variable, as it is written."""

    text: str
    place: Place


class Command(msgspec.Struct):
    """One command: its words with their lines, and what is set before it."""

    words: tuple[str, ...]
    lines: tuple[int, ...]
    assigned: tuple[tuple[str, str], ...] = ()
    sure: bool = True  # it runs: it is in no branch and no function

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(self.words)

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.lines[0] if self.lines else 0


class Include(msgspec.Struct, frozen=True):
    """Another file that a file includes."""

    path: str
    place: Place
    limits: bool = False
    backend: str = ""
    must: bool = True  # its absence is worth a note
    indexes: tuple[Index, ...] = ()
    step: int = 0


class Environment(msgspec.Struct):
    """One set of packages that ends up together: a file, an extra, a stage of a Dockerfile."""

    path: str
    pins: list[Pin] = []
    includes: list[Include] = []
    pythons: tuple[str, ...] = ()  # those it may run on; () = not known
    python_from: str = ""  # image python:3.12-slim
    machine: str = ""
    image: Word | None = None
    variables: dict[str, Word] = {}
    part: str = ""  # of a project: the extra or group
    commands: list[Command] = []
    apt: dict[str, int] = {}  # package → line
    runs: bool = True  # not just a stage that builds
    other_index: bool = False  # packages may come from an index that nobody here has read
    overridden: frozenset[str] = frozenset()  # [tool.uv] override-dependencies
    gpu: str = ""  # what says that a GPU is meant
    copied: dict[str, str] = {}  # file in the image → file in the build's folder
    channels: list[str] = []  # of conda, the first one first
    includes_unknown: bool = False  # a file cannot be read, a branch may install more
    through: dict[str, Place] = {}  # file that it includes → the line that does so

    def words_of(self, step: int) -> tuple[str, ...]:
        """The words of the command with that number; () where there is none."""
        return self.commands[step - 1].words if 0 < step <= len(self.commands) else ()


class Workload(msgspec.Struct):
    """A service of a compose file."""

    name: str
    place: Place
    image: Word | None = None
    built: str = ""  # the Dockerfile it is built from
    arguments: dict[str, str] = {}  # of that build
    target: str = ""
    built_on: str = ""  # the image that this stage starts from
    variables: dict[str, Word] = {}
    request: Place | None = None  # where GPUs are asked for
    partial: bool = False  # completed elsewhere: what is missing is not missed
    exempt: bool = False  # sees the devices another way
    command: str = ""

    @property
    def origin(self) -> tuple[str, str]:
        """What it is made from: its image, its Dockerfile."""
        return (self.image.text if self.image else "", self.built)


class Sheet(msgspec.Struct):
    """A file as it was understood."""

    path: str
    kind: str
    environments: list[Environment] = []
    workloads: list[Workload] = []
    problems: list[Problem] = []
    notes: list[Problem] = []


_BACKEND = pattern("indexes.backend")
_FAMILIES: list[tuple[str, str]] = table("indexes.families")
OWN = ("torch", "torchvision", "torchaudio", "xformers", "triton")
"""Packages that follow PyTorch's index where one is named; and all that are on it."""
PYTORCH = (*OWN, "torchtext", "torchdata", "torchao")


def backend_of(url: str) -> str:
    """The build that an index address stands for: …/whl/cu121 → cu121; "" for others."""
    found = _BACKEND.search(url.strip())
    return found[1] if found else ""


def holds_only(url: str) -> str:
    """The family of packages that a known index holds: torch, jax …; "mirror"; "" = not known."""
    return next((family for family, pattern in _FAMILIES if re.search(pattern, url)), "")
