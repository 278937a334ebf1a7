"""How the search for a library goes: what each place gave, where it ended, and what stays missing."""

from __future__ import annotations

from enum import Enum

import msgspec

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown


class Fate(Enum):
    """What a loader does with one file; the value is the word for people."""

    FOUND = "found"
    NOT_THERE = "not there"
    SKIPPED = "skipped"  # the search goes on
    ENDS_LIST = "ends this list"  # it goes on after the folders of the same tag or variable
    STOPS = "stops the search"


class Outcome(msgspec.Struct, frozen=True):
    """The fate of one file, and in words why."""

    fate: Fate
    note: str = ""

    def __str__(self) -> str:
        return f"{self.fate.value}: {self.note}" if self.note else self.fate.value


FOUND, NOT_THERE = Outcome(Fate.FOUND), Outcome(Fate.NOT_THERE)


class Tried(msgspec.Struct, frozen=True):
    """One place that was looked at."""

    path: str
    why: str  # "RUNPATH of …", "LD_LIBRARY_PATH", "ld.so.cache", "default folder", "PATH"
    outcome: Outcome


class Located(msgspec.Struct, frozen=True):
    """The end of a search: the file, how it was found, and everything tried on the way."""

    name: str
    path: Fact[str]  # Absent: nothing found; Unknown: a file that stops the search, or a place we could not read
    via: str
    tried: tuple[Tried, ...]


class Library(msgspec.Struct, frozen=True):
    """One file in a process: the name asked for, the path opened, how it was found, who asked."""

    name: str
    path: str
    real: str
    via: str
    needed_by: str
    needs: tuple[str, ...]  # the libraries that the file names


class Missing(msgspec.Struct, frozen=True):
    """A library that the loader does not find, or finds damaged."""

    name: str
    needed_by: str
    tried: tuple[Tried, ...]
    outcome: Outcome = NOT_THERE  # of the file that was there and not taken

    @property
    def refused(self) -> bool:
        """Whether a file of that name was there, and the loader does not take it."""
        return self.outcome != NOT_THERE

    @property
    def why(self) -> str:
        """In words: "not found", or what is wrong with the file."""
        return str(self.outcome) if self.refused else "not found"


def ended(name: str, tried: tuple[Tried, ...]) -> Located:
    """A search that ended at the last place tried."""
    path, why, outcome = tried[-1].path, tried[-1].why, tried[-1].outcome
    if outcome == FOUND:
        return Located(name, Known(path, Source("file", path, why)), why, tried)
    if outcome == NOT_THERE:
        return Located(name, Absent(Source("file", path)), "", tried)
    return Located(name, Unknown(f"{path} {outcome}"), why, tried)


def missing(located: Located, by: str) -> Missing:
    """What a search in vain leaves: the file that stopped it, or nothing."""
    last = located.tried[-1].outcome if located.tried else NOT_THERE
    return Missing(located.name, by, located.tried, last if last.fate is Fate.STOPS else NOT_THERE)
